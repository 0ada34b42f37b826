"""The process that renews leases: started by a hook, printing nothing, waited for by nobody."""

import sys
import traceback

from agent_sync import settings as settings_file
from agent_sync.context import context_at
from agent_sync.errors import AgentSyncError
from agent_sync.events.parts.renewals import renew_due
from agent_sync.system import clock
from agent_sync.system.masking import Log
from agent_sync.worktree import worktree


def main(root: str, session_id: str = "") -> None:
    """Renew what is due in the clone of the worktree at `root`; trouble goes to the log, since nobody listens."""
    place = worktree(root)
    if place is None:
        return
    try:
        renew_due(context_at(place, settings_file.environment()), session_id=session_id)
    except Exception as error:  # noqa: BLE001  # whatever it was, the next hook tries again
        trace = None if isinstance(error, AgentSyncError) else traceback.format_exc()
        Log(place).write(clock.now(), "trouble", error=str(error), trace=trace, trigger="renewal")


if __name__ == "__main__":
    main(*sys.argv[1:3])
