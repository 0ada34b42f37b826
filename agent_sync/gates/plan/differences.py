"""Patches between two trees, file by file: what a reviewer reads, and which lines it may speak about."""

from collections.abc import Iterable
from functools import cached_property
from threading import Lock

from agent_sync.errors import GitFailed
from agent_sync.gates.plan.repo import Repo
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.system import git_tree

_NAME = pattern(r"[0-9a-f]{40,64}")
_HUNK = pattern(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True)
class FilePatch:
    """What changed in one file."""

    path: str
    text: str

    @cached_property
    def added(self) -> frozenset[int]:
        """The numbers of the lines that were added or edited."""
        found: set[int] = set()
        number = 0
        for line in self.text.split("\n"):
            hunk = _HUNK.match(line)
            if hunk:
                number = int(hunk[1])
            elif number and line.startswith("+"):
                found.add(number)
                number += 1
            elif number and line.startswith(" "):
                number += 1
        return frozenset(found)


@dataclass(frozen=True)
class Patch:
    """What changed in some files."""

    files: tuple[FilePatch, ...] = ()

    def of(self, paths: Iterable[str]) -> "Patch":
        """Return the part about some files."""
        wanted = frozenset(paths)
        return Patch(tuple(file for file in self.files if file.path in wanted))

    @property
    def paths(self) -> frozenset[str]:
        """The files that changed."""
        return frozenset(file.path for file in self.files)

    @property
    def text(self) -> str:
        """The patch as one text."""
        return "".join(file.text for file in self.files)

    def has_line(self, path: str, line: int) -> bool:
        """Tell whether a line was added or edited."""
        return any(file.path == path and line in file.added for file in self.files)


class Differences:
    """The patches of one run, made when first asked for: the whole work, and what came since the last run."""

    def __init__(self, repo: Repo, before: str, after: str, variables: dict[str, str]) -> None:
        self.after = after
        self._repo = repo
        self._before = before
        self._variables = variables
        self._lock = Lock()
        self._made: dict[str, Patch | None] = {}

    def whole(self) -> Patch:
        """Return everything the work changed."""
        patch = self._patch(self._before)
        if patch is None:
            raise GitFailed(f"the tree {self._before[:12]} is not there", attempted="comparing what changed")
        return patch

    def since(self, tree: str) -> Patch | None:
        """Return what changed since an earlier look; None where that tree is not kept any more."""
        return self._patch(tree)

    def _patch(self, before: str) -> Patch | None:
        with self._lock:
            if before not in self._made:
                self._made[before] = self._read(before)
            return self._made[before]

    def _is_there(self, tree: str) -> bool:
        return git_tree.has_tree(self._repo.git, tree, self._variables)

    def _read(self, before: str) -> Patch | None:
        if not _NAME.fullmatch(before) or not self._is_there(before):
            return None
        names = self._repo.changed(before, self.after, self._variables)
        texts = _sections(self._repo.patch(before, self.after, self._variables))
        return Patch(tuple(FilePatch(name, text) for name, text in zip(names, texts, strict=True)))


def _sections(patch: str) -> list[str]:
    """Cut a patch at the lines that begin a file; no line of content can look like one."""
    sections: list[list[str]] = []
    for line in patch.split("\n"):
        if line.startswith("diff --git "):
            sections.append([])
        if sections:
            sections[-1].append(line)
    texts = ["\n".join(lines) for lines in sections]
    return [text if text.endswith("\n") else text + "\n" for text in texts]
