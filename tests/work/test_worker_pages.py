"""The help pages of worker commands."""

import click
import pytest

from agent_sync.cli.work.worker import command


@pytest.mark.parametrize(
    "name", ["list", "status", "show", "sling", "take", "pause", "result", "cancel", "clear", "repair", "rescues"]
)
def test_help_has_an_example(name):
    """Every worker command has a help page with an example that names it."""
    context = click.Context(command, info_name="agent-sync worker")
    page = command.commands[name].get_help(click.Context(command.commands[name], info_name=name, parent=context))
    assert f"agent-sync worker {name}" in page.partition("Example")[2]
