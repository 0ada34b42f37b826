"""Reads and writes `.agent-claim.json` while the agent's editor, which takes no lock, may do the same."""

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agent_sync.errors import BadClaim, ClaimGone, ClaimUnsafe, WrongState
from agent_sync.quiet import answer as quiet
from agent_sync.system import files
from agent_sync.system.disk import AfterPowerCut
from agent_sync.system.files import LockToken
from agent_sync.task.claim.model import Claim, parse
from agent_sync.task.claim.phases import Phase
from agent_sync.worktree import Place

LOCK_WAIT = 5.0
# An editor that truncates and rewrites in place is caught half-way for a moment at most.
_SECOND_LOOKS = 3
_LOOK_PAUSE = 0.03


# Kept by agent-sync alone: someone else's edit can reset them, never invent a value.
RESET_ONLY = frozenset(
    {"last_synced_status", "not_before", "refused_status", "refused_at", "checks", "feedback", "withheld"}
)
# A field that is none of ours may be taken out of the file altogether.
_ABSENT = object()


class ClaimStore:
    """The claim file of one worktree, and the copy of what was last written to it.

    `is_tracked` asks git whether the file came, or could come, with a checkout: then it is not the user's own word.
    """

    def __init__(self, place: Place, is_tracked: Callable[[], bool]) -> None:
        self.file = Path(place.claim_file)
        self._base = Path(place.state_dir) / "claim.base.json"
        self._lock = Path(place.state_dir) / "claim.lock"
        self._index_lock = Path(place.git_dir) / "index.lock"
        self._is_tracked = is_tracked
        # How the file lay when git was last asked about it, and what followed.
        self._asked = ""
        # The last contents that were parsed: files are read each time, and parsed where they differ.
        self._parsed: dict[bytes, Claim] = {}
        self.refusal: ClaimUnsafe | None = None

    def read(self) -> Claim | None:
        """Return the claim as it stands, an edit on stale content repaired; None where there is none."""
        found = self._on_disk()
        if found is None:
            return None
        written = self._last_written()
        if written is None or not is_same_task(written, found):
            return _with_consent(found, None)
        return _with_consent(merged_claim(base=written, theirs=found, ours=written), written)

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
            raise WrongState(f"{self.file.name} is already there.", helps="agent-sync status")
        if self._is_tracked():
            raise tracked_refusal(self.file.name)
        self._write(token, claim)

    def save(self, token: LockToken, *, seen: Claim, changed: Claim) -> Claim:
        """Write what `seen` became, keeping what someone else wrote meanwhile; return what is now in the file."""
        token.proven(self._lock)
        now = self.read()
        if now is None or not is_same_task(seen, now):
            message = f"{self.file.name} was deleted or replaced meanwhile."
            raise ClaimGone(message, attempted=f"recording phase {changed.phase}", helps="agent-sync status")
        result = merged_claim(base=seen, theirs=now, ours=changed)
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
        # The copy goes second: a crash between the two looks like an edit, and the newer file wins, consent apart.
        # A power cut may leave the copy before it, which comes to the same.
        files.write_atomic(self.file, content, mode=files.REPOSITORY)
        self._asked, self.refusal = quiet.state_of(str(self.file)), None
        files.write_atomic(self._base, content, after_cut=AfterPowerCut.EITHER)

    def _on_disk(self) -> Claim | None:
        for look in range(_SECOND_LOOKS):
            content = self._content()
            if content is None:
                return None
            try:
                self._refuse_tracked(content)
                return self._claim_in(content, self.file)
            except ClaimUnsafe:
                raise
            except BadClaim:
                if look == _SECOND_LOOKS - 1:
                    raise
                time.sleep(_LOOK_PAUSE)
        raise AssertionError

    def _claim_in(self, content: bytes, file: Path) -> Claim:
        claim = self._parsed.get(content) or parse(content, file=file.name)
        # The file and its copy, each at most; both are the same but after somebody else's edit.
        self._parsed = dict([*self._parsed.items(), (content, claim)][-2:])
        return claim

    def _content(self) -> bytes | None:
        try:
            return files.read_own(self.file)
        except files.NotPlain as reason:
            message = f"{self.file.name} is refused: {reason}."
            raise ClaimUnsafe(message, helps="replace it by a plain file of your own") from reason

    def _refuse_tracked(self, content: bytes) -> None:
        """Stop at a file that a checkout brings; the same file is asked about once."""
        lies = quiet.state_of(str(self.file))
        if lies != self._asked:
            self._wait_for_checkout(content)
            self.refusal = tracked_refusal(self.file.name) if self._is_tracked() else None
            self._asked = lies
        if self.refusal:
            raise self.refusal

    def _wait_for_checkout(self, content: bytes) -> None:
        """Let a checkout end: it writes the files first and the index last, and holds this lock meanwhile."""
        if self._index_lock.exists() and content != self._copy():
            message = f"git is changing files here ({self._index_lock}), so {self.file.name} was not read."
            raise BadClaim(message, helps="agent-sync status, once git has finished or its stale lock is removed")

    def _copy(self) -> bytes | None:
        try:
            return files.read_own(self._base)
        except files.NotPlain:
            return None

    def _last_written(self) -> Claim | None:
        """Return the copy; one that cannot be used is as good as none."""
        content = self._copy()
        with contextlib.suppress(BadClaim):
            return None if content is None else self._claim_in(content, self._base)
        return None


def tracked_refusal(name: str, *, where: str = "git tracks it", first: str = "") -> ClaimUnsafe:
    """Return the refusal of a claim file that git has, with the way out."""
    message = f"{name} is refused: {where}, so it may be anybody's. Nothing was done for it."
    helps = f"{first}git rm {name} and git commit; with --cached to keep a file that you wrote yourself"
    return ClaimUnsafe(message, helps=helps)


def _with_consent(claim: Claim, written: Claim | None) -> Claim:
    """Return the claim with the consent that a command of ours has recorded; the file's own word for it is none."""
    is_given = written is not None and written.phase is Phase.DONE and written.close_unmerged
    return claim if claim.close_unmerged == is_given else claim.model_copy(update={"close_unmerged": is_given})


def is_same_task(one: Claim, other: Claim) -> bool:
    """Tell whether two claims are versions of one, so that they may be merged."""
    return (one.issue_number, one.agent_id) == (other.issue_number, other.agent_id)


def merged_claim(*, base: Claim, theirs: Claim, ours: Claim) -> Claim:
    """Return the claim that keeps both sides' changes since `base`."""
    sides = [claim.model_dump() for claim in (base, theirs, ours)]
    fields = dict.fromkeys(key for side in sides for key in side)
    result = {key: _field(key, *(side.get(key, _ABSENT) for side in sides)) for key in fields}
    return Claim.model_validate({key: value for key, value in result.items() if value is not _ABSENT})


def _field(key: str, base: Any, theirs: Any, ours: Any) -> Any:
    if theirs == base:
        return ours
    if key == "lease":
        return _lease(theirs, ours)
    if key == "pr_number":
        # An editor that wrote stale content back has not made the pull request vanish.
        return theirs if theirs is not None else ours
    if key == "last_check_poll":
        # A person's word on when to look again counts, until the next look.
        return theirs if ours == base else ours
    if key in RESET_ONLY:
        return theirs if theirs is None and ours == base else ours
    # What someone wrote by hand stands, the phase first of all: it is how people and agents speak to us.
    return theirs


def _lease(theirs: Any, ours: Any) -> Any:
    """Return the later word on the same holding; an editor can neither take a lease out nor put in another."""
    if ours is None:
        return theirs
    if not isinstance(theirs, dict) or theirs["nonce"] != ours["nonce"]:
        return ours
    return max(ours, theirs, key=lambda lease: (bool(lease["lost_to"]), bool(lease["left_on"]), lease["renewed_at"]))
