"""Claims to test with."""

from datetime import UTC, datetime

from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)


def claim(phase: Phase = Phase.CODING, **fields: object) -> Claim:
    """Return a claim on issue 42 that is in step with its board."""
    values = {
        "schema_version": 1,
        "item_id": "PVTI_1",
        "issue_number": 42,
        "branch": "claude/fix-race-42",
        "agent_id": "octo-1738000000",
        "phase": phase,
        "summary": "Fix race condition in cache",
        "status": "In Progress",
        "pr_number": None,
        "last_check_poll": None,
        "last_synced_status": "In Progress",
    }
    return Claim.model_validate(values | fields)
