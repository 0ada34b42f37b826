"""Asks git about commits: which of a reflog's entries made one, and which lie beyond what a log tells."""

import re
from dataclasses import dataclass

from agent_sync.record.machine.checkpoint import KEPT
from agent_sync.record.observe.happened import Kind, kind_of, subject_in
from agent_sync.record.observe.reflogs import Entry
from agent_sync.system.git import Git

# Whatever the user has set for `git log`, these are its lines and nothing else.
_LOG = ("log", "--no-show-signature", "--encoding=UTF-8", "--format=%H %ct %s")
_LINE = re.compile(r"([0-9a-f]{40,64}) (\d+) (.*)")
# A tool may write the log a moment after it made the commit.
_MOMENT = 2


@dataclass(frozen=True)
class Commit:
    """One commit and its first line."""

    sha: str
    subject: str


@dataclass(frozen=True)
class _Told:
    time: int
    subject: str


def commits_made(git: Git, entries: tuple[Entry, ...]) -> tuple[Commit, ...]:
    """Return the commits that these movements made, the last ones of very many."""
    first: dict[str, Entry] = {}
    for entry in entries:
        if kind_of(entry) in {Kind.COMMIT, Kind.UNKNOWN}:
            first.setdefault(entry.new, entry)
    candidates = tuple(first.values())[-KEPT:]
    told = _told(git, tuple(entry.new for entry in candidates))
    return tuple(
        # An amended commit may be gone for good; its entry still says what it was.
        Commit(entry.new, told[entry.new].subject if entry.new in told else subject_in(entry))
        for entry in candidates
        if kind_of(entry) is Kind.COMMIT or _is_just_made(entry, told.get(entry.new))
    )


def commits_beyond(git: Git, base: str | None, head: str, *, since: int) -> tuple[Commit, ...]:
    """Return the commits between two states of a ref, oldest first, for what no log tells.

    Without a log a commit cannot be told from one that was merely switched to, so those from before `since` are not
    counted; neither are those that came in by a merge.
    """
    if base is None or not head or base == head:
        return ()
    ask = (*_LOG, "--first-parent", f"--max-count={KEPT}", head)
    found = git.ask(*ask, f"^{base}", "--") if base else git.ask(*ask, "--")
    if found.status:
        # The commit last seen is gone: of the way from there only its end is known.
        found = git.ask(*_LOG, "--max-count=1", head, "--")
    lines = _lines(found.stdout)
    return tuple(Commit(sha, told.subject) for sha, told in reversed(lines.items()) if told.time >= since)


def _is_just_made(entry: Entry, told: _Told | None) -> bool:
    return told is not None and 0 <= entry.time - told.time <= _MOMENT


def _told(git: Git, shas: tuple[str, ...]) -> dict[str, _Told]:
    """Return time and first line of every commit that is there, in one question."""
    if not shas:
        return {}
    arguments = ("--no-walk=unsorted", "--ignore-missing", "--stdin")
    return _lines(git.ask(*_LOG, *arguments, stdin="\n".join(shas) + "\n").stdout)


def _lines(output: str) -> dict[str, _Told]:
    found = (_LINE.fullmatch(line) for line in output.split("\n"))
    return {line[1]: _Told(int(line[2]), line[3]) for line in found if line}
