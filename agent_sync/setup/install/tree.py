"""The files of a worktree that set-up reads and writes: plain files inside it, never through a link."""

import contextlib
import stat
from pathlib import Path

from agent_sync.errors import BadConfig
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import files

GIT = ".git/"


@dataclass(frozen=True)
class Tree:
    """One worktree, and the git directory that it shares: paths that begin with `.git/` lie there."""

    root: Path
    common: Path | None = None

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes, or None where there is none."""
        file = self._inside(path)
        try:
            return files.read_own(file)
        except files.NotPlain as reason:
            message = f"{path} is refused: {reason}. Nothing was written."
            raise BadConfig(message, helps="replace it by a plain file of your own") from reason

    def write(self, path: str, content: bytes) -> None:
        """Replace or make a file; it keeps its mode."""
        file = self._inside(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else files.REPOSITORY
        files.write_atomic(file, content, mode=mode)

    def delete(self, path: str) -> None:
        """Delete a file, and the directories that this leaves empty."""
        file = self._inside(path)
        files.delete(file)
        for directory in file.parents:
            if directory == self._base(path):
                break
            with contextlib.suppress(OSError):
                directory.rmdir()

    def _base(self, path: str) -> Path:
        return self.common if self.common and path.startswith(GIT) else self.root

    def _inside(self, path: str) -> Path:
        """Stop a directory of the path that is a link: what lies behind it is not this worktree's."""
        base = self._base(path)
        file = base / (path if base == self.root else path.removeprefix(GIT))
        link = next((parent for parent in file.parents if base in parent.parents and parent.is_symlink()), None)
        if link is not None:
            message = f"{link.relative_to(base)} is a symbolic link. Nothing was written."
            raise BadConfig(message, helps="replace it by a directory")
        return file
