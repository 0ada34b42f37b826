import pytest
from support.gauntlet import write_files

from agent_sync.gates.config.stop_settings import HookSettings, hook_settings, is_ci, read_user
from agent_sync.quiet.answer import has_marker


def read(home, text):
    write_files(home, {".config/agent-gauntlet/config.yml": text})
    return read_user({"HOME": str(home)})


def test_interval_from_the_users_file(tmp_path):
    """The user's file sets the minutes between runs."""
    assert read(tmp_path, "stop_hook:\n  run_interval_minutes: 15\n").interval_minutes == 15


def test_missing_file_means_defaults(tmp_path):
    """Without a file the hook is on and runs every ten minutes."""
    assert HookSettings() == read_user({"HOME": str(tmp_path)}) == HookSettings(True, 10, ())
    assert read_user({}) == HookSettings()


@pytest.mark.parametrize("text", ["stop_hook: [", "stop_hook: {run_interval_minutes: -1}", "stop_hook: 3", "x: 1"])
def test_invalid_file_is_a_warning(tmp_path, text):
    """A file that cannot be used is said, and the defaults hold."""
    settings = read(tmp_path, text)
    assert (settings.enabled, settings.interval_minutes) == (True, 10)
    assert all("the default is used" in str(problem) and not problem.is_error for problem in settings.problems)
    assert settings.problems


def test_null_document(tmp_path):
    """An empty file sets nothing."""
    assert read(tmp_path, "").interval_minutes == 10


def test_xdg_comes_first(tmp_path):
    """XDG_CONFIG_HOME counts before the home directory, which still counts where it holds nothing."""
    write_files(tmp_path, {".config/agent-gauntlet/config.yml": "stop_hook: {run_interval_minutes: 1}"})
    environment = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    assert read_user(environment).interval_minutes == 1
    write_files(tmp_path, {"xdg/agent-gauntlet/config.yml": "stop_hook: {run_interval_minutes: 2}"})
    assert read_user(environment).interval_minutes == 2


OVER = {
    "nothing": (None, {}, True, 10),
    "project off": (False, {}, False, 10),
    "environment over project": (False, {"GAUNTLET_STOP_HOOK_ENABLED": "1"}, True, 10),
    "environment off": (None, {"GAUNTLET_STOP_HOOK_ENABLED": "false"}, False, 10),
    "odd word": (None, {"GAUNTLET_STOP_HOOK_ENABLED": "nope"}, True, 10),
    "minutes": (None, {"GAUNTLET_STOP_HOOK_INTERVAL_MINUTES": "0"}, True, 0),
    "odd minutes": (None, {"GAUNTLET_STOP_HOOK_INTERVAL_MINUTES": "-5"}, True, 10),
    "words for minutes": (None, {"GAUNTLET_STOP_HOOK_INTERVAL_MINUTES": "ten"}, True, 10),
}


@pytest.mark.parametrize(("project", "environment", "enabled", "minutes"), OVER.values(), ids=OVER)
def test_what_overrides_what(project, environment, enabled, minutes):
    """The environment wins over the project, which wins over the user's file; odd values are ignored."""
    settings = hook_settings(HookSettings(), project, environment)
    assert (settings.enabled, settings.interval_minutes) == (enabled, minutes)


def test_markers():
    """Nested runs and CI are known from the environment."""
    assert has_marker({"AGENT_SYNC_NESTED": "1"})
    assert has_marker({"GAUNTLET_STOP_HOOK_ACTIVE": "1"})
    assert not has_marker({})
    assert is_ci({"CI": "true"})
    assert is_ci({"GITHUB_ACTIONS": "true"})
    assert not is_ci({"CI": "1"})
