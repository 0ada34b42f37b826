"""Files without a name, for what a process reads or writes."""

import os
from typing import IO


def scratch_file() -> IO[bytes]:
    """Return a file that is gone when it is closed."""
    # What `tempfile` does as well where it can be done, but that takes longer to load than most steps to work.
    try:
        options = os.O_RDWR | os.O_EXCL | os.O_TMPFILE
        return os.fdopen(os.open(os.environ.get("TMPDIR") or "/tmp", options, 0o600), "w+b")  # noqa: S108
    except (AttributeError, OSError):
        import tempfile

        return tempfile.TemporaryFile()
