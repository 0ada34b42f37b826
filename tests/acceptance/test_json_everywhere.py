"""`--json` on every command: one object on standard output, or one error object on standard error."""

import json

import click
import pytest
from support.clients import Client

from agent_sync.cli.app import app
from agent_sync.cli.table import COMMANDS

ERROR_KEYS = {"ok", "code", "message", "attempted", "try", "exit_code", "said", "notes"}
# What a command is given so that it runs; where nothing stands here, nothing is needed.
ARGUMENTS = {
    "claim": ["42"],
    "handoff": ["--summary", "Fix it"],
    "review reply": ["abc123", "Done."],
    "review resolve": ["abc123"],
    "start": ["fix it"],
    "step output": ["half of it"],
    "step fail": ["--reason", "no"],
    "checkpoint": ["half of it"],
    "approve": ["--yes"],
    "reject": ["--yes", "--reason", "no"],
    "abandon": ["--reason", "no"],
    "cleanup": ["--hooks"],
    "workspace destroy": ["demo", "--yes"],
    "record verify": ["rcpt-001"],
    "record verify-receipt": ["rcpt-001"],
    "worker clear": ["w1"],
    "worker history": ["w1"],
    "worker rollback": ["1f3a9c2", "w1"],
    "worker show": ["w1"],
    "worker sling": ["42", "w1"],
    "init": ["--yes"],
    "uninstall": ["--yes"],
    "config get": ["checks.backoff_s"],
    "config set": ["checks.backoff_s", "60"],
    "trust": ["--show"],
    "completion": ["bash"],
    "gate init": ["--yes"],
    # They would serve or play for long.
    "demo": ["--no-such-option"],
    "emulator serve": ["--scenario", "huge"],
}
# Answers the client before the command line is loaded, with JSON and nothing else.
NOT_CLICK = {"gate stop-hook"}


def leaves(group, ctx, path=()):
    """Return the names of all commands below a group, and the commands."""
    names = list(COMMANDS) if group is app else group.list_commands(ctx)
    for name in names:
        command = group.get_command(ctx, name)
        if isinstance(command, click.Group):
            yield from leaves(command, click.Context(command, parent=ctx), (*path, name))
        else:
            yield " ".join((*path, name)), command


LEAVES = dict(leaves(app, click.Context(app)))


@pytest.fixture(scope="module")
def client(nursery, tmp_path_factory):
    """Start a process in a directory that is no repository."""
    found = Client(nursery, tmp_path_factory.mktemp("nowhere"))
    yield found
    found.close()


def answer(ran):
    """Return the one object that was printed, from where it belongs."""
    if ran.status and not ran.stdout:
        values = json.loads(ran.stderr)
        assert set(values) == ERROR_KEYS
        assert (values["ok"], values["exit_code"]) == (False, ran.status)
        assert values["code"]
        assert values["message"]
        return values
    values = json.loads(ran.stdout)
    assert "error[" not in ran.stderr
    return values


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_has_the_options(name):
    """`--json` and `-v` or `--debug` are options of every command, each once."""
    options = [option for parameter in LEAVES[name].params for option in parameter.opts]
    assert [options.count(option) for option in ("--json", "-v", "--debug")] == [1, 1, 1]


@pytest.mark.parametrize("name", sorted(set(LEAVES) - NOT_CLICK))
def test_every_command_answers_in_json_outside_of_a_repository(client, name):
    """Where there is no repository a command says so, or does without one: in JSON either way."""
    answer(client.do(*name.split(), *ARGUMENTS.get(name, []), "--json"))


SUCCESSES = [
    "claim 42",
    "status",
    "next",
    "board",
    "log",
    "push --dry-run",
    "handoff --dry-run",
    "sync --dry-run",
    "sync",
    "checkpoint half",
    "validate -- true",
    "record status",
    "record show",
    "record export",
    "record regenerate",
    "record verify-receipt rcpt-001",
    "resume",
    "config get checks.backoff_s",
    "init --dry-run",
    "uninstall --dry-run",
    "doctor",
    "workspace list",
    "worker list",
    "statusline",
    "help exit-codes",
    "release --dry-run",
    "release",
    "claim 43 --dry-run",
]


def test_commands_that_act_answer_in_json(theatre):
    """With a claim each command succeeds with one object; one that acts tells what it said and which claim is held."""
    theatre.stage.command("claim", "42")
    theatre.stage.commit("work.txt", "work\n", "Work")
    for line in SUCCESSES:
        words = line.split()
        at = words.index("--") if "--" in words else len(words)
        played = theatre.stage.command(*words[:at], "--json", *words[at:])
        assert played.status in {0, 1} if line == "doctor" else played.status == 0, (line, played.stderr)
        # The log is one object a line.
        values = json.loads(played.stdout.splitlines()[0] if line == "log" else played.stdout)
        if line == "sync":
            assert values["claim"]["issue_number"] == 42
            assert any("#42" in said for said in values["said"])
        if line == "release":
            assert (values["ok"], values["claim"]) == (True, None)
    assert "check out branch claude/describe-the-cache-in-the-readme-43" in values["would"]


ERRORS = [
    ("claim 41", "refused", 1),
    ("claim 999", "not-found", 6),
    ("claim 40", "conflict", 3),
    ("claim --no-such-option", "usage", 2),
    ("clami 42", "usage", 2),
    ("push", "wrong-state", 1),
    ("config get nothing.such", "bad-input", 2),
    ("record verify-receipt rcpt-9", "no-receipt", 6),
    ("gate run", "wrong-state", 1),
]


def test_errors_are_one_object(theatre):
    """An error is one object with code, message, attempted and try; in words it has the same code and exit code."""
    for words, code, status in ERRORS:
        ran = theatre.stage.command(*words.split(), "--json")
        values = json.loads(ran.stderr)
        assert (values["code"], values["exit_code"], ran.status, ran.stdout) == (code, status, status, ""), words
        plain = theatre.stage.command(*words.split())
        assert (plain.status, plain.stderr.startswith(f"error[{code}]: {values['message']}")) == (status, True), words
        assert not values["try"] or f"  try: {values['try']}" in plain.stderr, words
    assert json.loads(theatre.stage.command("worker", "--json").stderr)


def test_debug_shows_what_goes_out(theatre):
    """`-v` after or before the command shows each program and request with its time, and never the token."""
    for words in (["next", "-v"], ["-v", "next"], ["next", "--debug"]):
        shown = theatre.hook(*words, GH_TOKEN="ghp_" + "a1B2" * 9)
        assert shown.status == 0
        assert "debug: run git " in shown.stderr
        assert "debug: GraphQL " in shown.stderr
        assert " ms)" in shown.stderr
        assert "a1B2a1B2" not in shown.stderr
    assert "debug:" not in theatre.stage.command("next").stderr
    assert "Traceback" in theatre.stage.command("claim", "41", "--debug").stderr
