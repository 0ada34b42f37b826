"""Gives every command the options that all of them have: `--json`, and `-v` or `--debug`."""

from collections.abc import Callable

import click

JSON, DEBUG = "--json", "--debug"
Callback = Callable[[click.Context, click.Parameter, bool], None]


def with_common_options(command: click.Command) -> click.Command:
    """Return the command, and all below it, with what it lacks of them."""
    names = {name for parameter in command.params for name in parameter.opts}
    if isinstance(command, click.Group):
        for below in command.commands.values():
            with_common_options(below)
    elif JSON not in names:
        command.params.append(_option([JSON], "What is said, as JSON.", _answer_as_json))
    if DEBUG not in names:
        command.params.append(_option(["-v", DEBUG], "Show the programs run and the requests sent.", _trace))
    return command


def _option(
    names: list[str], text: str, callback: Callable[[click.Context, click.Parameter, bool], None]
) -> click.Option:
    return click.Option(names, is_flag=True, is_eager=True, expose_value=False, help=text, callback=callback)


def _answer_as_json(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001  # click's signature
    # What the command line has begun to collect where `--json` is among the arguments.
    reply = ctx.find_root().obj
    if value and reply:
        reply.collect()


def _trace(_: click.Context, __: click.Parameter, value: bool) -> None:  # noqa: FBT001  # click's signature
    if value:
        from agent_sync.cli.tracing import trace_on_stderr

        trace_on_stderr()
