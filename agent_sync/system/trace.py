"""Tells what leaves this process, for `--debug`: programs that are run and requests that are sent."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_sinks: list[Callable[[str], None]] = []


def trace_to(sink: Callable[[str], None]) -> None:
    """Tell everything from now on; a second wish for it changes nothing."""
    _sinks[:] = [sink]


def is_traced() -> bool:
    """Tell whether anybody listens."""
    return bool(_sinks)


@contextmanager
def traced(what: str) -> Iterator[None]:
    """Tell that something was done, how long it took and, where it was not done, what came instead."""
    if not _sinks:
        yield
        return
    began, ended = time.perf_counter(), "ok"
    try:
        yield
    except BaseException as error:
        ended = type(error).__name__
        raise
    finally:
        _sinks[0](f"{what} ({ended}, {round((time.perf_counter() - began) * 1000)} ms)")
