"""The help people read first, and the names that commands have had."""

import json
import re

import click
import pytest
from support.command import run

from agent_sync.cli.app import app
from agent_sync.cli.table import ALIASES, COMMANDS, HOOK_COMMANDS, SECTIONS, location
from agent_sync.errors import AgentSyncError, Exit

SECTION_NAMES = ["Daily", "Fleet", "Gates", "Record", "Work", "Set-up"]


def listed(text):
    """Return the commands under every heading of a help text."""
    found = {"": (rows := [])}
    for line in text.splitlines():
        if heading := re.fullmatch(r"(\S.*):", line):
            rows = found.setdefault(heading[1], [])
        elif row := re.match(r"  ([a-z][a-z-]*) +\S", line):
            rows.append(row[1])
    return found


def test_first_help_is_short(repo):
    """The first help starts with the five daily verbs and shows at most 20 commands in six sections."""
    found = listed(run("--help", cwd=repo).stdout)
    assert found["Daily"] == ["claim", "status", "handoff", "done", "release"]
    assert [name for name in found if name in SECTION_NAMES] == SECTION_NAMES
    assert sum(len(found[name]) for name in SECTION_NAMES) <= 20
    assert run("help", cwd=repo).stdout == run("--help", cwd=repo).stdout


def test_help_all_lists_everything(repo):
    """`help --all` lists every command once, and the hooks; aliases and commands for git are in no list."""
    found = [name for names in listed(run("help", "--all", cwd=repo).stdout).values() for name in names]
    assert sorted(found) == sorted([*COMMANDS, *HOOK_COMMANDS])
    assert not set(found) & {*ALIASES, "guard-push"}


def test_every_command_has_one_section():
    """Every command of the table is in exactly one section."""
    names = [name for shown, more in SECTIONS.values() for name in (*shown, *more)]
    assert sorted(names) == sorted(COMMANDS)


@pytest.mark.parametrize("words", ["claim", "worker pause", "gate run", "record verify-receipt", "on-stop"])
def test_help_of_a_command(repo, words):
    """`help COMMAND` prints what `COMMAND --help` prints."""
    shown = run("help", *words.split(), cwd=repo).stdout
    assert shown == run(*words.split(), "--help", cwd=repo).stdout
    assert shown.startswith(f"Usage: agent-sync {words} ")


def test_help_of_exit_codes(repo):
    """`help exit-codes` is the one list of exit codes."""
    lines = run("help", "exit-codes", cwd=repo).stdout.splitlines()
    assert [int(line.split()[0]) for line in lines] == [0, 1, 2, 3, 4, 5, 6, 8, 70, 130]
    assert [line.split()[1] for line in lines if line.split()[1] != "sign"] == [
        *("ok", "failed", "usage", "lost", "invalid", "missing", "pending", "unexpected", "interrupted")
    ]


def test_help_of_an_error(repo):
    """`help CODE` says what the code of an error message means, its exit code, and what helps."""
    shown = run("help", "not-signed-in", cwd=repo).stdout
    assert shown.splitlines() == [
        "error[not-signed-in]: There is no token, or GitHub does not accept it.",
        "Exit code: 4 (the token is missing, not accepted, or lacks a scope)",
        "What helps: `gh auth login --scopes project`, or set `GH_TOKEN`.",
    ]


def test_no_error_has_the_name_of_a_command():
    """A word after `help` means one thing: no error code is also a command."""
    pending = [AgentSyncError]
    while pending:
        kind = pending.pop()
        pending += kind.__subclasses__()
        assert not location(kind.code)
        assert isinstance(kind.exit_status, Exit)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("clami 42", "claim"), ("recrod status", "record"), ("help dotcor", "doctor"), ("worker puase", "pause")],
)
def test_mistyped_command(repo, typed, meant):
    """A mistyped command is a usage error that names the nearest command."""
    done = run(*typed.split(), cwd=repo)
    assert (done.status, done.stdout) == (2, "")
    assert f"Did you mean {meant!r}?" in done.stderr


@pytest.mark.parametrize(
    ("former", "name"), [("gauntlet", "gate"), ("hook", "record"), ("worker handoff", "worker pause")]
)
def test_former_names_work_and_are_hidden(repo, former, name):
    """The names of 0.1.0 lead to the same commands as the new ones, and no help lists them."""
    old, new = (run(*words.split(), "--help", cwd=repo) for words in (former, name))
    assert (old.status, old.stdout) == (0, new.stdout.replace(f"agent-sync {name} [", f"agent-sync {former} ["))
    group, _, last = former.rpartition(" ")
    assert last not in listed(run(*group.split(), "--help", cwd=repo).stdout).get("Commands", [])


@pytest.mark.parametrize("group", ["gate", "gauntlet"])
def test_stop_hook_by_both_names(repo, group):
    """The stop gate answers with its one line under either name of the group."""
    done = run(group, "stop-hook", cwd=repo, stdin="{}")
    assert (done.status, json.loads(done.stdout)["status"]) == (0, "no_config")


def test_every_page_uses_the_new_names():
    """No help page mentions a former name of a command."""

    def pages(command, context):
        yield command.get_help(context)
        for name in command.list_commands(context) if isinstance(command, click.Group) else ():
            below = command.get_command(context, name)
            if not below.hidden:
                yield from pages(below, click.Context(below, info_name=name, parent=context))

    text = "\n".join(pages(app, click.Context(app, info_name="agent-sync")))
    assert re.findall(r"agent-sync (?:hook|gauntlet|worker handoff)\b", text) == []


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("claim --nxt", "No such option '--nxt'. Did you mean '--next'?"),
        ("config get", "Missing argument 'KEY'."),
        ("clami", "No such command 'clami'. Did you mean 'claim'?"),
    ],
)
def test_usage_errors_look_like_all_errors(repo, typed, message):
    """What click finds wrong is told as every other error: code, what happened, the command that helps."""
    done = run(*typed.split(), cwd=repo)
    path = "agent-sync" if typed == "clami" else f"agent-sync {typed.partition(' -')[0]}"
    assert (done.status, done.stderr) == (2, f"error[usage]: {message}\n  try: {path} --help\n")


def test_group_alone_shows_its_help(repo):
    """A group without a command shows its help and is a usage error."""
    done = run("worker", cwd=repo)
    assert (done.status, done.stderr.startswith("Usage: agent-sync worker")) == (2, True)
