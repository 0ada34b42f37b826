import pytest

from agent_sync.errors import BadConfig
from agent_sync.settings import Settings, load, variables
from agent_sync.worktree import Place


@pytest.fixture
def place(tmp_path):
    """A worktree as the settings see it."""
    return Place(str(tmp_path), str(tmp_path / ".git"), str(tmp_path / ".git"))


@pytest.fixture
def write(place, tmp_path):
    """Write the repository's settings file and load the settings."""

    def loaded(text, **environment):
        (tmp_path / ".agent-sync.toml").write_text(text)
        return load(place, environment).settings

    return loaded


def test_defaults_need_no_file(place):
    """Without a file every setting has its default."""
    assert Settings() == load(place, {}).settings


def test_file_is_read(write):
    """Tables and keys are read with their types; whole numbers may stand for seconds."""
    settings = write("[project]\nowner = 'octo'\nnumber = 7\n[checks]\nbackoff_s = 30\n[pr]\nchecklist = ['a', 'b']\n")
    assert (
        settings.project.owner,
        settings.project.number,
        settings.checks.backoff_s,
        settings.pr.checklist,
    ) == ("octo", 7, 30.0, ("a", "b"))


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"AGENT_SYNC_PROJECT_NUMBER": "3"}, 3),
        ({"MOLTNET_PROJECT_NUMBER": "4"}, 4),
        ({"MOLTNET_PROJECT_NUMBER": "4", "AGENT_SYNC_PROJECT_NUMBER": "3"}, 3),
        ({"AGENT_SYNC_PROJECT_NUMBER": ""}, 7),
    ],
)
def test_environment_wins(write, environment, expected):
    """Variables override the file; an empty one says nothing; old names still work."""
    assert expected == write("[project]\nnumber = 7\n", **environment).project.number


def test_words_in_variables_are_words(write):
    """A variable for a text is taken literally, one for anything else is read as TOML."""
    settings = write(
        "", AGENT_SYNC_PROJECT_OWNER="42", AGENT_SYNC_PR_CLOSES_ISSUE="true", AGENT_SYNC_NOTIFY_AGENT="later"
    )
    assert (settings.project.owner, settings.pr.closes_issue, settings.notify.agent) == ("42", True, "later")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[project]\nnumber = '1'\n", "project.number: Input should be a valid integer"),
        ("[project]\nnumber = 0\n", "greater than or equal to 1"),
        ("[notify]\nagent = 'never'\n", "notify.agent: Input should be 'now' or 'later'"),
        ("[checks]\nbackoff_s = -1\n", "greater than or equal to 0"),
        ("project = 3\n", "project: Input should be"),
        ("[project\n", "is not valid TOML"),
    ],
)
def test_wrong_settings_are_explained(write, text, expected):
    """The message names file, key and what is allowed."""
    with pytest.raises(BadConfig, match=r"\.agent-sync\.toml") as error:
        write(text)
    assert expected in str(error.value)


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("[projet]\nnumber = 1\n", 1, "projet is not a setting. Did you mean project?"),
        ("[project]\nnumbr = 1\n", 2, "project.numbr is not a setting. Did you mean project.number?"),
        ("project.numbr = 1\n", 1, "project.numbr is not a setting. Did you mean project.number?"),
        ("\n[ 'project' ]\n'numbr' = 1\n", 3, "project.numbr is not a setting. Did you mean project.number?"),
        ("project = {owner = 'x', numbr = 1}\n", 1, "project.numbr is not a setting. Did you mean project.number?"),
        ("[templates.x]\nsteps = ['a']\nstep = 1\n", 3, "templates.x.step is not a setting. Did you mean"),
        ("[future.deep]\nx = 1\n", 1, "future is not a setting."),
    ],
)
def test_unknown_keys_are_ignored_and_named(place, tmp_path, text, line, expected):
    """What is not known is named with its line and the nearest known key; the rest counts."""
    file = tmp_path / ".agent-sync.toml"
    file.write_text(text)
    (unknown,) = load(place, {}).unknown
    assert unknown.text.startswith(f"{file}:{line}: {expected}")


def test_unknown_variable_is_ignored_and_named(place, write):
    """A misspelt variable is named; the test suite's own are not settings."""
    (unknown,) = load(place, {"AGENT_SYNC_PROJECT_NUMBR": "1"}).unknown
    assert unknown.text == "AGENT_SYNC_PROJECT_NUMBR is not a setting. Did you mean AGENT_SYNC_PROJECT_NUMBER?"
    assert load(place, {"AGENT_SYNC_NESTED": "1", "AGENT_SYNC_GITHUB_SCHEMAS": "x"}).unknown == ()
    assert Settings() == write("", AGENT_SYNC_PROJECT_NUMBR="1")


def test_unreadable_file_is_not_a_missing_one(place, tmp_path):
    """A file that cannot be read is an error, not the defaults."""
    (tmp_path / ".agent-sync.toml").mkdir()
    with pytest.raises(BadConfig, match="cannot be read"):
        load(place, {})


def test_every_setting_has_its_variable():
    """The variables are named after table and key."""
    assert variables()["AGENT_SYNC_GITHUB_URL"] == ("github", "url")
