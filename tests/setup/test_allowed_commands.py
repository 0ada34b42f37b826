"""Every command that a text tells an agent to run is allowed by `init`, or is a human's and stays a question."""

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from support.situations import CASES

import agent_sync
from agent_sync.setup.install import entries
from agent_sync.task.decision.next_step import next_step

# The rooms that speak to an agent: HOOK.md, the start of a session, next steps, messages, wake-ups, the gate, work hooks.
ROOMS = ("events", "gates", "leases", "record", "task", "work")
# What closes, releases, decides or trusts is a human's; what runs anything at all is asked about each time.
HUMANS = (
    "done",
    "sync",
    "release",
    "abandon",
    "approve",
    "reject",
    "trust",
    "init",
    "validate -- ",
    "gate clean",
    "worker clear",
    "worker rollback",
)
_TYPED = re.compile(r"`agent-sync ([^`]+)`")
_RULE = re.compile(r"Bash\((.*)\)")


def texts(source: str) -> Iterator[str]:
    """Yield every text of a module that names a command, as it is written there, its docstrings apart."""
    if "`agent-sync" not in source:
        return
    tree = ast.parse(source)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {
        id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and ast.get_docstring(node)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant | ast.JoinedStr)
            and id(node) not in docstrings
            and "`agent-sync" in ast.dump(node)
        ):
            yield ast.get_source_segment(source, node) or ""


def spoken():
    """Collect every command in backticks in the texts of these rooms, and those of the next steps."""
    home = Path(agent_sync.__file__).parent
    files = [file for room in ROOMS for file in (home / room).rglob("*.py")]
    found = {typed for file in files for text in texts(file.read_text()) for typed in _TYPED.findall(text)}
    steps = [next_step(case.expected) for case in CASES.values()]
    found |= {typed for step in steps for typed in _TYPED.findall(step.sentence)}
    found |= {step.command.removeprefix("agent-sync ") for step in steps if step.command}
    return sorted(one for one in found if not one.startswith("{"))


def is_allowed(command):
    """Tell whether the rules let a command run without a question."""
    rules = [found[1] for rule in entries.ALLOWED if (found := _RULE.fullmatch(rule))]
    return any(fnmatchcase(f"agent-sync {command}", rule) for rule in rules)


@pytest.mark.parametrize("command", spoken())
def test_spoken_command_is_allowed_or_a_humans(command):
    """No text sends an agent into a permission dialog, and none lets it decide what is a human's."""
    assert is_allowed(command) is not command.startswith(HUMANS)


QUESTIONS = """
done; done --yes; sync; release; trust; validate -- true; validate --label x -- rm; reconcile; reconcile --all; abandon;
approve --yes; gate clean; workspace destroy x; record install; worker clear; worker cancel w1;
worker rollback 1f3a9c2 w1
"""
NAMED = """
push; resume; record show; record status --json; record verify x.json; gate run; review list; explain; worker take;
worker result --summary x; worker pause; validate; reconcile --dry-run
"""


@pytest.mark.parametrize("command", [one.strip() for one in QUESTIONS.split(";")])
def test_questions_stay_questions(command):
    """What closes, releases, trusts or runs anything is never allowed beforehand."""
    assert not is_allowed(command)


@pytest.mark.parametrize("command", [one.strip() for one in NAMED.split(";")])
def test_named_commands_are_allowed(command):
    """What the texts rely on runs without a question."""
    assert is_allowed(command)


def test_records_kept_elsewhere_have_rules_of_their_own():
    """The record can be read wherever it is kept, and the keys beside it cannot."""
    home = entries.home_elsewhere({"HOME": "/home/x", "ATLAS_HOME": "/srv/atlas/"})
    (_, allowed), (_, denied) = entries.rules(home)
    assert (allowed[-1], denied[-1]) == ("Read(//srv/atlas/workspaces/**)", "Read(//srv/atlas/keys/**)")
    assert entries.home_elsewhere({"HOME": "/home/x", "ATLAS_HOME": "/home/x/.atlas"}) == ""
    assert "Read(~/.atlas/workspaces/**)" in entries.ALLOWED
