"""Says what comes next in a situation: a sentence for the agent, a command for the person."""

from typing import assert_never

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.task.claim.phases import WithheldBy
from agent_sync.task.decision.drift.drift_situations import (
    BranchDeleted,
    DriftSituation,
    ForeignHead,
    IssueClosed,
    IssueGone,
    IssueReopened,
    MovedOnBoard,
    Reassigned,
    Reopened,
    Retargeted,
    Reverted,
)
from agent_sync.task.decision.feedback.checks import CI
from agent_sync.task.decision.feedback.merging import update_commands
from agent_sync.task.decision.outside_text import one_line, quoted
from agent_sync.task.decision.situations import (
    Ahead,
    ApprovalNeeded,
    AwaitingConsent,
    AwaitingMerge,
    BehindBase,
    ChangesRequested,
    CIFailed,
    CIStuck,
    ClosedUnmerged,
    Closing,
    Coding,
    Conflicting,
    Crashed,
    Ejected,
    Free,
    InMergeQueue,
    LeaseUnverified,
    Lost,
    MergeBlocked,
    NotClosed,
    NotOpened,
    OnHook,
    Opening,
    Paused,
    PullFound,
    Recorded,
    RecordStage,
    Situation,
    ThreadsOpen,
    Unclaimed,
    Unusable,
    WaitingForHuman,
    Watching,
    Withheld,
)

MOST_NAMES = 5
# Suggested in more than one situation.
HANDOFF = "agent-sync handoff"
PUSH = "agent-sync push"
PUBLISH = f"then run: {PUSH}"
SYNC = "agent-sync sync"
WATCH = "agent-sync status --watch"
VALIDATE = "agent-sync validate"
RELEASE = "agent-sync release"


@dataclass(frozen=True)
class NextStep:
    """One sentence for the agent, one command for the person; empty where nothing is to be typed."""

    sentence: str
    command: str


def next_step(stands: Situation) -> NextStep:  # noqa: PLR0912  # one arm for each situation
    """Return what comes next."""
    match stands:
        case Free(has_board):
            return NextStep("Nothing is claimed here.", "agent-sync next" if has_board else "agent-sync init")
        case Unusable(reason):
            return NextStep(f"The claim file cannot be used: {quoted(reason, limit=300)}.", "agent-sync doctor")
        case Unclaimed(task_id, issue):
            said = f"Task {task_id} has a record here, but no claim file: claim issue #{issue} again, or give it up."
            return NextStep(said, f"agent-sync claim {issue}")
        case Recorded():
            return _recorded_step(stands)
        case Coding():
            return NextStep("Keep working; run `/handoff` when it is ready for a PR.", HANDOFF)
        case PullFound(issue, pr, is_merged):
            if is_merged:
                said = (
                    f"PR #{pr} of this branch is merged; `{SYNC}` records that, then decide whether to close #{issue}."
                )
                return NextStep(said, SYNC)
            return NextStep(f"PR #{pr} of this branch is open; adopt it with `{HANDOFF}`.", HANDOFF)
        case Withheld(_, reason):
            return NextStep(_text(reason), SYNC)
        case NotOpened(_, by, reason):
            return NextStep(_text(reason), {WithheldBy.GITHUB: SYNC, WithheldBy.ISSUE: RELEASE}.get(by, HANDOFF))
        case Opening():
            return NextStep("The PR will be opened when this turn ends.", SYNC)
        case Ahead(pr):
            return NextStep(lacks_commits(pr), PUSH)
        case Conflicting(pr, upstream):
            said = f"{_subject(pr)} conflicts with its base branch: {_merge(upstream)}, resolve and commit, {PUBLISH}"
            return NextStep(said, PUSH)
        case CIFailed(pr, failed):
            return NextStep(f"CI failed on {_pr(pr)}: {_names(failed)}. Commit a fix, {PUBLISH}", PUSH)
        case CIStuck(pr, failed, rounds):
            said = (
                f"CI failed {rounds} times in the same way on {_pr(pr)}: {_names(failed)}. A human has to look into it."
            )
            return NextStep(said, SYNC)
        case ThreadsOpen() | Ejected() | InMergeQueue() | BehindBase() | MergeBlocked() | ApprovalNeeded():
            return _merge_step(stands)
        case ChangesRequested(pr, by):
            return NextStep(f"{_subject(pr)}: changes requested by {_names(by)}. Commit them, {PUBLISH}", PUSH)
        case Watching(pr, ci, missing):
            named = f" ({_names(missing)})" if missing else ""
            return NextStep(f"{_ci(ci)}{named} on {_pr(pr)}; CI is watched while the session is idle.", WATCH)
        case AwaitingMerge(pr, has_ci):
            said = f"CI passed on {_pr(pr)}" if has_ci else f"No CI is configured for {_pr(pr)}"
            return NextStep(f"{said}; leave the merge to a human.", SYNC)
        case ClosedUnmerged(_, pr):
            said = (
                f"{_subject(pr)} was closed without merging; `/handoff` opens a new one, `agent-sync release` gives up."
            )
            return NextStep(said, HANDOFF)
        case AwaitingConsent(issue, pr):
            said = f"{_subject(pr)} is merged; a human decides with `/done` whether issue #{issue} is closed."
            return NextStep(said, "agent-sync done")
        case Closing(issue):
            return NextStep(f"Issue #{issue} will be closed when this turn ends.", SYNC)
        case NotClosed(_, reason):
            return NextStep(_text(reason), SYNC)
        case OnHook(issue, worker):
            said = f"Issue #{issue} was left on the hook of {quoted(worker)}; `agent-sync worker take` resumes it."
            return NextStep(said, "agent-sync worker take")
        case Lost(_, holder):
            who = one_line(holder, limit=300)
            said = f"Stop working on it: it is now held by {who}. Nothing more is written to GitHub from here."
            return NextStep(said, RELEASE)
        case LeaseUnverified(issue, reason):
            said = f"Could not check whether this worktree still holds issue #{issue}: {_text(reason)}"
            return NextStep(said, SYNC)
        case Crashed(_, advice):
            said = f"The last session ended without warning. {_text(advice)} Run `agent-sync resume`, then continue."
            return NextStep(said, "agent-sync resume")
        case WaitingForHuman():
            return _waiting(stands)
        case Paused(_, until):
            said = f"GitHub's rate limit is reached; agent-sync continues after {until:%H:%M:%S} UTC."
            return NextStep(said, "")
        case _:
            return _drift_step(stands)


def lacks_commits(pr: int | None) -> str:
    """Return that commits of the branch are not on GitHub, and what publishes them."""
    return f"{_subject(pr)} lacks commits of this branch; push them: {PUSH}"


def _drift_step(stands: DriftSituation) -> NextStep:
    """Return what comes next after something that somebody else did."""
    match stands:
        case IssueClosed(issue, pr) | Reassigned(issue, pr):
            what = f"is assigned to {_people(stands.assignees)}" if isinstance(stands, Reassigned) else "was closed"
            said = f"Issue #{issue} {what}: ask the human whether to continue. If not, {_giving_up(pr)}."
            return NextStep(said, f"{RELEASE} --force" if pr else RELEASE)
        case IssueGone(issue):
            said = f"Issue #{issue} was transferred or deleted: ask the human what becomes of the work."
            return NextStep(said, f"{RELEASE} --force")
        case ForeignHead(pr, sha, forced_by):
            who = f"{quoted(forced_by, limit=40)} has force-pushed" if forced_by else "Somebody else has pushed"
            merged = "compare with `git log HEAD...FETCH_HEAD` and ask" if forced_by else "merge `FETCH_HEAD`"
            said = f"{who} to the branch of {_pr(pr)}, which is at {sha[:12]}: fetch it, {merged} before more work."
            return NextStep(said, SYNC)
        case BranchDeleted(_, pr):
            said = f"{_subject(pr)} was closed and its branch deleted on GitHub; `/handoff` pushes it again."
            return NextStep(said, HANDOFF)
        case Reopened(pr):
            return NextStep(f"{_subject(pr)} is open again; CI is watched while the session is idle.", WATCH)
        case IssueReopened(issue, pr):
            return NextStep(f"Issue #{issue} is open again; {_pr(pr)} is watched while the session is idle.", WATCH)
        case Retargeted(pr, base):
            said = f"{_subject(pr)} goes into {quoted(base)} now: if the work needs that branch, merge it, {PUBLISH}"
            return NextStep(said, WATCH)
        case MovedOnBoard(issue, pr, status):
            said = f"The card of issue #{issue} was moved to {quoted(status, limit=60)} on the board and is left there"
            return NextStep(f"{said}; {_pr(pr)} is watched while the session is idle.", WATCH)
        case Reverted(issue, pr, revert, is_merged):
            if is_merged:
                said = f"{_subject(pr)} was taken back by PR #{revert}: ask the human whether issue #{issue} is done."
                return NextStep(f"{said} `{RELEASE}` gives it back.", RELEASE)
            said = f"PR #{revert} would take {_pr(pr)} back: leave issue #{issue} open until a human has decided."
            return NextStep(said, SYNC)
        case _:
            assert_never(stands)


def _people(names: tuple[str, ...]) -> str:
    from agent_sync.task.decision.drift.drift_messages import people

    return people(names)


def _giving_up(pr: int | None) -> str:
    return (
        f"close {_pr(pr)} and run `{RELEASE}`, or leave it open with `{RELEASE} --force`"
        if pr
        else f"`{RELEASE}` gives it back"
    )


def _recorded_step(task: Recorded) -> NextStep:
    match task.stage:
        case RecordStage.SETTING_UP:
            return NextStep("The task is not set up yet.", "agent-sync resume")
        case RecordStage.PENDING:
            return NextStep(f"Start the step {quoted(task.step, limit=60)}.", "agent-sync step start")
        case RecordStage.RUNNING:
            said = "When complete, run `agent-sync validate -- CMD` to verify your changes: a pass completes the step."
            return NextStep(said, f"{VALIDATE} -- CMD")
        case RecordStage.VALIDATING:
            return NextStep("A validation was begun and its result is not known: run it again.", task.validation)
        case RecordStage.WAITING | RecordStage.RECOVERING | RecordStage.ENDED:
            # The situation has a case of its own for each of these.
            return NextStep("", "agent-sync resume")
        case _:
            assert_never(task.stage)


def _merge_step(
    stands: ThreadsOpen | Ejected | InMergeQueue | BehindBase | MergeBlocked | ApprovalNeeded,
) -> NextStep:
    """Return what comes next where CI is not what the merge lacks."""
    match stands:
        case ThreadsOpen(pr, threads):
            said = f"Review threads wait for an answer on {_pr(pr)}: {threads}."
            return NextStep(said, "agent-sync review list")
        case Ejected(pr, reason):
            said = f"{_subject(pr)} was taken out of the merge queue: {quoted(reason, limit=200)}."
            return NextStep(f"{said} Commit a fix, {PUBLISH}", PUSH)
        case InMergeQueue(pr, position):
            return NextStep(f"{_subject(pr)} is in the merge queue, at place {position}.", WATCH)
        case BehindBase(pr, upstream):
            said = f"{_subject(pr)} must be updated with its base branch: {_merge(upstream)}, {PUBLISH}"
            return NextStep(said, PUSH)
        case MergeBlocked(pr, missing):
            said = f"CI is done on {_pr(pr)}, which is not ready to merge: {one_line(missing, limit=300)}."
            return NextStep(said, SYNC)
        case ApprovalNeeded(pr, url):
            said = f"A workflow on {_pr(pr)} waits for a human's approval: {quoted(url, limit=300)}."
            return NextStep(said, WATCH)
        case _:
            assert_never(stands)


def _merge(upstream: str) -> str:
    commands = update_commands(upstream)
    return f"run `{commands}`" if commands else "merge the base branch"


def _waiting(task: WaitingForHuman) -> NextStep:
    reason = quoted(task.waiting_for, limit=300)
    said = f"A human must act first: {reason}. Tell them, and do nothing else on this task until then."
    return NextStep(said, "agent-sync resume" if task.is_claim else "agent-sync approve")


def _subject(number: int | None) -> str:
    return _pr(number) if number else "The PR"


def _pr(number: int | None) -> str:
    return f"PR #{number}" if number else "the PR"


def _ci(ci: CI) -> str:
    match ci:
        case CI.ABSENT:
            return "No CI is configured"
        case CI.NONE:
            return "No checks are reported yet"
        case CI.APPROVAL:
            return "A workflow waits for approval"
        case CI.MISSING:
            return "Required checks have not reported"
        case CI.UNAVAILABLE:
            return "The checks cannot be seen"
        case CI.RUNNING:
            return "Checks are running"
        case CI.FAILED:
            return "Checks failed"
        case CI.GREEN:
            return "Checks passed"
        case _:
            assert_never(ci)


def _names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return (", ".join(quoted(name, limit=60) for name in names[:MOST_NAMES]) or "checks") + more


def _text(reason: str) -> str:
    """Return a reason as one line that ends like a sentence."""
    line = one_line(reason, limit=400)
    return line if line.endswith((".", "…", "!", "?")) or not line else f"{line}."
