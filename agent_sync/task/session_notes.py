"""Notes in which worktrees a session of Claude Code has claimed something, so that its hooks look after all of them."""

import contextlib
from collections.abc import Mapping
from pathlib import Path

from agent_sync.system import files
from agent_sync.worktree import MOST_PLACES, SESSION_NOTES_LOCK, Place, noted_roots, session_note

KEPT = 100
LOCK_WAIT = 5.0
SESSION_ID = "CLAUDE_CODE_SESSION_ID"


def note_session(place: Place, root: str, environment: Mapping[str, str]) -> bool:
    """Note that the session around this command works in `root`; tell whether it is known which session that is."""
    session = environment.get(SESSION_ID, "")
    path = session_note(place, session)
    if not path or "\n" in root:
        return False
    with files.locked(Path(place.shared_dir) / SESSION_NOTES_LOCK, wait=LOCK_WAIT, doing="noting a session's worktree"):
        roots = [*(one for one in noted_roots(place, session) if one != root), root][-MOST_PLACES:]
        files.state_directory(Path(path).parent)
        files.write_atomic(Path(path), "".join(f"{one}\n" for one in roots).encode(errors="surrogateescape"))
        _forget_oldest(Path(path).parent)
    return True


def _forget_oldest(directory: Path) -> None:
    """Keep the notes of the newest sessions only."""
    with contextlib.suppress(OSError):
        notes = sorted(directory.iterdir(), key=lambda note: note.stat().st_mtime, reverse=True)
        for note in notes[KEPT:]:
            note.unlink(missing_ok=True)
