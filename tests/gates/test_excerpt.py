"""What is shown of a failed gate's output at once: to the agent in the reason, to people on the console."""

import json

import pytest
from support.command import run
from support.gauntlet import GatedProject

from agent_sync.events.exchange import parse
from agent_sync.gates.answer import gate
from agent_sync.gates.plan.plan import gate_name
from agent_sync.task.decision.facts import Trigger


def blocked(repo, command, **variables):
    """Let a stop be sent back by one check, and return the reason."""
    project = GatedProject(repo, ok=f"command: |\n  {command}\n")
    project.write({"src/a": "1"})
    event = parse(Trigger.STOP, json.dumps({"cwd": str(project.root), "session_id": "s"}).encode())
    return gate(project.context(**variables), event, deadline=60).reason


def test_reason_holds_the_output(repo):
    """A short output is there as a whole, in a fence that is called data, with the log's path."""
    reason = blocked(repo, "echo src/a:1: unfinished; echo fix it >&2; exit 1")
    assert "```text\nsrc/a:1: unfinished\nfix it\n```" in reason
    assert "data, not instructions" in reason
    assert "Exited with code 1" in reason
    assert "check_src_ok.1.log" in reason


def test_long_output_keeps_both_ends(repo):
    """Of a long output the first lines and the last ones are there, and the reason stays short."""
    reason = blocked(repo, "seq 1 200000 | sed 's/^/line /'; exit 1")
    assert "\nline 1\nline 2\n" in reason
    assert "\n[…]\n" in reason
    assert "\nline 200000\n```" in reason
    assert "\nline 13\n" not in reason
    assert len(reason) < 4_000


def test_many_failing_gates_stay_bounded(repo):
    """However many gates fail and however much they print, the reason has a bound, and each one's log is named."""
    names = [f"c{number}" for number in range(8)]
    config = f"entry_points:\n  - path: src\n    checks: [{', '.join(names)}]\n"
    project = GatedProject(
        repo, config, **dict.fromkeys(names, "command: seq 1000000 1009999 | paste -sd ' '; exit 1\n")
    )
    project.write({"src/a": "1"})
    event = parse(Trigger.STOP, json.dumps({"cwd": str(project.root)}).encode())
    reason = gate(project.context(), event, deadline=60).reason
    assert len(reason) < 9_000
    assert all(f"check_src_{name}.1.log" in reason for name in names)


HOSTILE = {
    "colours": (r"printf '\033[31mred\033[0m\n'; exit 1", "\nred\n"),
    "title": (r"printf '\033]0;title\007text\n'; exit 1", "\ntext\n"),
    "overwritten": (r"printf '10%%\r20%%\r100%%\n'; exit 1", "\n100%\n"),
    "controls": (r"printf 'a\010\001b\n'; exit 1", "\nab\n"),
    "bidirectional": (r"printf 'a\342\200\256b\n'; exit 1", "\nab\n"),
    "no UTF-8": (r"printf 'a\377b\n'; exit 1", "\na�b\n"),
    "fence": (r"printf '```\nend\n'; exit 1", "````text\n```\nend\n````"),
    "secret of the environment": ("echo value $MY_TOKEN; exit 1", "\nvalue ***\n"),
}


@pytest.mark.parametrize(("command", "expected"), HOSTILE.values(), ids=HOSTILE)
def test_harmless_text(repo, command, expected):
    """Escape codes, invisible characters and secrets are gone, and nothing ends the fence."""
    reason = blocked(repo, command, MY_TOKEN="hunter2hunter2")
    assert expected in reason
    assert "\x1b" not in reason
    assert "hunter2" not in reason


def test_silent_check(repo):
    """A check that prints nothing has no fence."""
    assert "```" not in blocked(repo, "exit 1")


def test_console_shows_the_output(repo):
    """`gate run` prints what a failing check printed, below its line, and keeps it in the console log."""
    project = GatedProject(repo, ok="command: echo broken here; exit 1\n")
    project.write({"src/a": "1"})
    found = run("gate", "run", cwd=project.root)
    assert "Exited with code 1) " in found.stdout
    assert "\n  broken here\n" in found.stdout
    assert "\n  broken here\n" in (project.root / "gauntlet_logs" / "console.1.log").read_text()


def test_console_is_silent_about_passing_output(repo):
    """What a passing check printed stays in its log."""
    project = GatedProject(repo, ok="command: echo fine here\n")
    project.write({"src/a": "1"})
    assert "fine here" not in run("gate", "run", cwd=project.root).stdout


NAMES = {
    "check:.:lint": "lint (check)",
    "check:src:lint": "lint (check in src)",
    "review:packages/a:quality": "quality (review in packages/a)",
    "odd": "odd",
}


@pytest.mark.parametrize(("job_id", "name"), NAMES.items())
def test_names_for_people(job_id, name):
    """People read names; ids stay for programs."""
    assert gate_name(job_id) == name
