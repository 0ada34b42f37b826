"""Keeps the promises of action.yml: GitHub's schema, no expression in a script, no token where things are installed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from agent_sync.action.inputs import DRY_RUN, PINNED_ISSUE, SUMMARY

ROOT = Path(__file__).parent.parent
FILE = ROOT / "action.yml"


@pytest.fixture
def action():
    """Return what action.yml says."""
    from ruamel.yaml import YAML

    return YAML(typ="safe").load(FILE)


def test_it_follows_the_schema_of_actions():
    """GitHub can read the file."""
    checker = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions"]
    done = subprocess.run([*checker, str(FILE)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_scripts_hold_no_expression(action):
    """Whatever comes from outside reaches a script as a variable; no other action is used."""
    steps = action["runs"]["steps"]
    assert {step["shell"] for step in steps} == {"bash"}
    assert [step for step in steps if "${{" in step["run"]] == []
    assert "github.event" not in FILE.read_text()
    # Every Python is told not to look into the workspace or at variables for Python.
    started = re.findall(r'(?:python3|bin/python"?) (\S+)', "\n".join(step["run"] for step in steps))
    assert (set(started), len(started)) == ({"-I"}, 3)


def test_every_input_reaches_the_last_step_alone(action):
    """The step that installs has no token in reach; the other one gets each input by the name that it reads."""
    install, run = action["runs"]["steps"]
    assert "env" not in install
    given = {value.removeprefix("${{ inputs.").removesuffix(" }}"): name for name, value in run["env"].items()}
    assert set(given) == set(action["inputs"])
    assert {given[name] for name in ("dry-run", "pinned-issue", "summary")} == {DRY_RUN, PINNED_ISSUE, SUMMARY}
    assert {given["token"], given["board-token"]} == {"GH_TOKEN", "GH_BOARD_TOKEN"}
    assert (action["inputs"]["token"]["default"], action["inputs"]["board-token"]["default"]) == (
        "${{ github.token }}",
        "",
    )


def test_what_it_installs_is_locked():
    """The action's lock has what the package and its build need, in the versions that the tests ran with."""

    def pins(name):
        return set(re.findall(r"^([\w.-]+==[^ ;\\]+)", (ROOT / "requirements" / name).read_text(), re.MULTILINE))

    found = pins("action.txt")
    assert {pin.partition("==")[0] for pin in found} >= {"click", "hatchling", "pydantic", "pygithub", "urllib3"}
    assert found <= pins("dev.txt")
    assert not {"pytest", "starlette"} & {pin.partition("==")[0] for pin in found}
