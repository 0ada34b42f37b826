"""Reads and writes one hook file so that its bytes and its mode can be given back."""

import stat
from pathlib import Path

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import files

_BYTES = ("utf-8", "surrogateescape")
NEW_MODE = 0o755


@dataclass(frozen=True)
class GitHook:
    """A hook as it is on disk; without content it is not there."""

    content: bytes | None
    mode: int = NEW_MODE

    @property
    def text(self) -> str:
        """The hook as text that can be turned back to the byte."""
        return (self.content or b"").decode(*_BYTES)

    @property
    def is_executable(self) -> bool:
        """Whether git runs it."""
        return bool(self.mode & stat.S_IXUSR)


def read(file: Path) -> GitHook:
    """Return the hook; a link, or what is not the user's own plain file, raises NotPlain."""
    content = files.read_own(file)
    return GitHook(None) if content is None else GitHook(content, stat.S_IMODE(file.stat().st_mode))


def write(file: Path, text: str, hook: GitHook) -> None:
    """Replace the hook; a new one gets the mode the user's umask leaves, an old one keeps its own."""
    files.write_atomic(file, text.encode(*_BYTES), mode=hook.mode)
    if hook.content is not None:
        file.chmod(hook.mode)
