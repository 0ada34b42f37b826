"""A terminal for acceptance tests: what a person sees there, and answers."""

import os
import pty
import signal
import subprocess
import sys

from support.stage import Theatre


def on_terminal(
    theatre: Theatre, *arguments: str, until: bytes = b"", status: int = 0, answer: str = "", columns: int = 100
) -> str:
    """Return what a person at a terminal sees until the command ends, or is interrupted after some text."""
    ours, theirs = pty.openpty()
    environment = theatre.stage.environment | {"TERM": "xterm", "COLUMNS": str(columns), "LINES": "40"}
    command = [sys.executable, "-m", "agent_sync", *arguments]
    typed = theirs if answer else None
    with subprocess.Popen(
        command, cwd=theatre.stage.root, env=environment, stdin=typed, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        if answer:
            os.write(ours, f"{answer}\n".encode())
        seen, is_interrupted = b"", False
        while chunk := _read(ours):
            seen += chunk
            if until and until in seen and not is_interrupted:
                process.send_signal(signal.SIGINT)
                is_interrupted = True
        assert process.wait() == status, seen
    os.close(ours)
    return seen.decode()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:
        # The other end is closed.
        return b""
