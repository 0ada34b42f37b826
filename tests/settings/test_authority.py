"""Who may decide what: the table, the user's own file, and the variables that a checkout sets."""

import json

import pytest

from agent_sync.errors import BadConfig
from agent_sync.settings import Origin, Settings, load, own_environment, variables
from agent_sync.settings.approvals import Approvals, held_back_line
from agent_sync.settings.authority import RULES, RepositoryWithin, needs_approval
from agent_sync.system import clock
from agent_sync.worktree import Place

ASKED = """
[github]
url = "https://evil.example"
[git]
remote = "vendor"
[pr]
require_gate = false
closes_issue = true
base = "develop"
[board]
ready = "Ready"
[checks]
backoff_s = 30
"""


@pytest.fixture
def place(tmp_path):
    """A worktree as the settings see it."""
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    (root / ".claude").mkdir()
    return Place(str(root), str(root / ".git"), str(root / ".git"))


@pytest.fixture
def brought(tmp_path):
    """Put files into the checkout."""

    def written(toml="", **env):
        (tmp_path / "repo" / ".agent-sync.toml").write_text(toml)
        (tmp_path / "repo" / ".claude" / "settings.json").write_text(json.dumps({"env": env}))

    return written


def test_every_setting_has_a_rule():
    """A new setting cannot be added without saying who decides it."""
    assert set(RULES) == {".".join(where) for where in variables().values()} | {"templates"}


def test_the_default_is_always_within_the_bounds():
    """What a repository may set includes what would count without it."""
    for key, rule in RULES.items():
        table, _, name = key.partition(".")
        value = getattr(getattr(Settings(), table), name) if name else None
        assert not isinstance(rule, RepositoryWithin) or value is None or needs_approval(key, value) == ""


def test_a_repository_decides_names_and_wording_alone(place, brought):
    """Its harmless keys count at once; the others keep their defaults, and are named."""
    brought(ASKED)
    loaded = load(place, {})
    assert (loaded.settings.board.ready, loaded.settings.checks.backoff_s, loaded.settings.pr.base) == (
        "Ready",
        30.0,
        "develop",
    )
    assert loaded.settings.github.url == ""
    assert loaded.settings.git.remote == "origin"
    assert loaded.settings.pr.require_gate
    assert not loaded.settings.pr.closes_issue
    assert [one.key for one in loaded.held_back] == ["github.url", "git.remote", "pr.require_gate", "pr.closes_issue"]
    assert held_back_line(loaded.held_back) == (
        "agent-sync ignores github.url, git.remote, pr.require_gate, pr.closes_issue in .agent-sync.toml: you have not "
        "approved this. `agent-sync trust --show` lists it, `agent-sync trust` allows it."
    )


def test_an_approval_is_of_one_value(place, brought):
    """What was approved counts; the same key with another value is held back again."""
    brought(ASKED)
    Approvals(place).add(load(place, {}).held_back, clock.now())
    assert load(place, {}).settings.git.remote == "vendor"
    assert load(place, {}).held_back == ()
    brought(ASKED.replace("vendor", "upstream"))
    loaded = load(place, {})
    assert (loaded.settings.git.remote, loaded.settings.github.url) == ("origin", "https://evil.example")
    assert [one.key for one in loaded.held_back] == ["git.remote"]


@pytest.mark.parametrize("content", [b"[1]", b"{", b"[" * 100_000, b'{"x": 1}'])
def test_a_broken_approval_file_approves_nothing(place, brought, content, tmp_path):
    """Approvals that cannot be read do not exist."""
    brought(ASKED)
    (tmp_path / "repo" / ".git" / "agentsync").mkdir()
    (tmp_path / "repo" / ".git" / "agentsync" / "trust.json").write_bytes(content)
    assert len(load(place, {}).held_back) == 4


@pytest.mark.parametrize("value", ["0", "5", "1e9", "1" + "0" * 400, "-1", "true", '"x"', "nan"])
def test_a_backoff_outside_its_bounds_is_not_taken(place, brought, value):
    """An absurd number is either an error that names it or held back, and never counts."""
    brought(f"[checks]\nbackoff_s = {value}\n")
    try:
        loaded = load(place, {})
    except BadConfig as error:
        assert "checks.backoff_s" in str(error)  # noqa: PT017  # either way it is named
    else:
        assert loaded.settings.checks.backoff_s == 120
        assert [one.key for one in loaded.held_back] == ["checks.backoff_s"]


def test_the_users_own_file_needs_no_approval(place, brought, tmp_path):
    """It stands over the repository's file and below the environment, and may be a link."""
    brought(ASKED)
    (tmp_path / "dotfiles.toml").write_text('[github]\nurl = "https://mine.example"\n[git]\nremote = "mine"\n')
    (tmp_path / "xdg" / "agent-sync").mkdir(parents=True)
    (tmp_path / "xdg" / "agent-sync" / "config.toml").symlink_to(tmp_path / "dotfiles.toml")
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "xdg"), "AGENT_SYNC_GIT_REMOTE": "third"}
    loaded = load(place, environment)
    assert (loaded.settings.github.url, loaded.settings.git.remote) == ("https://mine.example", "third")
    assert loaded.origin("github.url") is Origin.USER
    assert loaded.origin("git.remote") is Origin.ENVIRONMENT
    assert loaded.origin("board.ready") is Origin.REPOSITORY
    assert loaded.origin("board.done") is Origin.DEFAULT


def test_a_mistake_in_the_users_file_names_that_file(place, tmp_path):
    """The message says which of the files is wrong."""
    (tmp_path / ".config" / "agent-sync").mkdir(parents=True)
    (tmp_path / ".config" / "agent-sync" / "config.toml").write_text("[github]\nurl = 3\n")
    with pytest.raises(BadConfig, match=r"agent-sync/config\.toml:2: github\.url"):
        load(place, {"HOME": str(tmp_path)})


def test_a_variable_that_the_checkout_sets_is_its_word(place, brought):
    """Where .claude/settings.json sets it, a variable counts no more than the file would."""
    sets = {"AGENT_SYNC_GITHUB_URL": "https://evil.example", "AGENT_SYNC_BOARD_READY": "Ready"}
    brought("", **sets)
    loaded = load(place, sets)
    assert (loaded.settings.github.url, loaded.settings.board.ready) == ("", "Ready")
    assert [(one.key, one.source) for one in loaded.held_back] == [("github.url", ".claude/settings.json")]
    # With another value it comes from somewhere else: the user's shell.
    assert load(place, {"AGENT_SYNC_GITHUB_URL": "https://mine.example"}).settings.github.url == "https://mine.example"


@pytest.mark.parametrize(
    "name",
    [
        "AGENT_SYNC_NESTED",
        "GAUNTLET_STOP_HOOK_ACTIVE",
        "GAUNTLET_STOP_HOOK_ENABLED",
        "GIT_SSH_COMMAND",
        "GIT_CONFIG_COUNT",
        "HTTPS_PROXY",
        "https_proxy",
        "SSL_CERT_FILE",
        "XDG_CONFIG_HOME",
        "ATLAS_HOME",
        "AGENT_SYNC_NO_SUCH_THING",
    ],
)
def test_variables_that_steer_us_are_taken_out(place, brought, name):
    """What silences hooks, what git runs, where requests go and where files are kept is not the checkout's to say."""
    brought("", **{name: "/evil", "NODE_ENV": "test"})
    environment = {name: "/evil", "NODE_ENV": "test"}
    loaded = load(place, environment)
    assert loaded.environment == {"NODE_ENV": "test"}
    assert own_environment(place, environment) == {"NODE_ENV": "test"}
    assert [one.key for one in loaded.held_back] == [name]
    Approvals(place).add(loaded.held_back, clock.now())
    assert own_environment(place, environment) == environment


def test_a_settings_file_that_cannot_be_parsed_is_doubted(place, tmp_path):
    """Comments are allowed there: then being named is enough."""
    text = '{"env": {"GIT_SSH_COMMAND": "evil"}} // a comment'
    (tmp_path / "repo" / ".claude" / "settings.local.json").write_text(text)
    assert own_environment(place, {"GIT_SSH_COMMAND": "evil", "GIT_TRACE": "0"}) == {"GIT_TRACE": "0"}


HOSTILE = {
    "link": lambda file: file.symlink_to("/dev/zero"),
    "link to a file": lambda file: (file.with_name("x").write_text(""), file.symlink_to("x")),
    "pipe": lambda file: __import__("os").mkfifo(file),
    "directory": lambda file: file.mkdir(),
    "large": lambda file: file.write_bytes(b"#" * (65 * 1024)),
    "not text": lambda file: file.write_bytes(b"\xff\xfe"),
    "deep array": lambda file: file.write_bytes(b"x = " + b"[" * 30_000),
    "long key": lambda file: file.write_bytes(b".".join([b"a"] * 30_000) + b" = 1\n"),
    "long number": lambda file: file.write_bytes(b"[checks]\nbackoff_s = " + b"9" * 5000),
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_settings_file_is_an_error_at_once(place, make, tmp_path):
    """Whatever a checkout brings in its place, the file is refused by name; nothing hangs and no memory is eaten."""
    make(tmp_path / "repo" / ".agent-sync.toml")
    with pytest.raises(BadConfig, match=r"\.agent-sync\.toml"):
        load(place, {})
