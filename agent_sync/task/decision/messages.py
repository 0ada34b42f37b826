"""Every sentence of the lifecycle, each one small function; a notice's id says what makes it new."""

from collections.abc import Sequence
from dataclasses import replace

from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.facts import Branch, GateSeen, Pull, PullState
from agent_sync.task.decision.needs import unpushed_id
from agent_sync.task.decision.next_step import lacks_commits
from agent_sync.task.decision.notice import Notice
from agent_sync.task.decision.outside_text import one_line, quoted
from agent_sync.task.decision.pull_orders import PullUpdate
from agent_sync.task.decision.pull_text import claim_marker

# Asks whether to close.
CLOSING_QUESTIONS = ("merged:", "merged-reminder:")
# What was told before is news again once the agent has handed off anew.
NEWS_AFTER_HANDOFF = (
    "no-branch:",
    "no-summary:",
    "no-commits:",
    "unknown-branch:",
    "refused:",
    "gate:",
    "pr:",
    "not-merged:",
    "issue-objects:",
)
RECORD_UNWRITTEN = "the recovery record could not be written"


def _setting(name: str) -> str:
    """Return a name from the settings: one word can be no sentence."""
    return name if name.isalpha() else quoted(name)


def _identity(claim: Claim) -> str:
    return f"{claim.issue_number}:{claim.agent_id}"


def about_end(claim: Claim) -> tuple[str, ...]:
    """Return how the ids of everything begin that is said when a task ends."""
    return (f"closed:{_identity(claim)}", f"branch:{_identity(claim)}")


def about_pull(pull: Pull) -> tuple[str, ...]:
    """Return how the ids of everything begin that is said of how a pull request ended."""
    number = pull.number
    asked = (f"merged:{number}:", f"merged-reminder:{number}:", f"merged-closed:{number}")
    return (*asked, f"closed-unmerged:{number}", f"reopened:{number}")


def pull_opened(pull: Pull) -> Notice:
    """There is a pull request now."""
    draft = " as a draft" if pull.is_draft else ""
    text = f"PR #{pull.number} created{draft}: {pull.url}"
    # The client shows the human what the agent is told at a stop: the same words would stand there twice.
    step = f"PR #{pull.number} is open{draft}. CI is watched while the session is idle; nothing is left to do now."
    return Notice(f"pr:{pull.number}", text, for_agent=True, agent_text=step)


def pull_adopted(pull: Pull, update: PullUpdate | None = None) -> Notice:
    """There was a pull request already; what of it was brought up to date, and what a person has made of it."""
    state = "" if pull.state is PullState.OPEN else f" ({pull.state.value})"
    said = [f"PR #{pull.number} already exists{state}: {pull.url}"]
    if update:
        written = [name for name, is_new in (("title", update.retitle), ("body", update.rewrite)) if is_new]
        said += [f"Its {_listed(written)} updated."] if written else []
        said += ["It is no draft any more: it is ready for review."] if update.ready else []
        said += [f"Its {_listed(update.kept)} edited on GitHub and left so."] if update.kept else []
    return Notice(f"pr:{pull.number}", " ".join(said), for_agent=True, can_wait=True)


def _listed(names: Sequence[str]) -> str:
    return f"{' and '.join(names)} {'was' if len(names) == 1 else 'were'}"


def extra_refused(pull: Pull, note: str) -> Notice:
    """GitHub did not do something about the pull request that a setting or a handoff asked for."""
    text = f"PR #{pull.number} is open. {one_line(note, limit=400)}"
    return Notice(f"extra:{pull.number}:{note[:120]}", text)


def branch_missing(claim: Claim) -> Notice:
    """The claim names no branch."""
    text = (
        f"No PR opened for issue #{claim.issue_number}: `branch` is empty. "
        "Run `agent-sync handoff` on the branch that has the work."
    )
    return Notice(f"no-branch:{_identity(claim)}", text, for_agent=True)


def summary_missing(claim: Claim) -> Notice:
    """The claim has no summary."""
    text = (
        f"No PR opened for issue #{claim.issue_number}: `summary` is empty; it becomes the title. "
        "Run `agent-sync handoff`."
    )
    return Notice(f"no-summary:{_identity(claim)}", text, for_agent=True)


def gate_withheld(claim: Claim, gate: GateSeen, branch: Branch) -> Notice:
    """The quality gate keeps the pull request back."""
    draft = "`agent-sync handoff --draft` opens a draft that says so."
    reason = f"the gates say {quoted(gate.message, limit=300)}."
    helps = f"Fix it and commit; it is opened when the gates pass. {draft}"
    if not branch.is_current:
        reason = f"the gates look at what is checked out, and that is not branch {quoted(claim.branch)}."
        helps = f"Check that branch out; it is opened when the gates pass there. {draft}"
    elif gate.status in {"passed", "passed_with_warnings", "no_applicable_gates", "no_changes"}:
        reason = "the gates have nothing against the work, but not all of it is committed."
        helps = "Commit the work; the PR is opened when this turn ends."
    text = f"No PR opened for issue #{claim.issue_number}: {reason} {helps}"
    return Notice(f"gate:{_identity(claim)}:{gate.status}:{reason}", text, for_agent=True)


def branch_unknown(claim: Claim) -> Notice:
    """Neither this clone nor GitHub has the branch."""
    branch = quoted(claim.branch)
    text = (
        f"No PR opened for issue #{claim.issue_number}: branch {branch} is neither here nor on GitHub. "
        "Switch to the branch that has the work, then run `agent-sync handoff`."
    )
    return Notice(f"unknown-branch:{_identity(claim)}:{claim.branch}", text, for_agent=True)


def nothing_to_merge(claim: Claim) -> Notice:
    """The branch has no commit of its own."""
    text = (
        f"No PR opened for issue #{claim.issue_number}: branch {quoted(claim.branch)} has no commits of its own. "
        "Commit the work, then run `agent-sync handoff` again."
    )
    return Notice(f"no-commits:{_identity(claim)}", text, for_agent=True)


def issue_objects(claim: Claim, reason: str) -> Notice:
    """Somebody has closed the issue or given it to others: a pull request may not be wanted."""
    text = (
        f"No PR opened for issue #{claim.issue_number}: {reason}. `agent-sync handoff --anyway` opens one, "
        "`agent-sync release` gives the task back."
    )
    step = f"{text} Ask the human which of the two."
    return Notice(f"issue-objects:{_identity(claim)}:{reason}", text, for_agent=True, agent_text=step)


def pull_refused(claim: Claim, reason: str) -> Notice:
    """GitHub said no to the pull request."""
    text = f"No PR opened for issue #{claim.issue_number}: GitHub refused: {quoted(reason, limit=300)}"
    return Notice(f"refused:{_identity(claim)}:{reason[:80]}", text, for_agent=True)


def pull_unknown(claim: Claim) -> Notice:
    """The phase says there is a pull request, and none is to be found."""
    text = (
        f"Issue #{claim.issue_number} is in phase {claim.phase} without a PR number, and branch "
        f"{quoted(claim.branch)} has no PR. Run `agent-sync handoff` to open one."
    )
    return Notice(f"no-pr:{_identity(claim)}", text, for_agent=True)


def board_trouble(claim: Claim, reason: str, status: str) -> Notice:
    """The board could not be kept true."""
    text = (
        f"Board not updated for issue #{claim.issue_number} (wanted: {_setting(status)}). "
        f"{one_line(reason, limit=400)} `agent-sync doctor` names the setting; later events try again."
    )
    return Notice(f"board:{_identity(claim)}:{status}:{reason[:80]}", text)


def pull_merged(claim: Claim, pull: Pull, session: str) -> Notice:
    """The question that only a human may answer."""
    asked = merge_question(claim.model_copy(update={"pr_number": pull.number}), session)
    return replace(asked, agent_text=f"{asked.agent_text} {pull.url}", wakes=True)


def merge_question(claim: Claim, session: str) -> Notice:
    """The same question, to a session that begins."""
    text = f"PR #{claim.pr_number} merged! Should I close issue #{claim.issue_number}?"
    return Notice(
        f"merged:{claim.pr_number}:{session}",
        f"{text} `/done` says yes.",
        for_agent=True,
        agent_text=f"{text} Ask the human, and leave it to them: they type `/done`.",
    )


def closed_by_merge(claim: Claim, pull: Pull) -> Notice:
    """The pull request was merged, and nothing is left to be asked."""
    text = f"PR #{pull.number} merged! Issue #{claim.issue_number} was closed by the merge: {pull.url}"
    return Notice(f"merged-closed:{pull.number}", text, for_agent=True, can_wait=True)


def merged_reminder(claim: Claim, session: str) -> Notice:
    """The same question, once more with the next prompt."""
    text = (
        f"PR #{claim.pr_number} merged! Should I close issue #{claim.issue_number}? "
        "A human's yes is recorded with `/done` (or `agent-sync done`)."
    )
    return Notice(f"merged-reminder:{claim.pr_number}:{session}", text, for_human=False, for_agent=True)


def closed_unmerged(claim: Claim, pull: Pull) -> Notice:
    """The pull request was closed without merging, by hand or because its branch was deleted."""
    if pull.is_branch_deleted:
        text = (
            f"PR #{pull.number} was closed without merging, and branch {quoted(claim.branch)} was deleted on GitHub. "
            "The work here is untouched; `agent-sync handoff` pushes it again and opens a new PR, "
            "`agent-sync release` gives the task back."
        )
        return Notice(f"closed-unmerged:{pull.number}:deleted", text, for_agent=True, wakes=True)
    text = (
        f"PR #{pull.number} was closed without merging. Issue #{claim.issue_number} stays open; "
        "`agent-sync handoff` opens a new PR, `agent-sync release` gives the task back."
    )
    return Notice(f"closed-unmerged:{pull.number}", text, for_agent=True, wakes=True)


def pull_beside(pull: Pull) -> Notice:
    """The branch has an open pull request that the claim does not name."""
    text = f"PR #{pull.number} of this branch is open: {pull.url} Adopt it with `agent-sync handoff`."
    return Notice(f"beside:{pull.number}", text, for_agent=True)


def unpushed(claim: Claim) -> Notice:
    """CI failed, and what was committed since is not on GitHub."""
    return Notice(unpushed_id(claim), lacks_commits(claim.pr_number), for_human=False, for_agent=True)


def pull_reopened(pull: Pull) -> Notice:
    """The pull request is open again."""
    text = f"PR #{pull.number} is open again: {pull.url}"
    return Notice(f"reopened:{pull.number}", text, for_agent=True, can_wait=True)


def not_merged(claim: Claim, pull: Pull | None) -> Notice:
    """Done was said, and the work is not in."""
    which = f"PR #{pull.number} is {pull.state.value}, not merged" if pull else "there is no merged PR for it"
    text = f"Issue #{claim.issue_number} not closed: {which}."
    state = pull.state.value if pull else "none"
    return Notice(f"not-merged:{_identity(claim)}:{state}", text, for_agent=True)


def task_closed(claim: Claim, *, trouble: str, done: str, stays_open: bool = False) -> Notice:
    """The task is over; an issue that only others may close is left to them."""
    moved = f" Board → {_setting(done)}." if done and not stays_open else ""
    board = f" Board not updated: {quoted(trouble, limit=400)}." if trouble else moved
    left = "stays open: you may not close it, those who may write to the repository can"
    text = f"Issue #{claim.issue_number} {left if stays_open else 'closed'}.{board} Signal file cleaned up."
    return Notice(f"closed:{_identity(claim)}", text, for_agent=True, can_wait=True)


def branch_left(claim: Claim, *, base: str, note: str) -> Notice:
    """The branch of the closed task is gone from here."""
    text = f"Branch {quoted(claim.branch)} is merged and was deleted here; the worktree is at {quoted(base)}.{note}"
    return Notice(f"branch:{_identity(claim)}", text, for_agent=True, can_wait=True)


def branch_kept(claim: Claim, reason: str) -> Notice:
    """The branch of the closed task stays."""
    text = f"Branch {quoted(claim.branch)} was kept: {one_line(reason, limit=300)}."
    return Notice(f"branch:{_identity(claim)}", text, for_agent=True, can_wait=True)


def github_paused(claim: Claim) -> Notice:
    """GitHub wants to be left alone."""
    until = claim.not_before.strftime("%H:%M:%S UTC") if claim.not_before else "later"
    text = f"GitHub's rate limit is reached: issue #{claim.issue_number} is paused until {until}."
    return Notice(f"paused:{_identity(claim)}:{until}", text)


def lease_lost(claim: Claim, session: str) -> Notice:
    """Somebody else holds the issue now; said once in every session."""
    lease = claim.lease
    holder = one_line(lease.lost_to, limit=300) if lease else ""
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
    """The recovery record could not be kept; the task itself continues."""
    text = f"agent-sync: {RECORD_UNWRITTEN}: {trouble}"
    return Notice(f"record:{text}", text)


def closing_comment(claim: Claim, pull: int | None) -> str:
    """Return the comment that goes with the close."""
    done = f"Completed in #{pull}" if pull else "Completed"
    return f"{done}\n\n{claim_marker(claim)}"
