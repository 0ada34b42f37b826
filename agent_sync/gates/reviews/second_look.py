"""Decides what a review's next turn has to do, and what its new answer means beside the old one."""

from dataclasses import dataclass

from agent_sync.gates.config.model import Priority
from agent_sync.gates.plan.differences import Patch
from agent_sync.gates.reviews.findings import Finding, Stored


@dataclass(frozen=True)
class Ask:
    """The reviewer is asked, about this patch, with these earlier points."""

    patch: Patch
    earlier: tuple[Finding, ...] = ()
    is_second: bool = False

    @property
    def fixed(self) -> tuple[Finding, ...]:
        """The points said to be fixed."""
        return tuple(finding for finding in self.earlier if finding.status == "fixed")

    @property
    def still_open(self) -> tuple[Finding, ...]:
        """The points nobody has decided about."""
        return tuple(finding for finding in self.earlier if finding.is_open)


@dataclass(frozen=True)
class Keep:
    """Nothing has to be asked: what was found before still holds."""

    findings: tuple[Finding, ...] = ()


Turn = Ask | Keep


def next_turn(previous: Stored | None, whole: Patch, since: Patch | None) -> Turn:
    """Return what has to be done: nothing new and nothing said to be fixed leaves everything as it was."""
    if previous is None or previous.status == "error" or since is None:
        return Ask(whole, previous.findings if previous else ())
    if previous.has_passed:
        return Ask(since, is_second=True) if since.files else Keep()
    is_claimed_fixed = any(finding.status == "fixed" for finding in previous.findings)
    if not since.files and not is_claimed_fixed:
        return Keep(tuple(finding for finding in previous.findings if finding.is_open))
    # Said to be fixed although nothing changed here: then the whole work is what it must be looked up in.
    return Ask(since if since.files else whole, previous.findings, is_second=True)


def judged(turn: Ask, found: tuple[Finding, ...], threshold: Priority) -> tuple[Finding, ...]:
    """Return what is open after an answer: repeated points wherever they stand, new ones only in changed lines."""
    skipped = [one for one in turn.earlier if one.status == "skipped"]
    asked = [*turn.fixed, *turn.still_open]
    kept: list[Finding] = []
    for finding in found:
        if any(finding.says_the_same(one) for one in asked):
            kept.append(finding)
        elif any(finding.says_the_same(one) for one in skipped):
            continue
        elif turn.patch.has_line(finding.file, finding.line) and (not turn.is_second or finding.weight >= threshold):
            kept.append(finding)
    return (*kept, *_untouched(turn, kept))


def _untouched(turn: Ask, kept: list[Finding]) -> tuple[Finding, ...]:
    """Return open points in files nobody has changed: silence about them resolves nothing."""
    return tuple(
        one
        for one in turn.still_open
        if one.file not in turn.patch.paths and not any(one.says_the_same(other) for other in kept)
    )


def cleaned(found: tuple[Finding, ...], paths: frozenset[str], root: str) -> tuple[Finding, ...]:
    """Return the findings with file names as the patch has them, whatever prefix the reviewer put before."""
    return tuple(
        Finding(
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
