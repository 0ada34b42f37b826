"""Shows on a terminal that something is going on; a pipe sees nothing of it."""

import contextlib
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def working(doing: str) -> Iterator[None]:
    """Show what takes a moment, on stderr, for as long as it takes."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{doing} …"):
        yield
