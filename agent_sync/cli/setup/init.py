"""`agent-sync init`: set a repository up."""

from pathlib import Path

import click

from agent_sync import settings as settings_file
from agent_sync.cli.asking import ask_consent, is_terminal, show, tell_done
from agent_sync.cli.here import context_here, place_here
from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.settings.approvals import Approvals
from agent_sync.settings.loading import requests_in
from agent_sync.settings.problems import refuse_unknown
from agent_sync.settings.sources import parsed_toml
from agent_sync.setup.client.plugin import plugin_at
from agent_sync.setup.install import carry_out, record as records
from agent_sync.setup.install.entries import home_elsewhere
from agent_sync.setup.install.plan import Choice, InstallPlan, installation
from agent_sync.setup.install.starter import Findings, starter
from agent_sync.setup.install.tree import Tree
from agent_sync.system import clock
from agent_sync.task.contributing import looking_at_parent
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import BoardShape
from agent_sync.worktree import SETTINGS_NAME

NEXT = """\
Next:
  commit these files, so that they are there in every clone and worktree
  agent-sync doctor      checks everything
  agent-sync next        shows what is ready to be claimed
  agent-sync init --claude-md
                         sends agents that have lost their memory to the recovery record"""


@click.command("init")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--claude-md", is_flag=True, help="Add a section on task recovery to CLAUDE.md.")
@click.option(
    "--settings-only/--with-hooks",
    default=None,
    help="Leave hooks and pages to the plugin, or write them beside it. Default: as the plugin is enabled or not.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
def command(*, yes: bool, claude_md: bool, settings_only: bool | None, dry_run: bool) -> None:
    """Set this repository up: hooks, status line, permissions and command pages of Claude Code, settings, ignore lines.

    Merges into what is there and keeps every other byte of it; shows each file as a diff and asks before it writes.
    The board and its field names are looked up on GitHub where a token is found. Where the plugin of Claude Code is
    enabled, hooks and pages are the plugin's, and --settings-only is the default.

    \b
    Examples:
      agent-sync init
      agent-sync init --dry-run
      agent-sync init --yes --claude-md
      agent-sync init --settings-only
    """
    refuse_unknown(settings_file.load(place_here(), settings_file.environment()).unknown)
    context = context_here()
    tree, shared = Tree(Path(context.place.root)), Path(context.place.shared_dir)
    may_ask = not yes and not dry_run
    choice = Choice(
        with_hooks=_writes_hooks(context, settings_only=settings_only),
        with_claude_md=claude_md,
        atlas_home=home_elsewhere(context.environment),
    )
    plan = installation(tree.read, records.load(shared), lambda: starter(_findings(context, may_ask=may_ask)), choice)
    show(plan)
    if not plan.changes:
        click.echo("Nothing to do: everything is set up.")
    elif dry_run:
        click.echo("Nothing was written (--dry-run).")
    elif ask_consent("Write these changes?", yes=yes, command="agent-sync init"):
        carry_out.install(tree, shared, plan)
        _approve(context, plan)
        tell_done(plan)
        click.echo(NEXT)
    else:
        click.echo("Nothing was written.")


def _writes_hooks(context: Context, *, settings_only: bool | None) -> bool:
    """Tell whether hooks and pages are written, and say so where nobody has asked to leave them out."""
    if settings_only is not None:
        return not settings_only
    plugin = plugin_at(context.place, context.environment)
    if plugin:
        shown = one_line(f"{plugin.id}, enabled in {plugin.file}")
        click.echo(f"note: hooks and pages are left to the plugin {shown}; --with-hooks writes them, too", err=True)
    return plugin is None


def _approve(context: Context, plan: InstallPlan) -> None:
    """Approve the settings that were just written: whoever ran the command has seen them."""
    written = next((change.after for change in plan.changes if change.path == SETTINGS_NAME), None) or b""
    asked = requests_in(parsed_toml(written, file=SETTINGS_NAME), source=SETTINGS_NAME)
    Approvals(context.place).add(asked, clock.now())


def _findings(context: Context, *, may_ask: bool) -> Findings:
    """Return what GitHub says of the board; trouble is said and leaves a file to fill in."""
    owner = context.settings.project.owner
    try:
        owner = owner or _owner(context)
        context = looking_at_parent(context)
        owner = context.settings.project.owner or _owner(context)
        boards = context.gateway.boards()
    except AgentSyncError as error:
        click.echo(f"note: the board was not looked up: {error.happened}", err=True)
        boards = ()
    chosen = _chosen(boards, may_ask=may_ask and is_terminal())
    if chosen is None:
        click.echo("note: fill in project.number in .agent-sync.toml, or tasks have no board", err=True)
    return Findings(owner, chosen, boards)


def _owner(context: Context) -> str:
    from agent_sync.gateway.transport.address import address_of

    return address_of(context)[0].owner


def _chosen(boards: tuple[BoardShape, ...], *, may_ask: bool) -> BoardShape | None:
    if len(boards) == 1:
        return boards[0]
    if not boards or not may_ask:
        return None
    for board in boards:
        click.echo(f"  {board.number:>4}  {one_line(board.title)}  ({one_line(board.owner)})")
    by_number = {str(board.number): board for board in boards}
    answer = click.prompt("Which board are the tasks on?", type=click.Choice([*by_number, "none"]), show_choices=False)
    return by_number.get(answer)
