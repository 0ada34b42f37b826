"""The pages show what happens: their commands are run, their links lead somewhere, every command they name exists."""

import contextlib
import json
import re
import socketserver
import sys
import threading
from pathlib import Path

import click
import pytest
from support.clients import Client, shared_nursery
from support.command import COVERAGE

from agent_sync.cli.app import app
from agent_sync.cli.help import errors_by_code
from agent_sync.cli.table import HOOK_COMMANDS
from agent_sync.cli.trouble import WHAT_HELPS
from agent_sync.emulator.server import running

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


# Pages that are played with the installed command itself: the tour, and one where output and errors take turns.
AS_INSTALLED = {"first-issue.md", "stuck-claim.md"}
# What is typed as `agent-sync` where everything is loaded already; standard input is what the shell reads.
PASSED_ON = """\
#!{python} -IS
import json, os, socket, sys
given = sys.stdin.read() if sys.argv[1:2] == ["on-stop"] else ""
asked = [os.getcwd(), dict(os.environ), sys.argv[1:], given]
with socket.socket(socket.AF_UNIX) as line:
    line.connect({line!r})
    with line.makefile("rw") as file:
        print(json.dumps(asked), file=file, flush=True)
        status, out, err = json.loads(file.readline())
sys.stderr.write(err)
sys.stdout.write(out)
sys.exit(status)
"""


class Typed(socketserver.StreamRequestHandler):
    """Runs a command that was typed, in a process of its own; the local GitHub is served from here."""

    def handle(self):
        """Answer with the exit status and what was printed."""
        directory, environment, arguments, given = json.loads(self.rfile.readline())
        if arguments[:3] == ["emulator", "serve", "--port"]:
            served = self.server.served.enter_context(running(port=int(arguments[3])))
            answer = (0, json.dumps({"url": served.url}) + "\n", "")
        else:
            # It stands for the shell, which lives on; a command may run another one meanwhile.
            client = self.server.idle.pop() if self.server.idle else Client(shared_nursery(), Path(directory))
            ran = client.do_there(Path(directory), environment, *arguments, stdin=given)
            self.server.idle.append(client)
            answer = (ran.status, ran.stdout, ran.stderr)
        self.wfile.write(json.dumps(answer).encode() + b"\n")


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """Have what is typed run where everything is loaded already."""
    line, program, environment = str(tmp_path / "line"), tmp_path / "bin" / "agent-sync", play._environment
    program.parent.mkdir()
    program.write_text(PASSED_ON.format(python=sys.executable, line=line))
    program.chmod(0o755)

    def with_program(home):
        found = environment(home)
        return found | {"PATH": f"{program.parent}:{found['PATH']}"}

    monkeypatch.setattr(play, "_environment", with_program)
    with contextlib.ExitStack() as served, socketserver.ThreadingUnixStreamServer(line, Typed) as server:
        server.served, server.idle = served, []
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield
        server.shutdown()
        thread.join()
        for client in server.idle:
            client.close()


@pytest.mark.parametrize("page", PLAYED, ids=name_of)
def test_commands_print_what_the_page_shows(page, request):
    """Whoever types the commands of the page, one after the other, sees what it shows."""
    if page.name not in AS_INSTALLED and not COVERAGE:
        request.getfixturevalue("loaded")
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
