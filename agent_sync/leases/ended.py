"""Lists all claims, and remembers by its commit which of them has ended: what never changes is read once."""

import contextlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from agent_sync.leases.claim_refs import ClaimRef, known_refs, read_claims
from agent_sync.leases.model import LeaseState, Tip
from agent_sync.leases.refs.values import RefTransport, Where
from agent_sync.leases.results import EndedClaim, Listing, Unreadable
from agent_sync.system import files
from agent_sync.worktree import ENDED_CLAIMS, Place

# A hundred thousand claims; whatever is larger was not written by us.
_LARGEST = 16 << 20
_WORDS = 5


def list_claims(transport: RefTransport, place: Place) -> Listing:
    """Return all claims as this clone knows them; only commits that are new since the last time are read."""
    remembered = _remembered(place, transport.where)
    refs = known_refs(transport)
    found = read_claims(transport, [ref for ref in refs if ref not in remembered])
    tips = [one for one in found if isinstance(one, Tip)]
    fresh = [ended_claim(tip) for tip in tips if tip.lease.state is not LeaseState.HELD]
    ended = (*(remembered[ref] for ref in refs if ref in remembered), *fresh)
    if fresh:
        _remember(place, transport.where, ended)
    held = tuple(tip for tip in tips if tip.lease.state is LeaseState.HELD)
    return Listing(held, tuple(one for one in found if isinstance(one, Unreadable)), ended)


def ended_claim(tip: Tip) -> EndedClaim:
    """Return what is remembered of a claim that has ended."""
    lease = tip.lease
    return EndedClaim(lease.issue, tip.sha, lease.state, lease.nonce, lease.renewed_at, tip.where)


def _remember(place: Place, where: Where, ended: Iterable[EndedClaim]) -> None:
    """Write all of them down; where that cannot be, they are read again the next time."""
    lines = (f"{one.issue} {one.sha} {one.state} {one.nonce} {one.at.timestamp()}\n" for one in ended)
    with contextlib.suppress(OSError, files.NotPlain):
        files.write_atomic(files.state_directory(Path(place.shared_dir)) / _name(where), "".join(lines).encode())


def _remembered(place: Place, where: Where) -> dict[ClaimRef, EndedClaim]:
    try:
        text = (files.read_own(Path(place.shared_dir) / _name(where), largest=_LARGEST) or b"").decode()
    except (OSError, files.NotPlain, UnicodeDecodeError):
        return {}
    # An issue's name is part of the key: a commit that is put under another one is no claim of that.
    return {ClaimRef(one.issue, one.sha): one for one in _claims_in(text, where)}


def _claims_in(text: str, where: Where) -> Iterator[EndedClaim]:
    for line in text.split("\n"):
        words = line.split(" ")
        with contextlib.suppress(ValueError, OverflowError):
            if len(words) == _WORDS and words[2] != LeaseState.HELD:
                issue, sha, state, nonce, at = words
                ended = datetime.fromtimestamp(float(at), UTC)
                yield EndedClaim(int(issue), sha, LeaseState(state), nonce, ended, where)


def _name(where: Where) -> str:
    return f"{ENDED_CLAIMS}{where}"
