"""Reads and writes `.agent-claim.json` while the agent's editor, which takes no lock, may do the same."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from agent_sync import files
from agent_sync.claim.merge import is_same_task, merged
from agent_sync.claim.model import Claim, parse
from agent_sync.errors import BadClaim, BadInput, ClaimGone, ClaimUnsafe
from agent_sync.files import LockToken
from agent_sync.place import Place

LOCK_WAIT = 5.0
# An editor that truncates and rewrites in place is caught half-way for a moment at most.
_SECOND_LOOKS = 3
_LOOK_PAUSE = 0.03


class ClaimStore:
    """The claim file of one worktree, and the copy of what was last written to it."""

    def __init__(self, place: Place) -> None:
        self.file = Path(place.claim_file)
        self._base = Path(place.state_dir) / "claim.base.json"
        self._lock = Path(place.state_dir) / "claim.lock"

    def read(self) -> Claim | None:
        """Return the claim as it stands, an edit on stale content repaired; None where there is none."""
        found = self._on_disk()
        if found is None:
            return None
        written = self._last_written()
        if written is None or not is_same_task(written, found):
            return found
        return merged(base=written, theirs=found, ours=written)

    def last_written(self) -> Claim | None:
        """Return what was last written here, even if the file has been lost since."""
        return self._last_written()

    @contextlib.contextmanager
    def locked(self) -> Iterator[LockToken]:
        """Hold the claim file against other agent-sync processes: the innermost lock, for one write."""
        with files.locked(self._lock, wait=LOCK_WAIT, doing=f"writing {self.file.name}") as token:
            yield token

    def create(self, token: LockToken, claim: Claim) -> None:
        """Write the first version; a claim that is already there is never overwritten."""
        token.proven(self._lock)
        if self.file.is_symlink() or self.file.exists():
            raise BadInput(f"{self.file.name} is already there.", helps="agent-sync status")
        self._write(token, claim)

    def save(self, token: LockToken, *, seen: Claim, changed: Claim) -> Claim:
        """Write what `seen` became, keeping what someone else wrote meanwhile; return what is now in the file."""
        token.proven(self._lock)
        now = self.read()
        if now is None or not is_same_task(seen, now):
            message = f"{self.file.name} was deleted or replaced meanwhile."
            raise ClaimGone(message, attempted=f"recording phase {changed.phase}", helps="agent-sync status")
        result = merged(base=seen, theirs=now, ours=changed)
        self._write(token, result)
        return result

    def delete(self, token: LockToken, expected: Claim) -> None:
        """Delete the file of this very task, then the copy; another task's, or one that is broken, is kept."""
        token.proven(self._lock)
        now = self.read()
        if now is not None and not is_same_task(now, expected):
            raise ClaimGone(f"{self.file.name} is about another task now.", helps="agent-sync status")
        files.delete(self.file)
        self._base.unlink(missing_ok=True)

    def _write(self, token: LockToken, claim: Claim) -> None:
        content = claim.to_json()
        files.sweep_temporaries(token, self.file)
        # The copy goes second: a crash between the two looks like an edit, and the newer file wins.
        files.write_atomic(self.file, content, mode=files.REPOSITORY)
        files.write_atomic(self._base, content)

    def _on_disk(self) -> Claim | None:
        for look in range(_SECOND_LOOKS):
            try:
                content = files.read_own(self.file)
                return None if content is None else parse(content, file=self.file.name)
            except files.NotPlain as reason:
                message = f"{self.file.name} is refused: {reason}."
                raise ClaimUnsafe(message, helps="replace it by a plain file of your own") from reason
            except BadClaim:
                if look == _SECOND_LOOKS - 1:
                    raise
                time.sleep(_LOOK_PAUSE)
        raise AssertionError

    def _last_written(self) -> Claim | None:
        """Return the copy; one that cannot be used is as good as none."""
        with contextlib.suppress(BadClaim, files.NotPlain):
            content = files.read_own(self._base)
            return None if content is None else parse(content, file=self._base.name)
        return None
