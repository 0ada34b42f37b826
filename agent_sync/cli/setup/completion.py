"""`agent-sync completion`: print the script that completes commands and options in a shell."""

import click
from click.shell_completion import get_completion_class

VARIABLE = "_AGENT_SYNC_COMPLETE"
SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, *, shell: str) -> None:
    """Print the script that completes commands and options in SHELL.

    \b
    Examples:
      agent-sync completion bash > ~/.local/share/bash-completion/completions/agent-sync
      agent-sync completion zsh > ~/.zfunc/_agent-sync
      agent-sync completion fish > ~/.config/fish/completions/agent-sync.fish
    """
    found = get_completion_class(shell)
    assert found is not None  # noqa: S101  # click knows these three
    click.echo(found(ctx.find_root().command, {}, "agent-sync", VARIABLE).source())
