"""`agent-sync help`: the pages of commands, the list of all commands, exit codes and error codes."""

import click

from agent_sync.cli.table import everything
from agent_sync.cli.trouble import WHAT_HELPS
from agent_sync.errors import AgentSyncError, Exit

EXIT_CODES = "exit-codes"


@click.command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND...|exit-codes|ERROR]")
@click.option("--all", "is_all", is_flag=True, help="List every command, including the hooks of Claude Code.")
@click.pass_context
def command(ctx: click.Context, *, words: tuple[str, ...], is_all: bool) -> None:
    """Show the help of a command, the exit codes, or what an error code means.

    \b
    Examples:
      agent-sync help --all
      agent-sync help worker pause
      agent-sync help exit-codes
      agent-sync help not-signed-in
    """
    root = ctx.find_root()
    if is_all:
        click.echo(_listing(root))
    elif words == (EXIT_CODES,):
        click.echo("\n".join(exit_code_lines()))
    elif len(words) == 1 and words[0] in (errors := errors_by_code()):
        click.echo(_error_page(errors[words[0]]))
    else:
        click.echo(_page(root, words))


def exit_code_lines() -> list[str]:
    """Return one line for every exit code."""
    return [f"{code.value:>3}  {code.name.lower().replace('_', ' '):<12} {code.meaning}" for code in Exit]


def write_sections(formatter: click.HelpFormatter, sections: dict[str, list[tuple[str, str]]]) -> None:
    """Write a list of commands, all sections with the same columns."""
    width = max(len(name) for rows in sections.values() for name, _ in rows)
    for section, rows in sections.items():
        with formatter.section(section):
            formatter.write_dl([(name.ljust(width), line) for name, line in rows])


def _listing(root: click.Context) -> str:
    formatter = root.make_formatter()
    write_sections(formatter, everything())
    return formatter.getvalue().strip("\n")


def _page(ctx: click.Context, words: tuple[str, ...]) -> str:
    """Return the page of the command that the words lead to."""
    for word in words:
        group = ctx.command
        found = group.get_command(ctx, word) if isinstance(group, click.Group) else None
        if found is None:
            known = group.list_commands(ctx) if isinstance(group, click.Group) else []
            raise click.exceptions.NoSuchCommand(word, possibilities=known, ctx=ctx)
        ctx = click.Context(found, info_name=word, parent=ctx)
    return ctx.command.get_help(ctx)


def errors_by_code(kind: type[AgentSyncError] = AgentSyncError) -> dict[str, type[AgentSyncError]]:
    """Return every error below `kind` by its code."""
    found = {kind.code: kind}
    for below in kind.__subclasses__():
        found = errors_by_code(below) | found
    return found


def _error_page(kind: type[AgentSyncError]) -> str:
    meaning = (kind.__doc__ or "").strip()
    exit_code = f"Exit code: {kind.exit_status.value} ({kind.exit_status.meaning})"
    return f"error[{kind.code}]: {meaning}\n{exit_code}\nWhat helps: {WHAT_HELPS[kind.code]}"
