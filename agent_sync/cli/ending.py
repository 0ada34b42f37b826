"""Ends a command: what it left to do, the errors that stopped it, and the exit code; without click, for short ones."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from agent_sync.errors import AgentSyncError, Exit

if TYPE_CHECKING:
    from agent_sync.cli.json_reply import JsonReply

_STEERING = dict.fromkeys((*range(32), *range(127, 160))) | {ord(kept): kept for kept in "\n\t"}
_left_to_do: list[Callable[[], None]] = []


def call_at_end(function: Callable[[], None]) -> None:
    """Have a function called when the command has done its work, or has failed."""
    _left_to_do.append(function)


def say(text: str, *, is_note: bool = False, end: str = "\n") -> None:
    """Print a line at once, notes on standard error; what the stream's encoding lacks is printed as an escape."""
    stream, text = sys.stderr if is_note else sys.stdout, harmless(text)
    try:
        stream.write(text + end)
    except UnicodeEncodeError:
        stream.write(text.encode(stream.encoding, "backslashreplace").decode(stream.encoding) + end)
    stream.flush()


def harmless(text: str) -> str:
    """Return a text without the characters that steer a terminal: names come from whatever is checked out."""
    return text.translate(_STEERING)


def run_and_leave(command: Callable[[], object], reply: "JsonReply | None" = None) -> NoReturn:
    """Run a command and leave with its exit code; as JSON, where a reply collects what it says."""
    if reply:
        with reply:
            status, error = _outcome(command)
        reply.tell(status, error)
    else:
        status, error = _outcome(command)
        if error:
            from agent_sync.cli.failures import tell

            tell(error)
    sys.exit(status)


def _outcome(command: Callable[[], object]) -> tuple[int, AgentSyncError | None]:
    """Return the exit code of a command, and the error that ended it."""
    try:
        try:
            status = command()
        finally:
            while _left_to_do:
                _left_to_do.pop()()
    except BrokenPipeError:
        # The reader has seen enough; without this the interpreter complains at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return Exit.OK, None
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  # the last resort writes a report instead of a trace
        from agent_sync.cli.failures import as_our_error

        ours = as_our_error(error)
        return ours.exit_status, ours
    return (status if isinstance(status, int) else Exit.OK), None
