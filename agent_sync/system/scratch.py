"""Files without a name, for what a process reads or writes."""

from typing import IO


def scratch_file() -> IO[bytes]:
    """Return a file that is gone when it is closed; what makes it loads only now, because few events need one."""
    import tempfile

    return tempfile.TemporaryFile()
