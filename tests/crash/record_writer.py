"""A process that saves a record once each time it is told to, in a child that can be traced and killed."""

import sys
import traceback
from pathlib import Path

from support.stored_records import created_once, saved_once
from support.traced import serve

from agent_sync.errors import AgentSyncError

SAID_SO = 3
SAVES = {"create": created_once, "update": saved_once}


def write_once(directory: Path) -> int:
    """Save the record; tell a failure that was said clearly from any other."""
    try:
        SAVES[sys.argv[2]](directory)
    except AgentSyncError:
        return SAID_SO
    except BaseException:  # noqa: BLE001  # whatever it is, it must be seen as what it is
        traceback.print_exc()
        return 1
    return 0


serve(lambda: write_once(Path(sys.argv[1])))
