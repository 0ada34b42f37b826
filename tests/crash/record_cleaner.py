"""A process that deletes what is due in one workspace, and can be traced and killed."""

import sys
from datetime import timedelta
from pathlib import Path

from support.record_directories import read
from support.records import NOW

from agent_sync.record.disk.cleanup import clean, due, records_in, uniform_retention

if __name__ == "__main__":
    now, retention = NOW + timedelta(days=100), uniform_retention(timedelta(days=1))
    clean(due(records_in([Path(sys.argv[1])], read), now, retention), read, now, retention)
