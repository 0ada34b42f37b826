"""The log directory: what files of a run are called, which there are, and whether the directory is ours at all."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from agent_sync.errors import BadConfig
from agent_sync.gates.plan.repo import Repo
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.system import disk, files
from agent_sync.system.disk import AfterPowerCut
from agent_sync.worktree import GATE_DIR

_ODD = pattern(r"[^A-Za-z0-9._-]")
_NUMBERED = pattern(r".*\.([0-9]+)\.(?:log|json)")
_REVIEW = pattern(r"review_.*_([A-Za-z0-9.-]+)@([0-9]+)\.([0-9]+)\.json")
_LOGS = frozenset({".log", ".json"})
# With suffixes a name must stay below what file systems take.
LONGEST = 160
REPORT = "report.txt"
MARKER = ".gitignore"
MARK = "# Logs of agent-sync's gates: they are moved and deleted.\n*\n"
# The second is what 0.1.0 wrote.
_MARKS = frozenset({MARK.encode(), b"*\n"})
# What runs of agent-gauntlet, which knows no mark, leave in its directory.
_OURS = pattern(
    r"(?:check|review)_.*\.[0-9]+\.(?:log|json)|console\.[0-9]+\.log|previous(?:\.[0-9]+)?"
    r"|\.execution_state|\.gauntlet-run\.lock|\.debug\.log(?:\.[0-9]+)?|\.session_ref|\.stop-hook-active|\.block-timestamps"
)


class SlotFile(NamedTuple):
    """One reviewer's findings of one run."""

    run: int
    adapter: str
    number: int
    path: Path


@dataclass(frozen=True)
class LogDir:
    """One project's log directory, which need not exist yet."""

    path: Path

    def make(self, repo: Repo) -> None:
        """Make the directory, invisible to git: logs are never part of the work; one that is not ours is refused."""
        if self._is_elsewhere():
            # Nothing is made or written there before it is refused.
            self.refuse_foreign(repo)
        if not self.path.is_dir():
            files.make_directory(self.path, mode=0o755)
        if not self._is_marked() and self._is_like_ours():
            # In one step: half a mark would make the directory a stranger's for good.
            files.write_atomic(self.path / MARKER, MARK.encode(), mode=0o644, after_cut=AfterPowerCut.EITHER)
        self.refuse_foreign(repo)

    def refuse_foreign(self, repo: Repo) -> None:
        """Stop before anything is written, moved or deleted in a directory that no run of the gates has made."""
        reason = self._why_foreign(repo)
        if reason:
            message = f"The log directory {self.path} is not one that agent-sync made: {reason}."
            raise BadConfig(message, helps=f"set `log_dir` in {GATE_DIR}/config.yml to a directory of its own")

    def _why_foreign(self, repo: Repo) -> str:
        if self._is_elsewhere():
            return "it is a symbolic link, or lies behind one"
        if not self.path.is_dir():
            return "it is not a directory"
        if not self._is_marked():
            return f"it has no {MARKER} of ours"
        return "git tracks files in it" if repo.tracks(self.path) else ""

    def _is_elsewhere(self) -> bool:
        return self.path.is_symlink() or self.path.resolve() != self.path

    def _is_marked(self) -> bool:
        try:
            return files.read_plain(self.path / MARKER) in _MARKS
        except (files.NotPlain, OSError):
            return False

    def _is_like_ours(self) -> bool:
        """Tell whether a directory without our mark is empty, or holds what runs leave and nothing else."""
        try:
            # A mark that was never finished goes when the next one is written.
            half = (path for path in self.path.glob(f"{MARKER}.*.tmp") if disk.is_ours(path))
            names = {path.name for path in self.path.iterdir()} - {path.name for path in half}
        except OSError:
            return False
        has_current = any(not name.startswith("previous") for name in names)
        return not names or (has_current and all(_OURS.fullmatch(name) for name in names))

    def current(self) -> list[Path]:
        """Return the files of runs since the last cleaning."""
        return sorted(path for path in self._entries() if self._is_log(path))

    def gate_logs(self) -> list[Path]:
        """Return what gates left, which is what makes the next run a second look."""
        return [path for path in self.current() if not path.name.startswith("console.") and path.suffix in _LOGS]

    def next_run(self) -> int:
        """Return the number of the next run."""
        return 1 + self.last_run()

    def last_run(self) -> int:
        """Return the highest number any file carries."""
        numbered = (_NUMBERED.fullmatch(path.name) for path in self.current())
        return max((int(found[1]) for found in numbered if found), default=0)

    def console(self, run: int) -> Path:
        """Return where the console's text of a run goes."""
        return self.path / f"console.{run}.log"

    def check(self, stem: str, run: int) -> Path:
        """Return where the output of a check goes."""
        return self.path / f"{stem}.{run}.log"

    def slot(self, stem: str, adapter: str, number: int, *, run: int) -> Path:
        """Return where one reviewer's findings go; its output has the suffix .log instead."""
        return self.path / f"{stem}_{adapter}@{number}.{run}.json"

    def slots(self, stem: str) -> list[SlotFile]:
        """Return every reviewer's findings kept for a review, oldest first."""
        found = []
        for path in self._entries():
            match = _REVIEW.fullmatch(path.name)
            if match and path.name == f"{stem}_{match[1]}@{match[2]}.{match[3]}.json":
                found.append(SlotFile(int(match[3]), match[1], int(match[2]), path))
        return sorted(found)

    def reviews(self) -> list[Path]:
        """Return the findings of all reviewers."""
        return sorted(path for path in self._entries() if _REVIEW.fullmatch(path.name))

    def _entries(self) -> Iterable[Path]:
        return [path for path in self.path.iterdir() if path.is_file()] if self.path.is_dir() else []

    @staticmethod
    def _is_log(path: Path) -> bool:
        return not path.name.startswith(".") and (path.suffix in _LOGS or path.name == REPORT)


def stems(ids: Iterable[str]) -> dict[str, str]:
    """Return the file name of every job, each its own even where odd characters were replaced."""
    found: dict[str, str] = {}
    for job_id in ids:
        plain = _ODD.sub("_", job_id)
        if len(plain) > LONGEST or plain in found.values():
            plain = f"{plain[:LONGEST]}-{hashlib.sha256(job_id.encode(errors='surrogateescape')).hexdigest()[:8]}"
        found[job_id] = plain
    return found
