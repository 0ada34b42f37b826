"""Whether the plugin is enabled and installed, as the client's own files say, and what `doctor` makes of it."""

import json

import pytest

from agent_sync import __version__
from agent_sync.setup.client.levels import Level
from agent_sync.setup.client.plugin import Plugin, enabled, enabled_plugin
from agent_sync.setup.doctor.plugin import check_plugin
from agent_sync.setup.doctor.registration import check_registered
from agent_sync.setup.doctor.result import Mark

ID = "agent-sync@agent-sync"
LOCAL, PROJECT, USER = ".claude/settings.local.json", ".claude/settings.json", "~/.claude/settings.json"
STOP = {"Stop": [{"hooks": [{"type": "command", "command": "agent-sync on-stop"}]}]}
ACTIVE = Plugin(ID, USER, __version__)


def level(file, value, id_=ID):
    return Level(file, {"enabledPlugins": {id_: value}})


@pytest.mark.parametrize(
    ("found", "file"),
    [
        ([], None),
        ([level(USER, True)], USER),
        ([level(USER, False)], None),
        ([level(USER, "true")], None),
        ([level(PROJECT, False), level(USER, True)], None),
        ([level(PROJECT, True), level(USER, False)], PROJECT),
        ([level(PROJECT, True), level(LOCAL, False), level(USER, True)], None),
        (
            [level(PROJECT, False), level("/main/.claude/settings.local.json", True)],
            "/main/.claude/settings.local.json",
        ),
        ([level(USER, True, "other@agent-sync")], None),
        ([level(USER, True, "agent-sync-more@agent-sync")], None),
        ([Level(USER, {"enabledPlugins": [ID]})], None),
    ],
)
def test_narrowest_file_decides(found, file):
    """Local settings overrule the project's, and these the user's; only our plugin and only `true` count."""
    assert enabled(found) == ([(ID, file)] if file else [])


@pytest.mark.parametrize(
    ("entries", "version"),
    [
        ([{"scope": "user", "version": "1.2.3"}], "1.2.3"),
        ([{"scope": "project", "version": "1.2.3", "projectPath": "ROOT"}], "1.2.3"),
        ([{"scope": "project", "version": "1.2.3", "projectPath": "/elsewhere"}], ""),
        ([{"scope": "user"}], "unknown"),
        (["nonsense"], ""),
        ("nonsense", ""),
    ],
)
def test_enabled_is_not_installed(tmp_path, entries, version):
    """The client runs an enabled plugin only where it is installed: for the user, or for this very folder."""
    text = json.dumps({"plugins": {ID: entries}}).replace("ROOT", str(tmp_path))
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "installed_plugins.json").write_text(text)
    found = enabled_plugin([level(USER, True)], tmp_path, tmp_path, {"CLAUDE_CONFIG_DIR": str(tmp_path)})
    assert found == Plugin(ID, USER, version)
    assert found.is_active == bool(version)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"plugins": []}', None])
def test_unreadable_list_of_plugins(tmp_path, text):
    """A list that is missing or cannot be read names no plugin."""
    if text is not None:
        (tmp_path / "plugins").mkdir()
        (tmp_path / "plugins" / "installed_plugins.json").write_text(text)
    found = enabled_plugin([level(USER, True)], tmp_path, tmp_path, {"CLAUDE_CONFIG_DIR": str(tmp_path)})
    assert not found.is_active


@pytest.mark.parametrize(
    ("hooks", "plugin", "mark", "says", "fix"),
    [
        ({}, None, Mark.OK, "not enabled", ""),
        (STOP, None, Mark.OK, "not enabled", ""),
        ({}, ACTIVE, Mark.OK, "brings hooks and pages", ""),
        (STOP, ACTIVE, Mark.WARN, ".claude/settings.json registers hooks as well", f"claude plugin disable {ID}"),
        ({}, Plugin(ID, PROJECT, ""), Mark.FAIL, "not installed here", f"claude plugin install {ID} --scope project"),
        (STOP, Plugin(ID, PROJECT, ""), Mark.WARN, "not installed here", f"claude plugin install {ID}"),
        ({}, Plugin(ID, USER, "0.0.9"), Mark.WARN, f"is 0.0.9; this is {__version__}", f"claude plugin update {ID}"),
    ],
)
def test_doctor_says_where_hooks_come_from(hooks, plugin, mark, says, fix):
    """`doctor` reports the plugin, the settings file, or both, with the command that helps."""
    result = check_plugin([Level(PROJECT, {"hooks": hooks})], plugin)
    assert result.mark is mark
    assert says in result.says
    assert fix in result.fix


def test_plugin_registers_every_hook():
    """Hooks of an active plugin need no entry in a settings file; those of one that is only named do."""
    assert check_registered([], ACTIVE).mark is Mark.OK
    assert check_registered([], Plugin(ID, PROJECT, "")).mark is Mark.FAIL
