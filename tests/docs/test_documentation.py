"""The pages show what happens: their commands are run, their links lead somewhere, every command they name exists."""

import re
import sys
from pathlib import Path

import click
import pytest

from agent_sync.cli.app import app
from agent_sync.cli.help import errors_by_code
from agent_sync.cli.table import HOOK_COMMANDS
from agent_sync.cli.trouble import WHAT_HELPS

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "docs"))

import play  # noqa: E402

PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts)
PLAYED = [page for page in PAGES if play.is_played(page.read_text(encoding="utf-8"))]
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
# What somebody is told to type: code of one line, or a line behind a prompt.
_COMMAND = re.compile(r"(?:`|^\$ )agent-sync ((?:[a-z][a-z-]* ?)+)((?:--[a-z-]+)?)", re.MULTILINE)


def name_of(page):
    """Return how a page is called in the repository."""
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PLAYED, ids=name_of)
def test_commands_print_what_the_page_shows(page):
    """Whoever types the commands of the page, one after the other, sees what it shows."""
    for block in play.played(page.read_text(encoding="utf-8")):
        for command, printed in block:
            assert play.comparable(printed) == play.comparable(command.shown), command.typed


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=name_of)
def test_inner_links_lead_somewhere(page):
    """Every link to a file or a heading of this repository has a target."""
    text = page.read_text(encoding="utf-8")
    inner = [link for link in _LINK.findall(text) if not re.match(r"[a-z]+:", link)]
    assert [link for link in inner if not is_target(page, link)] == []


def is_target(page, link):
    """Whether the file of a link exists, and has the heading that is named."""
    name, _, heading = link.partition("#")
    file = (page.parent / name).resolve() if name else page
    if not file.exists() or not heading:
        return file.exists()
    titles = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return heading in {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=name_of)
def test_commands_and_options_exist(page):
    """A command that a page names exists, and so does the option behind it."""
    named = {found.groups() for found in _COMMAND.finditer(page.read_text(encoding="utf-8"))}
    assert [" ".join(words).strip() for words in sorted(named) if not exists(*words)] == []


def exists(words, option):
    """Whether the words lead to a command that has the option; what follows a command are its arguments."""
    if words.split()[0] in HOOK_COMMANDS:
        # Claude Code types these; their options are not click's.
        return True
    command, context = app, click.Context(app, info_name="agent-sync")
    for word in words.split():
        if not isinstance(command, click.Group):
            break
        try:
            command = command.get_command(context, word)
        except click.UsageError:
            return False
        if command is None:
            return False
        context = click.Context(command, info_name=word, parent=context)
    known = {name for parameter in command.get_params(context) for name in (*parameter.opts, *parameter.secondary_opts)}
    return not option or option in known


def test_every_setting_is_described():
    """No row of the settings' table is without its meaning."""
    rows = [
        line
        for line in (ROOT / "docs" / "settings.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    assert [row for row in rows if not row.rstrip("|").rpartition("|")[2].strip()] == []


def test_every_error_has_a_row_of_what_helps():
    """`agent-sync help CODE` knows each code, and no code that does not exist."""
    assert set(WHAT_HELPS) == set(errors_by_code())


def test_a_page_that_shows_something_else_is_noticed():
    """What a command does not print makes the comparison fail; a hash or a time does not."""
    text = "```console\n$ echo 3d5f1aa9 and words\nffffffff and words\n$ echo other\nsomething\n```\n"
    ((first, second),) = play.played(text)
    assert play.comparable(first[1]) == play.comparable(first[0].shown)
    assert play.comparable(second[1]) != play.comparable(second[0].shown)
