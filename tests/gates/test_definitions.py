from dataclasses import replace
from pathlib import Path

import pytest

from agent_sync.gates.config.model import EntryPoint, GateCheck, GateProject, Priority, Review
from agent_sync.gates.definitions.compared import definition_changes
from agent_sync.gates.run.execute import execute_run

CHECK = GateCheck("c", Path("c.yml"), "make test", timeout=60)
REVIEW = Review("r", Path("r.md"), "Go.", num_reviews=2)
BEFORE = GateProject(
    Path("/p"),
    checks={"c": CHECK},
    reviews={"r": REVIEW},
    entry_points=(EntryPoint("src", checks=("c",), reviews=("r",)), EntryPoint("docs", checks=("c",))),
)

ROWS = {
    "nothing": ({}, ()),
    "file moved": ({"checks": {"c": replace(CHECK, file=Path("/elsewhere/c.yml"))}}, ()),
    "advice changed": ({"checks": {"c": replace(CHECK, fix_with_skill="s")}}, ()),
    "removed": ({"checks": {}}, ("removed: check c",)),
    "added": ({"checks": {"c": CHECK, "d": replace(CHECK, name="d")}}, ("added: check d",)),
    "command": ({"checks": {"c": replace(CHECK, command="true")}}, ("changed: check c, command",)),
    "limit": ({"checks": {"c": replace(CHECK, timeout=None)}}, ("changed: check c, timeout",)),
    "not in CI": ({"checks": {"c": replace(CHECK, run_in_ci=False)}}, ("loosened: check c, run_in_ci",)),
    "fewer reviews": ({"reviews": {"r": replace(REVIEW, num_reviews=1)}}, ("loosened: review r, num_reviews",)),
    "more reviews": ({"reviews": {"r": replace(REVIEW, num_reviews=3)}}, ("changed: review r, num_reviews",)),
    "review off": ({"reviews": {"r": replace(REVIEW, enabled=False)}}, ("loosened: review r, enabled",)),
    "prompt": ({"reviews": {"r": replace(REVIEW, prompt="Be kind.")}}, ("changed: review r, prompt",)),
    "unguarded": (
        {"entry_points": (EntryPoint("src", reviews=("r",)), BEFORE.entry_points[1])},
        ("loosened: src is no longer guarded by c",),
    ),
    "entry gone": ({"entry_points": BEFORE.entry_points[:1]}, ("loosened: entry point docs is gone",)),
    "excluded": (
        {"entry_points": (replace(BEFORE.entry_points[0], exclude=("src/x",)), BEFORE.entry_points[1])},
        ("loosened: src excludes src/x",),
    ),
    "retries": ({"max_retries": 0}, ("loosened: max_retries from 3 to 0",)),
    "threshold": ({"rerun_threshold": Priority.CRITICAL}, ("loosened: rerun_new_issue_threshold to critical",)),
}


@pytest.mark.parametrize(("changes", "expected"), ROWS.values(), ids=ROWS)
def test_compared(changes, expected):
    """What makes a gate easier, harder or different is named; what changes nothing is not."""
    assert definition_changes(BEFORE, replace(BEFORE, **changes)) == expected


def test_untouched_definitions(project):
    """A branch that leaves its gates alone hears nothing."""
    project.write({"src/a": "1"})
    assert execute_run(project.context(), project.root).definitions == ()


def test_new_definitions(project):
    """Gates that come with the branch are reported as a whole."""
    project.git("rm", "-q", "-r", "--cached", ".gauntlet")
    project.git("commit", "-q", "-m", "Without")
    project.git("branch", "-q", "-f", "main")
    project.write({"src/a": "1"})
    assert execute_run(project.context(), project.root).definitions == ("the gates are new on this branch",)
