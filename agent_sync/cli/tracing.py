"""Shows what leaves this process, for `--debug`: programs that are run and requests that are sent."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from agent_sync.gateway.transport.line import Counter
from agent_sync.system.masking import masked
from agent_sync.system.processes import Processes


def trace_on_stderr() -> None:
    """Show every program and request from now on as a line on standard error."""
    Processes.around = Counter.around = _traced


def is_traced() -> bool:
    """Tell whether that was asked for."""
    return Processes.around is _traced


@contextmanager
def _traced(what: str) -> Iterator[None]:
    """Say what was done, how long it took and, where it was not done, what came instead."""
    began, ended = time.perf_counter(), "ok"
    try:
        yield
    except BaseException as error:
        ended = type(error).__name__
        raise
    finally:
        took = round((time.perf_counter() - began) * 1000)
        click.echo(f"debug: {masked(what)} ({ended}, {took} ms)", err=True)
