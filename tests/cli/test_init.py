"""`init` and `uninstall` as people run them, in repositories and homes of their own."""

import hashlib
import json
import os
import subprocess
import tomllib

import click
import pytest
from click.testing import CliRunner
from support.command import COMMAND, run

from agent_sync.cli.setup.init import _chosen
from agent_sync.emulator.server import running
from agent_sync.setup.install.plan import installation
from agent_sync.setup.install.record import InstallRecord
from agent_sync.setup.install.tree import Tree
from agent_sync.task.decision.tasks import BoardShape

WRITTEN = {
    ".agent-sync.toml",
    ".claude/commands/claim.md",
    ".claude/commands/done.md",
    ".claude/commands/handoff.md",
    ".claude/commands/task.md",
    ".claude/settings.json",
    ".gitignore",
}


def contents(root):
    """Return every file outside the git directory with its bytes."""
    files = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.relative_to(root).parts)
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


@pytest.fixture
def untidy(repo):
    """Put a settings file and ignore lines of somebody else into the repository."""
    (repo / ".claude").mkdir()
    text = '// ours\r\n{\r\n\t"hooks": {\r\n\t\t"Stop": [{"hooks": [{"type": "command", "command": "make"}]}], // x\r\n\t},\r\n}'
    (repo / ".claude/settings.json").write_bytes(text.encode())
    (repo / ".gitignore").write_bytes(b"build")
    return repo


def test_init_and_uninstall_leave_no_trace(untidy):
    """After both every file has the bytes it had, and there is no file more."""
    before = contents(untidy)
    assert run("init", "--yes", cwd=untidy).status == 0
    assert set(contents(untidy)) == WRITTEN
    assert contents(untidy)[".claude/settings.json"].startswith(before[".claude/settings.json"][:50])
    assert run("uninstall", "--yes", cwd=untidy).status == 0
    assert contents(untidy) == before
    assert "Nothing to do" in run("uninstall", cwd=untidy).stdout


def test_hooks_and_pages_are_left_to_the_plugin(repo, own_home):
    """Where the plugin is enabled only the rest is written, with a word on it; the options say otherwise, both ways."""
    (own_home / ".claude").mkdir()
    (own_home / ".claude" / "settings.json").write_text('{"enabledPlugins": {"agent-sync@agent-sync": true}}')
    done = run("init", "--yes", cwd=repo)
    assert "note: hooks and pages are left to the plugin agent-sync@agent-sync, enabled in ~/.claude" in done.stderr
    assert set(contents(repo)) == {".agent-sync.toml", ".claude/settings.json", ".gitignore"}
    assert set(json.loads(contents(repo)[".claude/settings.json"])) == {"permissions", "statusLine"}
    assert "Nothing to do" in run("init", cwd=repo).stdout
    assert run("init", "--yes", "--with-hooks", cwd=repo).status == 0
    assert set(contents(repo)) == WRITTEN
    run("uninstall", "--yes", cwd=repo)
    assert contents(repo) == {}
    (own_home / ".claude" / "settings.json").unlink()
    assert run("init", "--yes", "--settings-only", cwd=repo).status == 0
    assert not (repo / ".claude" / "commands").exists()


def test_second_init_has_nothing_to_do(repo):
    """Twice is once, and needs nobody to agree; the same in a clone, where nothing is remembered."""
    run("init", "--yes", cwd=repo)
    before = contents(repo)
    again = run("init", cwd=repo)
    assert (again.status, again.stdout) == (0, "Nothing to do: everything is set up.\n")
    assert contents(repo) == before
    (repo / ".git/agentsync/install.json").unlink()
    assert "Nothing to do" in run("init", cwd=repo).stdout
    run("uninstall", "--yes", cwd=repo)
    assert contents(repo) == {}


def test_dry_run_shows_and_writes_nothing(untidy):
    """A dry run shows every file as a diff."""
    before = contents(untidy)
    shown = run("init", "--dry-run", cwd=untidy)
    assert shown.status == 0
    assert "+++ b/.claude/commands/done.md" in shown.stdout
    assert '+\t\t"SessionStart": [' in shown.stdout
    assert "Nothing was written (--dry-run)." in shown.stdout
    assert contents(untidy) == before
    assert not (untidy / ".git/agentsync").exists()


@pytest.mark.parametrize("command", ["init", "uninstall"])
def test_without_terminal_nothing_is_asked(repo, command):
    """Without a terminal it takes --yes or --dry-run, and the exit status says so."""
    if command == "uninstall":
        run("init", "--yes", cwd=repo)
    before = contents(repo)
    asked = run(command, cwd=repo)
    assert asked.status == 2
    assert f"try: agent-sync {command} --yes, or agent-sync {command} --dry-run" in asked.stderr
    assert contents(repo) == before


def on_terminal(root, answer, *arguments, **environment):
    """Run the command on a terminal and type an answer."""
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [COMMAND, *arguments], cwd=root, stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ | environment
    ) as process:
        os.close(theirs)
        os.write(ours, answer.encode())
        shown = b""
        try:
            while chunk := os.read(ours, 65536):
                shown += chunk
        except OSError:
            pass
        os.close(ours)
    return process.returncode, shown.decode()


def test_terminal_is_asked(repo):
    """On a terminal the answer decides."""
    status, shown = on_terminal(repo, "n\n", "init")
    assert status == 0
    assert "Write these changes? [Y/n]" in shown
    assert contents(repo) == {}
    assert on_terminal(repo, "y\n", "init")[0] == 0
    assert set(contents(repo)) == WRITTEN


def test_taking_out_can_be_looked_at_and_refused(repo):
    """A dry run and a no leave everything as it is."""
    run("init", "--yes", cwd=repo)
    before = contents(repo)
    shown = run("uninstall", "--dry-run", cwd=repo)
    assert (shown.status, "--- a/.claude/settings.json" in shown.stdout) == (0, True)
    assert "Nothing was written." in on_terminal(repo, "n\n", "uninstall")[1]
    assert contents(repo) == before


@pytest.mark.parametrize("content", ["not json", "[1]", '{"hooks": 3}', '{"a": 1'])
def test_unusable_settings_are_left_alone(repo, content):
    """A settings file that cannot be merged into is named, and no file is written."""
    (repo / ".claude").mkdir()
    (repo / ".claude/settings.json").write_text(content)
    ran = run("init", "--yes", cwd=repo)
    assert ran.status == 1
    assert "error[bad-config]: .claude/settings.json" in ran.stderr
    assert contents(repo) == {".claude/settings.json": content.encode()}


def test_linked_settings_are_refused(repo, tmp_path):
    """Nothing is written through a link that leads out of the repository."""
    (tmp_path / "elsewhere").mkdir()
    (repo / ".claude").symlink_to(tmp_path / "elsewhere")
    assert "symbolic link" in run("init", "--yes", cwd=repo).stderr
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_without_token_there_is_a_template(repo):
    """Without a token the settings name the owner and say what to fill in."""
    subprocess.run(["git", "remote", "add", "origin", "git@github.com:acme/x.git"], cwd=repo, check=True)
    ran = run("init", "--yes", cwd=repo, PATH="/usr/bin:/bin")
    assert "the board was not looked up: There is no token for github.com" in ran.stderr
    assert tomllib.loads((repo / ".agent-sync.toml").read_text()) == {"project": {"owner": "acme"}}


def test_board_is_detected(repo):
    """With a token the owner, the board and its names are looked up."""
    with running() as server:
        remote = f"{server.url}/octo/demo.git"
        subprocess.run(["git", "remote", "add", "origin", remote], cwd=repo, check=True)
        assert run("init", "--yes", cwd=repo, AGENT_SYNC_GITHUB_URL=server.url).stderr == ""
    values = tomllib.loads((repo / ".agent-sync.toml").read_text())
    assert values["project"] == {"owner": "octo", "number": 1}
    assert values["board"]["in_review"] == "In Review"


def test_worktrees_share_the_memory(repo, tmp_path):
    """What was set up in one worktree can be taken out exactly in another that has the same files."""
    (repo / ".gitignore").write_bytes(b"x")
    run("init", "--yes", cwd=repo)
    for command in (["add", "-A"], ["commit", "-q", "-m", "Set up"], ["worktree", "add", "-q", str(tmp_path / "two")]):
        subprocess.run(["git", *command], cwd=repo, check=True)
    run("uninstall", "--yes", cwd=tmp_path / "two")
    assert contents(tmp_path / "two") == {".gitignore": b"x"}


def test_held_claim_is_mentioned(repo):
    """Taking agent-sync out leaves a claim where it is, and says so."""
    run("init", "--yes", cwd=repo)
    (repo / ".agent-claim.json").write_text("{}")
    assert "is still held here" in run("uninstall", "--yes", cwd=repo).stderr
    assert (repo / ".agent-claim.json").exists()


def test_hooks_of_the_written_file_run(repo):
    """Every command that was written runs in a shell and is silent in a repository without a claim."""
    run("init", "--yes", cwd=repo)
    values = json.loads((repo / ".claude/settings.json").read_text())
    handlers = [handler for groups in values["hooks"].values() for group in groups for handler in group["hooks"]]
    path = f"{os.path.dirname(COMMAND)}:{os.environ['PATH']}"  # noqa: PTH120  # as a shell's PATH has it
    for handler in [*handlers, values["statusLine"]]:
        done = subprocess.run(
            ["sh", "-c", handler["command"]], cwd=repo, input=b"{}", capture_output=True, env=os.environ | {"PATH": path},
            check=False, timeout=60,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_this_repository_uses_what_it_writes(request):
    """The project's own .claude is what `init` would write, and there is no gate configuration at its root."""
    root = request.config.rootpath
    plan = installation(Tree(root).read, InstallRecord(), str)
    assert [change.path for change in plan.changes if change.path != ".agent-sync.toml"] == []
    assert plan.notes == ()
    assert not (root / ".gauntlet").exists()


BOARDS = tuple(BoardShape("octo", number, f"Board {number}", "", ()) for number in (3, 4))


@pytest.mark.parametrize(
    ("boards", "may_ask", "typed", "number"),
    [
        ((), True, "", None),
        (BOARDS[:1], False, "", 3),
        (BOARDS, False, "", None),
        (BOARDS, True, "4\n", 4),
        (BOARDS, True, "9\n3\n", 3),
        (BOARDS, True, "none\n", None),
    ],
)
def test_choice_of_boards(boards, may_ask, typed, number):
    """One board is taken, several are asked about where somebody can answer, and none is ever guessed."""
    seen = []

    @click.command()
    def choose():
        seen.append(_chosen(boards, may_ask=may_ask))

    assert CliRunner().invoke(choose, input=typed).exit_code == 0
    assert [board.number if board else None for board in seen] == [number]


FORMER_PAGE = """\
---
# agent-sync init {digest}
description: Show the claim held in this worktree and its next step
allowed-tools: Bash(agent-sync status)
---
!`agent-sync status`

Show the human what stands above as it is.
"""


@pytest.mark.parametrize("command", ["init", "uninstall"])
@pytest.mark.parametrize("is_changed", [False, True], ids=["as written", "changed"])
def test_status_page_of_the_first_version(repo, command, is_changed):
    """`init` and `uninstall` delete the `/status` page that 0.1.0 wrote, and keep one that somebody changed."""
    digest = hashlib.sha256(FORMER_PAGE.replace("# agent-sync init {digest}\n", "").encode()).hexdigest()[:12]
    run("init", "--yes", cwd=repo)
    page = repo / ".claude/commands/status.md"
    page.write_text(FORMER_PAGE.format(digest=digest) + ("More.\n" if is_changed else ""))
    assert run(command, "--yes", cwd=repo).status == 0
    assert page.exists() == is_changed
    assert (repo / ".claude/commands/task.md").exists() == (command == "init")
