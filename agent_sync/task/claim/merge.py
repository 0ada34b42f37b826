"""Decides, field by field, what a claim becomes when two sides changed it at the same time."""

from typing import Any

from agent_sync.task.claim.model import Claim

# Kept by agent-sync alone: someone else's edit can reset them, never invent a value.
RESET_ONLY = frozenset(
    {"last_check_poll", "last_synced_status", "not_before", "refused_status", "checks", "feedback", "withheld"}
)

# A field that is none of ours may be taken out of the file altogether.
_ABSENT = object()


def is_same_task(one: Claim, other: Claim) -> bool:
    """Tell whether two claims are versions of one, so that they may be merged."""
    return (one.issue_number, one.agent_id) == (other.issue_number, other.agent_id)


def merged(*, base: Claim, theirs: Claim, ours: Claim) -> Claim:
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
