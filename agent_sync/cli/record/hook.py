"""`agent-sync record`: the recovery record of a task."""

import click

from agent_sync.cli.record import hook_care, hook_proof, hook_views, verify


@click.group("record")
def command() -> None:
    """Inspect, verify, recover and export the recovery record of a task."""


for _module in (hook_views, hook_proof, verify, hook_care):
    for _command in _module.COMMANDS:
        command.add_command(_command)
