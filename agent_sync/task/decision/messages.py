"""Every sentence of the lifecycle, each one small function; a notice's id says what makes it new."""

from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.actions import Notice
from agent_sync.task.decision.checks import CI, Verdict
from agent_sync.task.decision.facts import Branch, GateSeen, Pull, PullState
from agent_sync.task.decision.outside_text import one_line, quoted

MOST_NAMES = 5
# What was told before is news again once the agent has handed off anew, or the pull request was reopened.
NEWS_AFTER_HANDOFF = (
    "no-branch:",
    "no-summary:",
    "no-commits:",
    "unknown-branch:",
    "refused:",
    "gate:",
    "pr:",
    "not-merged:",
)
NEWS_AFTER_REOPENING = ("closed-unmerged:", "reopened:")
RECORD_UNWRITTEN = "the recovery record could not be written"


def _setting(name: str) -> str:
    """Return a name from the settings: one word can be no sentence."""
    return name if name.isalpha() else quoted(name)


def _because(note: str) -> str:
    return f": {quoted(note, limit=300)}" if note else ""


def _identity(claim: Claim) -> str:
    return f"{claim.issue_number}:{claim.agent_id}"


def pull_opened(pull: Pull) -> Notice:
    """There is a pull request now."""
    draft = " as a draft" if pull.is_draft else ""
    return Notice(f"pr:{pull.number}", f"PR #{pull.number} created{draft}: {pull.url}", for_agent=True)


def pull_adopted(pull: Pull) -> Notice:
    """There was a pull request already."""
    state = "" if pull.state is PullState.OPEN else f" ({pull.state.value})"
    return Notice(f"pr:{pull.number}", f"PR #{pull.number} already exists{state}: {pull.url}", for_agent=True)


def branch_missing(claim: Claim) -> Notice:
    """The claim names no branch."""
    text = (
        f"No PR opened for issue #{claim.issue_number}: `branch` is empty in .agent-claim.json. "
        "Write the branch's name there, or run `agent-sync handoff` on it."
    )
    return Notice(f"no-branch:{_identity(claim)}", text, for_agent=True)


def summary_missing(claim: Claim) -> Notice:
    """The claim has no summary."""
    text = (
        f"No PR opened for issue #{claim.issue_number}: `summary` is empty in .agent-claim.json. "
        "It becomes the PR's title; write one, or run `agent-sync handoff`."
    )
    return Notice(f"no-summary:{_identity(claim)}", text, for_agent=True)


def gate_withheld(claim: Claim, gate: GateSeen, branch: Branch) -> Notice:
    """The quality gate keeps the pull request back."""
    reason = f"the gates say {quoted(gate.message, limit=300)}."
    if not branch.is_current:
        reason = f"the gates look at what is checked out, and that is not branch {quoted(claim.branch)}."
    elif gate.status in {"passed", "passed_with_warnings"}:
        reason = "the gates passed on work that is not committed yet."
    text = (
        f"No PR opened for issue #{claim.issue_number}: {reason} It is opened when the gates pass; "
        "`agent-sync handoff --draft` opens a draft that says so."
    )
    return Notice(f"gate:{_identity(claim)}:{gate.status}:{reason}", text, for_agent=True)


def branch_unknown(claim: Claim) -> Notice:
    """Neither this clone nor GitHub has the branch."""
    branch = quoted(claim.branch)
    text = (
        f"No PR opened for issue #{claim.issue_number}: branch {branch} is neither here nor on GitHub. "
        "Create and push it, or correct `branch` in .agent-claim.json."
    )
    return Notice(f"unknown-branch:{_identity(claim)}:{claim.branch}", text, for_agent=True)


def nothing_to_merge(claim: Claim) -> Notice:
    """The branch has no commit of its own."""
    text = (
        f"No PR opened for issue #{claim.issue_number}: branch {quoted(claim.branch)} has no commits of its own. "
        "Commit the work, then run `agent-sync handoff` again."
    )
    return Notice(f"no-commits:{_identity(claim)}", text, for_agent=True)


def pull_refused(claim: Claim, reason: str) -> Notice:
    """GitHub said no to the pull request."""
    text = f"No PR opened for issue #{claim.issue_number}: GitHub refused: {quoted(reason, limit=300)}"
    return Notice(f"refused:{_identity(claim)}:{reason[:80]}", text, for_agent=True)


def pull_unknown(claim: Claim) -> Notice:
    """The phase says there is a pull request, and none is to be found."""
    text = (
        f"Issue #{claim.issue_number} is in phase {claim.phase} without a PR number, and branch "
        f"{quoted(claim.branch)} has no PR. Set `phase` to ready_for_pr to open one."
    )
    return Notice(f"no-pr:{_identity(claim)}", text, for_agent=True)


def board_trouble(claim: Claim, reason: str, status: str) -> Notice:
    """The board could not be kept true."""
    text = (
        f"Board not updated for issue #{claim.issue_number} (wanted: {_setting(status)}). {one_line(reason, limit=400)}"
    )
    return Notice(f"board:{_identity(claim)}:{status}:{reason[:80]}", text)


def checks_polled(pull: Pull, verdict: Verdict, *, again: str = "") -> Notice:
    """The checks say this; `again` makes an unchanged verdict worth saying once more."""
    text, wakes = _ci_text(pull, verdict)
    # Another check that ends meanwhile makes the same failure no news; a rerun that fails again does.
    identity = f"ci:{pull.number}:{verdict.sha}:{verdict.ci.value}:{','.join(verdict.failed_runs)}{again}"
    return Notice(identity, text, for_human=wakes, for_agent=True, wakes=wakes)


def _ci_text(pull: Pull, verdict: Verdict) -> tuple[str, bool]:
    match verdict.ci:
        case CI.GREEN:
            return f"CI passed! All {verdict.total} checks green. PR #{pull.number} is ready to merge.", True
        case CI.FAILED:
            return _failed_text(pull, verdict), True
        case CI.RUNNING:
            return f"CI: {verdict.passed}/{verdict.total} passed, {verdict.running} running...", False
        case CI.NONE:
            return f"CI: no checks reported yet for PR #{pull.number}.", False
        case CI.UNAVAILABLE:
            return f"CI: the checks of PR #{pull.number} cannot be seen{_because(pull.checks_note)}.", False


def _failed_text(pull: Pull, verdict: Verdict) -> str:
    names = ", ".join(quoted(name, limit=60) for name in verdict.failed[:MOST_NAMES])
    more = f" and {len(verdict.failed) - MOST_NAMES} more" if len(verdict.failed) > MOST_NAMES else ""
    running = f", {verdict.running} running" if verdict.running else ""
    counts = f"{verdict.passed}/{verdict.total} passed{running}"
    return f"CI: {len(verdict.failed)} FAILED — {names}{more} (PR #{pull.number}, {counts})."


def changes_requested(pull: Pull) -> Notice:
    """A reviewer wants changes."""
    people = ", ".join(quoted(name, limit=40) for name in pull.changes_requested_by)
    text = f"Changes requested on PR #{pull.number} by {people}: {pull.url}"
    return Notice(f"changes:{pull.number}:{pull.review_id}", text, for_agent=True, wakes=True)


def conflicting(pull: Pull) -> Notice:
    """The pull request cannot be merged as it is."""
    text = f"PR #{pull.number} conflicts with its base branch and cannot be merged: {pull.url}"
    return Notice(f"conflict:{pull.number}:{pull.head_sha}", text, for_agent=True, wakes=True)


def merged(claim: Claim, pull: Pull, session: str) -> Notice:
    """The question that only a human may answer."""
    text = f"PR #{pull.number} merged! Should I close issue #{claim.issue_number}?"
    return Notice(f"merged:{pull.number}:{session}", text, for_agent=True, wakes=True)


def merged_reminder(claim: Claim, session: str) -> Notice:
    """The same question, once more with the next prompt."""
    text = (
        f"PR #{claim.pr_number} merged! Should I close issue #{claim.issue_number}? "
        "A human's yes is recorded with `/done` (or `agent-sync done`)."
    )
    return Notice(f"merged-reminder:{claim.pr_number}:{session}", text, for_human=False, for_agent=True)


def closed_unmerged(claim: Claim, pull: Pull) -> Notice:
    """The pull request was closed without merging."""
    text = (
        f"PR #{pull.number} was closed without merging. Issue #{claim.issue_number} stays open; "
        "`agent-sync handoff` opens a new PR, `agent-sync release` gives the task back."
    )
    return Notice(f"closed-unmerged:{pull.number}", text, for_agent=True, wakes=True)


def reopened(pull: Pull) -> Notice:
    """The pull request is open again."""
    return Notice(f"reopened:{pull.number}", f"PR #{pull.number} is open again: {pull.url}")


def not_merged(claim: Claim, pull: Pull | None) -> Notice:
    """Done was said, and the work is not in."""
    which = f"PR #{pull.number} is {pull.state.value}, not merged" if pull else "there is no merged PR for it"
    text = f"Issue #{claim.issue_number} not closed: {which}. `agent-sync done --yes` closes it anyway."
    state = pull.state.value if pull else "none"
    return Notice(f"not-merged:{_identity(claim)}:{state}", text, for_agent=True)


def task_closed(claim: Claim, *, trouble: str, done: str) -> Notice:
    """The task is over."""
    board = f"Board not updated: {quoted(trouble, limit=400)}." if trouble else f"Board → {_setting(done)}."
    text = f"Issue #{claim.issue_number} closed. {board} Signal file cleaned up."
    return Notice(f"closed:{_identity(claim)}", text, for_agent=True)


def paused(claim: Claim) -> Notice:
    """GitHub wants to be left alone."""
    until = claim.not_before.strftime("%H:%M:%S UTC") if claim.not_before else "later"
    text = f"GitHub's rate limit is reached: issue #{claim.issue_number} is paused until {until}."
    return Notice(f"paused:{_identity(claim)}:{until}", text)


def lease_lost(claim: Claim, session: str) -> Notice:
    """Somebody else holds the issue now; said once in every session."""
    lease = claim.lease
    holder = quoted(lease.lost_to, limit=300) if lease else ""
    text = (
        f"Issue #{claim.issue_number} is no longer this worktree's: it is held by {holder}. Nothing more is pushed or "
        f"written to GitHub from here, and the work on branch {quoted(claim.branch)} stays as it is. "
        "Stop working on it and run `agent-sync status`; `agent-sync release` removes the claim file."
    )
    identity = f"lease-lost:{_identity(claim)}:{lease.epoch if lease else 0}:{session}"
    return Notice(identity, text, for_agent=True, wakes=True)


def lease_unknown(claim: Claim, reason: str, session: str) -> Notice:
    """Whether the claim still holds could not be checked."""
    text = (
        f"Could not check whether this worktree still holds issue #{claim.issue_number}, so nothing was written to "
        f"GitHub; the next event tries again. {one_line(reason, limit=400)}"
    )
    return Notice(f"lease-unknown:{_identity(claim)}:{session}", text, for_agent=True)


def record_unwritten(trouble: str) -> Notice:
    """The recovery record could not be kept; the task itself goes on."""
    text = f"agent-sync: {RECORD_UNWRITTEN}: {trouble}"
    return Notice(f"record:{text}", text)
