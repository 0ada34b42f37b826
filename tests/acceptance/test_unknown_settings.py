"""Settings that this version does not know: a warning at work, an error where settings are looked after."""

import json
import time
from pathlib import Path

import pytest
from support.stage import agent, human

from agent_sync.worktree import hook_stamp, place_of

FUTURE = "[pr]\nfuture = true\n\n[tomorrow]\nday = 1\n"
SAID = ".agent-sync.toml:2: pr.future is not a setting"
STOP = json.dumps({"session_id": "s1", "hook_event_name": "Stop"})


@pytest.fixture
def upgraded(theatre):
    """A clone whose settings file a newer agent-sync has written."""
    (theatre.stage.root / ".agent-sync.toml").write_text(FUTURE)
    return theatre


def test_hooks_work_beside_unknown_settings(upgraded):
    """A stop opens the pull request, and says once in a session which settings it ignores."""
    upgraded.work()
    upgraded.hold(phase="ready_for_pr", summary="Done")
    stopped = upgraded.hook("on-stop", stdin=STOP)
    assert SAID in human(stopped)
    assert "tomorrow is not a setting" in human(stopped)
    assert len(upgraded.pulls()) == 1
    assert "holds issue #42" in agent(upgraded.hook("session-start", stdin='{"session_id": "s1"}'))
    assert "not a setting" not in human(upgraded.hook("on-stop", stdin=STOP))
    assert "not a setting" in human(upgraded.hook("on-stop", stdin=STOP.replace("s1", "s2")))


def test_unknown_setting_leaves_idle_hooks_quiet(upgraded):
    """A warning that was said does not cost the stamp that keeps later events short."""
    event = json.dumps({"cwd": str(upgraded.stage.root), "session_id": "s1"})
    assert SAID in human(upgraded.hook("on-stop", stdin=event))
    # What has just been written is not trusted to stay.
    time.sleep(0.2)
    assert upgraded.hook("on-stop", stdin=event).stdout == ""
    stamp = Path(hook_stamp(place_of([str(upgraded.stage.root)], ""), "on-stop"))
    left = stamp.stat().st_mtime_ns
    assert upgraded.hook("on-stop", stdin=event).stdout == ""
    assert stamp.stat().st_mtime_ns == left


@pytest.mark.parametrize(
    "words",
    [
        ["claim", "42"],
        ["status"],
        ["sync"],
        ["release"],
        ["worker", "list"],
        ["resume"],
        ["record", "status"],
    ],
)
def test_commands_work_beside_unknown_settings(upgraded, words):
    """An everyday command warns in one line and does what it does without the unknown key."""
    if words != ["claim", "42"]:
        (upgraded.stage.root / ".agent-sync.toml").write_text("")
        upgraded.stage.command("claim", "42")
        (upgraded.stage.root / ".agent-sync.toml").write_text(FUTURE)
    ran = upgraded.stage.command(*words)
    warnings = [line for line in ran.stderr.splitlines() if line.startswith("warning: ")]
    assert (ran.status, len(warnings)) == (0, 1), ran.stderr
    assert SAID in warnings[0]


def test_json_is_not_disturbed_by_a_warning(upgraded):
    """Standard output stays one object; the warning is on standard error."""
    ran = upgraded.stage.command("status", "--json")
    assert json.loads(ran.stdout)
    assert SAID in ran.stderr


def test_user_file_and_variables_are_read_in_the_same_way(theatre):
    """An unknown key of the user's own file and an unknown variable are warnings, too."""
    mine = Path(theatre.stage.environment["HOME"]) / ".config" / "agent-sync" / "config.toml"
    mine.parent.mkdir(parents=True)
    mine.write_text("[board]\nredy = 'x'\n")
    theatre.stage.environment["AGENT_SYNC_PROJECT_NUMBR"] = "1"
    ran = theatre.stage.command("claim", "42")
    assert (ran.status, theatre.card()["Status"]) == (0, "In Progress")
    assert f"{mine}:2: board.redy is not a setting and is ignored. Did you mean board.ready?" in ran.stderr
    assert "AGENT_SYNC_PROJECT_NUMBR is not a setting and is ignored. Did you mean AGENT_SYNC_PROJECT_NUMBER?" in (
        ran.stderr
    )


@pytest.mark.parametrize(
    "words", [["config", "list"], ["config", "get", "pr.base"], ["config", "set", "pr.base", "main"], ["init", "--yes"]]
)
def test_unknown_setting_is_an_error_where_settings_are_looked_after(upgraded, words):
    """`config` and `init` refuse, name the line, and write nothing."""
    ran = upgraded.stage.command(*words)
    assert ran.status == 1
    assert "error[bad-config]" in ran.stderr
    assert SAID in ran.stderr
    assert (upgraded.stage.root / ".agent-sync.toml").read_text() == FUTURE


def test_doctor_fails_for_an_unknown_setting_and_checks_on(theatre):
    """The doctor's line names the nearest key; GitHub is asked all the same."""
    (theatre.stage.root / ".agent-sync.toml").write_text("[project]\nnumbr = 1\n")
    ran = theatre.stage.command("doctor", "--json")
    results = {one["name"]: one for one in json.loads(ran.stdout)["checks"]}
    assert (ran.status, results["settings"]["mark"]) == (1, "fail")
    assert "project.numbr is not a setting. Did you mean project.number?" in results["settings"]["says"]
    assert results["repository"]["mark"] == "ok"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[board]\n\nready = 3\n", ".agent-sync.toml:3: board.ready: Input should be a valid string."),
        ("board = 3\n", ".agent-sync.toml:1: board: Input should be"),
        ("[templates.x]\nsteps = []\n", ".agent-sync.toml:2: templates.x.steps: "),
        ("[board\n", "(at line 1, column 7)"),
    ],
)
def test_wrong_value_is_blamed_on_its_source(theatre, text, expected):
    """A wrong value is an error everywhere; it names file and line, whatever variables are set."""
    theatre.stage.environment["AGENT_SYNC_BOARD_DONE"] = "Done"
    (theatre.stage.root / ".agent-sync.toml").write_text(text)
    ran = theatre.stage.command("status")
    assert (ran.status, expected in ran.stderr) == (1, True), ran.stderr


def test_wrong_variable_is_blamed_by_the_name_it_has(theatre):
    """A value that came by an old name is an error of that name."""
    del theatre.stage.environment["AGENT_SYNC_PROJECT_NUMBER"]
    theatre.stage.environment["MOLTNET_PROJECT_NUMBER"] = "x"
    assert "MOLTNET_PROJECT_NUMBER: project.number: Input should be" in theatre.stage.command("status").stderr


def test_negative_value_is_a_value(theatre):
    """`config set` takes `-5` for a value, and says what the setting allows."""
    ran = theatre.stage.command("config", "set", "checks.backoff_s", "-5")
    assert (ran.status, "greater than or equal to 0" in ran.stderr) == (1, True), ran.stderr


def test_no_guess_for_a_name_that_is_near_to_nothing(theatre):
    """A key that resembles none is not guessed at."""
    assert "Did you mean" not in theatre.stage.command("config", "get", "nothing").stderr
