"""Says whose turn it is in a task, and why: the one place that puts a task into a lane."""

from dataclasses import replace
from typing import assert_never

from agent_sync.fleet.seen import FleetSeen, Session
from agent_sync.fleet.standing import Standing, worker_of
from agent_sync.fleet.view import Lane
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.rules import is_dated_ahead
from agent_sync.leases.words import dated_ahead, span
from agent_sync.task.claim.phases import WithheldBy
from agent_sync.task.decision import situations as s
from agent_sync.task.decision.drift import drift_situations as d
from agent_sync.task.decision.facts import Pull
from agent_sync.task.decision.feedback.checks import CI
from agent_sync.task.decision.next_step import MOST_NAMES, next_step
from agent_sync.task.decision.outside_text import one_line, quoted

YOU, AGENT, GITHUB = "you", "agent", "GitHub"
# CI that has said nothing at all may be switched off; one that runs is waited for.
_SAYS_NOTHING = frozenset({CI.NONE, CI.MISSING})


@dataclass(frozen=True)
class Turn:
    """A lane, who acts, and the most specific reason."""

    lane: Lane
    who: str
    reason: str
    # Anybody may act, whoever answers for the task.
    is_anybodys: bool = False


def turn_of(standing: Standing, seen: FleetSeen) -> Turn:
    """Return whose turn it is; what only another person can move waits for them, by name."""
    turn = _turn(standing, seen)
    if turn.lane is Lane.NEEDS_YOU and standing.person and not turn.is_anybodys:
        who = one_line(standing.person, limit=40)
        return replace(turn, lane=Lane.WAITING, who=who, reason=f"for {who}: {turn.reason}")
    return turn


def _turn(standing: Standing, seen: FleetSeen) -> Turn:
    stands = standing.stands
    match stands:
        case None:
            return _lease_turn(standing)
        case s.Coding():
            return _agents(standing, "is coding")
        case s.PullFound(_, pr):
            return _agents(standing, f"has PR #{pr}, which the claim does not name")
        case (
            s.Withheld() | s.NotOpened() | s.Opening() | s.Ahead() | s.Conflicting() | s.CIFailed()
            | s.ThreadsOpen() | s.Ejected() | s.BehindBase() | s.ChangesRequested() | s.Closing()
        ):  # fmt: skip
            return _work_turn(standing, stands)
        case s.Watching() | s.InMergeQueue() | s.AwaitingMerge() | s.MergeBlocked():
            return _others_turn(standing, seen, stands)
        case s.Paused(_, until):
            return Turn(Lane.WAITING, GITHUB, f"for GitHub's rate limit, until {until:%H:%M} UTC")
        case s.OnHook(_, worker):
            return _hook_turn(standing, worker)
        case (
            d.IssueClosed() | d.IssueReopened() | d.IssueGone() | d.Reassigned() | d.ForeignHead()
            | d.BranchDeleted() | d.Reopened() | d.Retargeted() | d.MovedOnBoard() | d.Reverted()
        ):  # fmt: skip
            return _drift_turn(standing, stands)
        case s.Free() | s.Recorded():
            return Turn(Lane.WORKING, AGENT, next_step(stands).sentence)
        case _:
            return _person_turn(stands)


def _drift_turn(standing: Standing, stands: d.DriftSituation) -> Turn:
    """Return whose turn it is after something that somebody else did."""
    match stands:
        case d.ForeignHead(_, _, forced_by):
            who = quoted(forced_by, limit=40) if forced_by else "somebody else"
            return _agents(standing, f"{who} has {'force-' if forced_by else ''}pushed to its branch")
        case d.Reopened() | d.IssueReopened() | d.Retargeted() | d.MovedOnBoard():
            return Turn(Lane.WAITING, GITHUB, f"for CI. {_plain(next_step(stands).sentence.partition(';')[0])}")
        case d.IssueClosed() | d.IssueGone() | d.Reassigned() | d.BranchDeleted() | d.Reverted():
            return Turn(Lane.NEEDS_YOU, YOU, _plain(next_step(stands).sentence.partition(":")[0]))
        case _:
            assert_never(stands)


def _person_turn(
    stands: s.CIStuck | s.ApprovalNeeded | s.ClosedUnmerged | s.AwaitingConsent | s.NotClosed | s.Lost
    | s.LeaseUnverified | s.Crashed | s.WaitingForHuman | s.Unusable | s.Unclaimed,
) -> Turn:  # fmt: skip
    """Return what only a person can move."""
    match stands:
        case s.CIStuck(_, failed, rounds):
            reason = f"CI failed {rounds} times in the same way: {_names(failed)}"
        case s.ApprovalNeeded():
            reason = "a workflow run waits for approval"
        case s.ClosedUnmerged():
            reason = "the pull request was closed without merging"
        case s.AwaitingConsent(issue):
            reason = f"merged; close issue #{issue}?"
        case s.NotClosed(_, reason):
            reason = f"not closed: {_plain(reason)}"
        case s.Lost(_, holder):
            reason = f"lost to {one_line(holder, limit=80)}; the work here stays"
        case s.LeaseUnverified(_, reason):
            reason = f"whether it is still held here cannot be checked: {_plain(reason)}"
        case s.Crashed():
            reason = "the session ended without warning"
        case s.WaitingForHuman(_, waiting_for):
            reason = f"waits for you: {_plain(waiting_for)}"
        case s.Unusable(reason):
            reason = f"the claim file cannot be used: {_plain(reason)}"
        case s.Unclaimed():
            reason = "its record is here, and its claim file is gone"
        case _:
            assert_never(stands)
    return Turn(Lane.NEEDS_YOU, YOU, reason)


def _work_turn(  # one for each situation
    standing: Standing,
    stands: s.Withheld | s.NotOpened | s.Opening | s.Ahead | s.Conflicting | s.CIFailed | s.ThreadsOpen
    | s.Ejected | s.BehindBase | s.ChangesRequested | s.Closing,
) -> Turn:  # fmt: skip
    """Return what an agent, or agent-sync itself, does next if anybody is there to do it."""
    match stands:
        case s.Withheld(_, reason):
            return _agents(standing, f"the gates withhold the pull request: {_plain(reason)}")
        case s.NotOpened(_, by, reason):
            said = f"no pull request: {_plain(reason)}"
            return (
                Turn(Lane.NEEDS_YOU, YOU, said)
                if by in {WithheldBy.GITHUB, WithheldBy.ISSUE}
                else _agents(standing, said)
            )
        case s.Opening():
            return _agents(standing, "the pull request is about to be opened")
        case s.Ahead():
            return _agents(standing, "has commits that are not on GitHub yet")
        case s.Conflicting():
            return _agents(standing, "conflicts with its base branch")
        case s.CIFailed(_, failed):
            return _agents(standing, f"CI failed: {_names(failed)}{_time(attempts_of(standing))}")
        case s.ThreadsOpen(_, threads):
            return _agents(standing, f"{threads} review thread{'s wait' if threads > 1 else ' waits'} for an answer")
        case s.Ejected(_, reason):
            return _agents(standing, f"taken out of the merge queue: {quoted(reason, limit=80)}")
        case s.BehindBase():
            return _agents(standing, "must be updated with its base branch")
        case s.ChangesRequested(_, by):
            return _agents(standing, f"changes requested by {_names(by)}")
        case s.Closing():
            return _agents(standing, "the issue is about to be closed")
        case _:
            assert_never(stands)


def _agents(standing: Standing, reason: str) -> Turn:
    """Return the agent's turn; where no agent gives a sign of work, a person is asked."""
    if standing.held.gone:
        return Turn(Lane.NEEDS_YOU, YOU, f"{standing.held.gone} ({reason})", is_anybodys=True)
    if standing.session is Session.ENDED:
        return Turn(Lane.NEEDS_YOU, YOU, f"{reason}; no session is at work on it")
    lease, last = standing.held.lease, standing.last_sign
    if lease and not standing.is_here and is_dated_ahead(lease, standing.now):
        return Turn(Lane.NEEDS_YOU, YOU, f"{dated_ahead(lease)} ({reason})", is_anybodys=True)
    if not (standing.is_silent or standing.is_expired) or last is None:
        return Turn(Lane.WORKING, AGENT, reason)
    silence = span((standing.now - last).total_seconds())
    # An expired claim may be taken over by whoever comes.
    return Turn(
        Lane.NEEDS_YOU,
        YOU,
        f"no sign for {silence}: is anybody at work on it? ({reason})",
        is_anybodys=standing.is_expired and standing.pull is None,
    )


def _others_turn(
    standing: Standing, seen: FleetSeen, stands: s.Watching | s.InMergeQueue | s.AwaitingMerge | s.MergeBlocked
) -> Turn:
    """Return who is waited for where the work itself is done."""
    match stands:
        case s.Watching(_, ci, missing):
            return _ci_turn(standing, ci, missing)
        case s.InMergeQueue(_, position):
            return Turn(Lane.WAITING, GITHUB, f"in the merge queue, at place {position}")
        case s.AwaitingMerge(_, has_ci):
            checks = "CI passed" if has_ci else "no CI is configured"
            if seen.merges_itself:
                return _review_turn(standing) or Turn(Lane.WAITING, GITHUB, f"{checks}; GitHub merges it")
            return _review_turn(standing) or Turn(Lane.NEEDS_YOU, YOU, f"{checks}; merge it?")
        case s.MergeBlocked(_, missing_for_merge):
            found = _review_turn(standing)
            if found or not (standing.pull and _is_undecided(standing.pull)):
                reason = f"CI is done; not ready to merge: {one_line(missing_for_merge, limit=160)}"
                return found or Turn(Lane.NEEDS_YOU, YOU, reason)
            return Turn(Lane.WAITING, GITHUB, "for GitHub to work out whether it can be merged")
        case _:
            assert_never(stands)


def _ci_turn(standing: Standing, ci: CI, missing: tuple[str, ...]) -> Turn:
    seen = standing.ci
    if ci is CI.UNAVAILABLE:
        return Turn(Lane.NEEDS_YOU, YOU, "the checks cannot be seen: may the token read them?")
    if ci in _SAYS_NOTHING and standing.is_silent and standing.last_sign:
        silence = span((standing.now - standing.last_sign).total_seconds())
        named = f" from {_names(missing)}" if missing else ""
        return Turn(Lane.NEEDS_YOU, YOU, f"no checks{named} for {silence}: is CI switched on?")
    if ci is CI.RUNNING and seen and seen.total:
        return Turn(Lane.WAITING, GITHUB, f"for CI, {seen.total - seen.running} of {seen.total} done")
    return Turn(Lane.WAITING, GITHUB, f"for CI, {ci.value}" + (f": {_names(missing)}" if missing else ""))


def _review_turn(standing: Standing) -> Turn | None:
    """Return whose review is waited for; the viewer's own is what they are needed for, whoever opened it."""
    pull = standing.pull
    if pull is None or not pull.conversation.requested:
        return None
    asked = pull.conversation.requested
    if standing.viewer in asked:
        return Turn(Lane.NEEDS_YOU, YOU, "your review is asked for", is_anybodys=True)
    if pull.review_decision == "APPROVED":
        return None
    names = ", ".join(one_line(name, limit=40) for name in asked[:MOST_NAMES])
    return Turn(Lane.WAITING, names, f"for review by {names}")


def _is_undecided(pull: Pull) -> bool:
    """Tell whether GitHub has not yet worked out what a merge lacks, and nothing else is known to."""
    return pull.merge_state == "UNKNOWN" and not pull.is_draft and not pull.review_decision


def _hook_turn(standing: Standing, worker: str) -> Turn:
    name, last = one_line(worker, limit=60), standing.last_sign
    if standing.is_silent and last and worker_of(standing.held.lease):
        silence = span((standing.now - last).total_seconds())
        return Turn(Lane.NEEDS_YOU, YOU, f"on the hook of {name} for {silence}: does a session of it run?")
    return Turn(Lane.WAITING, name, f"for {name} to begin")


def _lease_turn(standing: Standing) -> Turn:
    """Return whose turn it is where only a lease is known, or not even that."""
    if standing.held.trouble:
        return Turn(Lane.NEEDS_YOU, YOU, _plain(standing.held.trouble))
    seen = f", last seen {standing.last_sign:%H:%M} UTC" if standing.last_sign else ""
    return _agents(standing, f"how it stands is not known{seen}")


def attempts_of(standing: Standing) -> int:
    """Return on how many commits in a row the same failure came back."""
    note = standing.claim.failures if standing.claim else None
    return note.rounds if note else 0


def _time(rounds: int) -> str:
    return f", {rounds} times in the same way" if rounds > 1 else ""


def _names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return (", ".join(quoted(name, limit=60) for name in names[:MOST_NAMES]) or "checks") + more


def _plain(text: str) -> str:
    return one_line(text, limit=160).rstrip(".")
