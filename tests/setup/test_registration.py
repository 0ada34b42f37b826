import json

import pytest

from agent_sync.setup.client.levels import Level, levels
from agent_sync.setup.doctor.registration import check_files, check_once, check_registered, check_timeouts
from agent_sync.setup.doctor.result import Mark
from agent_sync.setup.install.claude import missing_edits
from agent_sync.setup.install.edits import apply_edits

FULL = json.loads(apply_edits("", missing_edits("", file="x")))
PROJECT, USER = ".claude/settings.json", "~/.claude/settings.json"


def stop(command, **more):
    return {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command, **more}]}]}}


def test_full_set_up_is_fine():
    """What `init` writes passes every check, at one level or the same at two."""
    for found in ([Level(PROJECT, FULL)], [Level(PROJECT, FULL), Level(USER, FULL)]):
        checks = (check_files, check_registered, check_once, check_timeouts)
        assert [check(found).mark for check in checks] == [Mark.OK] * 4


def test_missing_hooks_are_listed():
    """What is not registered anywhere is named, with the command that mends it."""
    result = check_registered([Level(PROJECT, stop("agent-sync on-stop"))])
    assert (result.mark, result.fix) == (Mark.FAIL, "agent-sync init")
    assert "SessionStart (session-start)" in result.says
    assert "(on-stop)" not in result.says
    assert check_registered([]).mark is Mark.FAIL


def test_hook_for_the_wrong_event_does_not_count():
    """A hook of ours under another event is not registered."""
    wrong = {"hooks": {"PreToolUse": FULL["hooks"]["Stop"]}}
    assert "Stop (on-stop)" in check_registered([Level(PROJECT, wrong)]).says


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (stop("agent-sync on-stop", timeout=600), "registered more than once: Stop (on-stop)"),
        (stop("source env && .claude/agent-sync.sh stop"), "agent-sync.sh is still registered in ~/.claude"),
    ],
)
def test_hooks_that_run_twice(other, says):
    """Another form of the same hook at another level, or the old script, runs beside ours."""
    result = check_once([Level(PROJECT, FULL), Level(USER, other)])
    assert result.mark is Mark.FAIL
    assert says in result.says


@pytest.mark.parametrize(
    ("handler", "mark"),
    [
        ({"command": "agent-sync on-stop", "timeout": 30000}, Mark.FAIL),
        ({"command": "make", "timeout": 30000}, Mark.WARN),
        ({"command": "make", "timeout": 3600}, Mark.OK),
        ({"command": "make", "timeout": 30000, "async": True}, Mark.OK),
        ({"command": "agent-sync on-idle --rewake", "timeout": 28800, "asyncRewake": True}, Mark.OK),
        ({"command": "make", "timeout": "30"}, Mark.FAIL),
        ({"command": "make", "timeout": 0}, Mark.FAIL),
        ({"command": "make", "timeout": True}, Mark.FAIL),
        ({"command": "make"}, Mark.OK),
    ],
)
def test_timeouts(handler, mark):
    """Timeouts that look like milliseconds, or that make the client ignore the hook, are found."""
    found = [Level(PROJECT, {"hooks": {"Stop": [{"hooks": [handler]}]}})]
    assert check_timeouts(found).mark is mark


def test_files_of_every_level(tmp_path):
    """The project's, the local and the user's file are read, from the home the environment names."""
    root, home = tmp_path / "root", tmp_path / "home"
    for directory in (root, home):
        (directory / ".claude").mkdir(parents=True)
    (root / ".claude/settings.json").write_text("// comment\n{},")
    (root / ".claude/settings.local.json").write_text('{"disableAllHooks": true,}')
    (home / ".claude/settings.json").write_text("[]")
    found = levels(root, root, {"HOME": str(home)})
    assert [(level.file, bool(level.trouble)) for level in found] == [
        (".claude/settings.json", True),
        (".claude/settings.local.json", False),
        ("~/.claude/settings.json", True),
    ]
    assert check_files(found).mark is Mark.FAIL
    assert "switches all hooks off" in check_files(found[1:2]).says
    assert check_files([]).mark is Mark.OK


def test_worktree_has_the_local_settings_of_the_main_checkout(tmp_path):
    """In a linked worktree the local settings of the main checkout count."""
    (tmp_path / "main/.claude").mkdir(parents=True)
    (tmp_path / "main/.claude/settings.local.json").write_text("{}")
    found = levels(tmp_path / "linked", tmp_path / "main", {"CLAUDE_CONFIG_DIR": str(tmp_path / "none")})
    assert [level.file for level in found] == [f"{tmp_path}/main/.claude/settings.local.json"]


@pytest.mark.parametrize("hooks", [3, [], {"Stop": 3}, {"Stop": [3, {"hooks": 3}, {"hooks": ["x", {}]}]}])
def test_odd_settings_do_no_harm(hooks):
    """Whatever stands where hooks should be, the checks go on."""
    found = [Level(PROJECT, {"hooks": hooks})]
    assert check_once(found).mark is Mark.OK
    assert check_timeouts(found).mark is Mark.OK
