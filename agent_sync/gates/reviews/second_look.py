"""Decides what a review's next turn has to do, and what its new answer means beside the old one."""

from agent_sync.gates.config.model import Priority
from agent_sync.gates.plan.differences import Patch
from agent_sync.gates.reviews.findings import ReviewFinding, Stored
from agent_sync.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class AskReviewer:
    """The reviewer is asked, about this patch, with these earlier points."""

    patch: Patch
    earlier: tuple[ReviewFinding, ...] = ()
    is_second: bool = False

    @property
    def fixed(self) -> tuple[ReviewFinding, ...]:
        """The points said to be fixed."""
        return tuple(finding for finding in self.earlier if finding.status == "fixed")

    @property
    def still_open(self) -> tuple[ReviewFinding, ...]:
        """The points nobody has decided about."""
        return tuple(finding for finding in self.earlier if finding.is_open)


@dataclass(frozen=True)
class KeepFindings:
    """Nothing has to be asked: what was found before still holds."""

    findings: tuple[ReviewFinding, ...] = ()


Turn = AskReviewer | KeepFindings


def next_turn(previous: Stored | None, whole: Patch, since: Patch | None) -> Turn:
    """Return what has to be done: nothing new and nothing said to be fixed leaves everything as it was."""
    if previous is None or previous.status == "error" or since is None:
        return AskReviewer(whole, previous.findings if previous else ())
    if previous.has_passed:
        return AskReviewer(since, is_second=True) if since.files else KeepFindings()
    is_claimed_fixed = any(finding.status == "fixed" for finding in previous.findings)
    if not since.files and not is_claimed_fixed:
        return KeepFindings(tuple(finding for finding in previous.findings if finding.is_open))
    # Said to be fixed although nothing changed here: then the whole work is what it must be looked up in.
    return AskReviewer(since if since.files else whole, previous.findings, is_second=True)


def open_findings(
    turn: AskReviewer, found: tuple[ReviewFinding, ...], threshold: Priority
) -> tuple[ReviewFinding, ...]:
    """Return what is open after an answer: repeated points wherever they stand, new ones only in changed lines."""
    skipped = [one for one in turn.earlier if one.status == "skipped"]
    asked = [*turn.fixed, *turn.still_open]
    kept: list[ReviewFinding] = []
    for finding in found:
        if any(finding.says_the_same(one) for one in asked):
            kept.append(finding)
        elif any(finding.says_the_same(one) for one in skipped):
            continue
        elif turn.patch.has_line(finding.file, finding.line) and (not turn.is_second or finding.weight >= threshold):
            kept.append(finding)
    return (*kept, *_untouched(turn, kept))


def _untouched(turn: AskReviewer, kept: list[ReviewFinding]) -> tuple[ReviewFinding, ...]:
    """Return open points in files nobody has changed: silence about them resolves nothing."""
    return tuple(
        one
        for one in turn.still_open
        if one.file not in turn.patch.paths and not any(one.says_the_same(other) for other in kept)
    )


def with_paths_of_patch(
    found: tuple[ReviewFinding, ...], paths: frozenset[str], root: str
) -> tuple[ReviewFinding, ...]:
    """Return the findings with file names as the patch has them, whatever prefix the reviewer put before."""
    return tuple(
        ReviewFinding(
            _path(one.file, paths, root),
            one.line,
            one.issue,
            one.fix,
            one.priority.lower(),
        )
        for one in found
    )


def _path(name: str, paths: frozenset[str], root: str) -> str:
    plain = name.removeprefix(f"{root}/").removeprefix("./")
    if plain in paths or plain[:2] not in {"a/", "b/"}:
        return plain
    return plain[2:]
