"""`agent-sync step`: moves the present step of a task by hand."""

import sys
from collections.abc import Callable
from datetime import datetime

import click

from agent_sync.cli.here import context_here
from agent_sync.cli.record.recorded import record_here, tell_standing
from agent_sync.errors import BadInput
from agent_sync.record import keep as recording
from agent_sync.record.machine import by_hand
from agent_sync.record.machine.model import Record

Change = Callable[[Record, datetime], Record]


@click.group("step")
def command() -> None:
    """Report progress on the current step: start, output, done, fail."""


@command.command("start")
@click.option("--prompt", default="", help="What was asked for; kept in the record.")
def start(*, prompt: str) -> None:
    """Start the pending step.

    \b
    Example:
      agent-sync step start --prompt "find out why the parser crashes"
    """
    _change_step(lambda record, now: by_hand.with_step_started(record, prompt, now))


@command.command("output")
@click.argument("text")
def output(*, text: str) -> None:
    """Save the output of the step (`-` reads standard input); validation comes next.

    \b
    Examples:
      agent-sync step output "added the missing check"
      tail -n 20 notes.txt | agent-sync step output -
    """
    given = sys.stdin.buffer.read().decode("utf-8", "replace") if text == "-" else text
    if not given.strip():
        raise BadInput("The output is empty.", helps="agent-sync step output --help")
    _change_step(lambda record, now: by_hand.with_output_given(record, given, now))


@command.command("done")
def done() -> None:
    """Complete the running step without a validation; the next one is pending, or the task is completed.

    \b
    Example:
      agent-sync step done
    """
    _change_step(by_hand.with_step_done, completes=True)


@command.command("fail")
@click.option("--reason", default="", help="Why; kept in the history.")
def fail(*, reason: str) -> None:
    """Fail this attempt: the step can be tried again; after the last attempt the task fails.

    \b
    Example:
      agent-sync step fail --reason "wrong approach"
    """
    _change_step(lambda record, now: by_hand.with_step_failed(record, reason, now))


def _change_step(change: Change, *, completes: bool = False) -> None:
    context = context_here()
    record_here(context)
    record = recording.work(context, change, completes=completes)
    if record:
        tell_standing(record)
