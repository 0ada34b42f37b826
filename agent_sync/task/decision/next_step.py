"""Says what comes next in a situation: a sentence for the agent, a command for the person."""

from dataclasses import dataclass
from typing import assert_never

from agent_sync.task.claim.phases import WithheldBy
from agent_sync.task.decision.checks import CI
from agent_sync.task.decision.outside_text import one_line, quoted
from agent_sync.task.decision.situations import (
    Ahead,
    AwaitingConsent,
    AwaitingMerge,
    ChangesRequested,
    CIFailed,
    ClosedUnmerged,
    Closing,
    Coding,
    Conflicting,
    Crashed,
    Free,
    LeaseUnknown,
    LeftOnHook,
    Lost,
    NotClosed,
    NotOpened,
    Opening,
    Paused,
    Recorded,
    Situation,
    Stage,
    Unclaimed,
    Unusable,
    WaitingForHuman,
    Watching,
    Withheld,
)

MOST_NAMES = 5
# Suggested in more than one situation.
HANDOFF = "agent-sync handoff --summary TEXT"
PUSH = "agent-sync push"
SYNC = "agent-sync sync"
WATCH = "agent-sync status --watch"
VALIDATE = "agent-sync validate"


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
            return _recorded(stands)
        case Coding():
            return NextStep("Keep working; run `/handoff` when it is ready for a PR.", HANDOFF)
        case Withheld(_, reason):
            return NextStep(f"{_text(reason)} Fix it and commit.", SYNC)
        case NotOpened(_, by, reason):
            return NextStep(_text(reason), SYNC if by is WithheldBy.GITHUB else HANDOFF)
        case Opening():
            return NextStep("The PR will be opened when this turn ends.", SYNC)
        case Ahead(pr):
            return NextStep(
                f"{_subject(pr)} lacks commits of this branch: they are not on GitHub yet. Push them.", PUSH
            )
        case Conflicting(pr):
            said = f"{_subject(pr)} conflicts with its base branch: merge the base branch, resolve, commit and push."
            return NextStep(said, PUSH)
        case CIFailed(pr, failed):
            return NextStep(f"CI failed on {_pr(pr)}: {_names(failed)}. Fix it, commit and push.", PUSH)
        case ChangesRequested(pr, by):
            return NextStep(f"{_names(by)} requested changes on {_pr(pr)}: make them, commit and push.", PUSH)
        case Watching(pr, ci):
            return NextStep(f"{_ci(ci)} on {_pr(pr)}; CI is watched while the session is idle.", WATCH)
        case AwaitingMerge(pr):
            return NextStep(f"CI passed on {_pr(pr)}; leave the merge to a human.", SYNC)
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
            return NextStep(_text(reason), "agent-sync done --yes")
        case LeftOnHook(issue, worker):
            said = f"Issue #{issue} was left on the hook of {quoted(worker)}; `agent-sync worker take` resumes it."
            return NextStep(said, "agent-sync worker take")
        case Lost(_, holder):
            who = quoted(holder, limit=300)
            said = f"It is held by {who} now: stop working on it. Nothing more is written to GitHub from here."
            return NextStep(said, "agent-sync release")
        case LeaseUnknown(issue, reason):
            said = f"Could not check whether this worktree still holds issue #{issue}: {_text(reason)}"
            return NextStep(said, SYNC)
        case Crashed(_, advice):
            said = f"The last session ended without warning. {_text(advice)} Resume from HOOK.md."
            return NextStep(said, "agent-sync resume")
        case WaitingForHuman():
            return _waiting(stands)
        case Paused(_, until):
            said = f"GitHub's rate limit is reached; agent-sync continues after {until:%H:%M:%S} UTC."
            return NextStep(said, "")
        case _:
            assert_never(stands)


def _recorded(task: Recorded) -> NextStep:
    match task.stage:
        case Stage.SETTING_UP:
            return NextStep("The task is not set up yet.", "agent-sync resume")
        case Stage.PENDING:
            return NextStep(f"Start the step {quoted(task.step, limit=60)}.", "agent-sync step start")
        case Stage.RUNNING:
            said = "When complete, run `agent-sync validate -- CMD` to verify your changes: a pass completes the step."
            return NextStep(said, f"{VALIDATE} -- CMD")
        case Stage.VALIDATING:
            return NextStep("A validation was begun and its result is not known: run it again.", task.validation)
        case Stage.WAITING | Stage.RECOVERING | Stage.ENDED:
            # The situation has a case of its own for each of these.
            return NextStep("", "agent-sync resume")
        case _:
            assert_never(task.stage)


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
        case CI.NONE:
            return "No checks are reported yet"
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
