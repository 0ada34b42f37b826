"""Says what went wrong in an event: once in a session, and an outage of GitHub once whatever it looks like."""

import traceback
from datetime import datetime
from pathlib import Path

from agent_sync.errors import AgentSyncError, GitHubDown
from agent_sync.system.disk import disk_trouble
from agent_sync.task.decision.notice import Notice


def trouble_text(error: Exception) -> str:
    """Return a sentence on an error; a surprise of our own is named by its place."""
    known = error if isinstance(error, AgentSyncError) else disk_trouble(error)
    if known:
        return f"agent-sync: {known}"
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno}"
    what = f"{type(error).__name__} at {where}"
    return f"agent-sync hit an unexpected error ({what}) and will retry at the next event. Try: agent-sync doctor"


def trouble_notice(error: Exception, session_id: str, now: datetime) -> Notice:
    """Return what the human is told of an error; where no session is known, it is news every time."""
    text = trouble_text(error)
    # A server that is away answers in ten ways; a write that may have been done is a thing of its own.
    is_outage = isinstance(error, GitHubDown) and not error.maybe_applied
    return Notice(f"trouble:{session_id or now.isoformat()}:{'outage' if is_outage else text}", text)
