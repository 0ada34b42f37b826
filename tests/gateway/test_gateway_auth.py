"""Which token goes to which GitHub."""

import pytest

from agent_sync.errors import NotSignedIn
from agent_sync.gateway.transport.address import NamedBy, endpoint_of, repository_of
from agent_sync.gateway.transport.token import find_token
from agent_sync.system.processes import Processes

CLOUD, GHE = "https://github.com/o/d", "https://acme.ghe.com/o/d"
SERVER, LOCAL = "https://git.acme.com/o/d", "http://127.0.0.1:9/o/d"
ROWS = {
    "GH_TOKEN first": (CLOUD, "", {"GH_TOKEN": "a", "GITHUB_TOKEN": "b"}, "a"),
    "the board's before it": (CLOUD, "", {"GH_TOKEN": "a", "GH_BOARD_TOKEN": "p"}, "p"),
    "an empty one of the board does not count": (CLOUD, "", {"GH_TOKEN": "a", "GH_BOARD_TOKEN": ""}, "a"),
    "a server that a remote names gets none of the board": (
        SERVER,
        "",
        {"GH_BOARD_TOKEN": "p", "GH_ENTERPRISE_TOKEN": "e"},
        "e",
    ),
    "then GITHUB_TOKEN": (CLOUD, "", {"GITHUB_TOKEN": "b"}, "b"),
    "an empty one does not count": (CLOUD, "", {"GH_TOKEN": " ", "GITHUB_TOKEN": "b"}, "b"),
    "then gh": (CLOUD, "", {}, "from-gh-github.com"),
    "ghe.com too": (GHE, "", {"GH_TOKEN": "a"}, "a"),
    "an Enterprise server has its own": (SERVER, "", {"GH_TOKEN": "a", "GH_ENTERPRISE_TOKEN": "e"}, "e"),
    "under either name": (SERVER, "", {"GH_TOKEN": "a", "GITHUB_ENTERPRISE_TOKEN": "e"}, "e"),
    "or asks gh, without the plain ones": (SERVER, "", {"GH_TOKEN": "a"}, "from-gh-git.acme.com"),
    "a server the user names": (CLOUD, "https://git.acme.com", {"GH_TOKEN": "a"}, "a"),
    "a loopback remote gets no plain one": (LOCAL, "", {"GH_TOKEN": "a"}, "local"),
    "the local GitHub works without any": (LOCAL, "", {}, "local"),
    "the local GitHub the user names": (CLOUD, "http://127.0.0.1:9", {"GH_TOKEN": "as:mona"}, "as:mona"),
}
BY_THE_REPOSITORY = {
    "an approved server": ("https://git.acme.com", {"GH_TOKEN": "a"}, "from-gh-git.acme.com"),
    "an approved server with its own": ("https://git.acme.com", {"GH_ENTERPRISE_TOKEN": "e"}, "e"),
    "the local GitHub": ("http://127.0.0.1:9", {"GH_TOKEN": "a", "GH_ENTERPRISE_TOKEN": "e"}, "local"),
}


@pytest.fixture
def gh(tmp_path):
    """A gh that answers with the host it was asked about, unless it was handed a plain token."""
    program = tmp_path / "bin" / "gh"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\n[ "$1 $2 $3" = "auth token --hostname" ] || exit 1\necho "${GH_TOKEN}from-gh-$4"\n')
    program.chmod(0o755)
    return program


def found(remote, url, environment, tmp_path, named_by=NamedBy.USER):
    """Return the token for a remote, with only the fake gh on the path."""
    endpoint = endpoint_of(repository_of(remote, remote="origin"), url, named_by=named_by)
    searched = {"PATH": f"{tmp_path / 'bin'}"}
    return find_token(endpoint, searched | environment, Processes(), directory=str(tmp_path))


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
@pytest.mark.usefixtures("gh")
def test_each_github_gets_its_token(row, tmp_path, monkeypatch):
    """The order is the environment, then gh; a token never goes to a server it is not meant for."""
    remote, url, environment, token = row
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}")
    assert found(remote, url, environment, tmp_path).secret == token


@pytest.mark.parametrize("row", BY_THE_REPOSITORY.values(), ids=BY_THE_REPOSITORY)
@pytest.mark.usefixtures("gh")
def test_a_server_that_a_file_of_the_repository_names_gets_no_plain_token(row, tmp_path, monkeypatch):
    """Approved, it gets what is meant for Enterprise servers; on this machine it gets a placeholder."""
    url, environment, token = row
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}")
    assert found(CLOUD, url, environment, tmp_path, NamedBy.REPOSITORY).secret == token


@pytest.mark.parametrize("script", ["exit 1", "echo", None], ids=["gh fails", "gh is silent", "no gh"])
def test_no_token_is_said(tmp_path, gh, script, monkeypatch):
    """Without any token the message says where one was looked for and how to sign in."""
    gh.write_text(f"#!/bin/sh\n{script}\n") if script else gh.unlink()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}")
    with pytest.raises(NotSignedIn, match=r"no token for github\.com.*GH_TOKEN.*gh auth login --hostname github\.com"):
        found(CLOUD, "", {}, tmp_path)


def test_a_slow_gh_is_not_waited_for(tmp_path, gh, monkeypatch):
    """A gh that hangs is ended at its limit and counts as having no token."""
    from agent_sync.gateway.transport import token

    gh.write_text("#!/bin/sh\nexec /bin/sleep 30\n")
    monkeypatch.setattr(token, "GH_LIMIT_S", 0.2)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}")
    with pytest.raises(NotSignedIn):
        found(CLOUD, "", {}, tmp_path)


@pytest.mark.parametrize("text", ["two words", "line\nbreak", "“quoted”"])
def test_what_is_not_a_token_is_not_sent(text, tmp_path):
    """A value that could break a header is refused without being shown."""
    with pytest.raises(NotSignedIn, match="What GH_TOKEN holds is not a token") as raised:
        found(CLOUD, "", {"GH_TOKEN": text}, tmp_path)
    assert text not in str(raised.value)


def test_a_token_does_not_show_itself(tmp_path):
    """A token's text form does not hold its secret."""
    assert "ghp_secret" not in repr(found(CLOUD, "", {"GH_TOKEN": "ghp_secret"}, tmp_path))


def test_the_token_of_the_board_is_not_for_git(tmp_path):
    """Where a second token reaches the board, git still signs in with the first."""
    endpoint = endpoint_of(repository_of(CLOUD, remote="origin"), "")
    both = {"GH_TOKEN": "a", "GH_BOARD_TOKEN": "p"}
    token = find_token(endpoint, both, Processes(), directory=str(tmp_path), for_git=True)
    assert (token.secret, token.source) == ("a", "GH_TOKEN")
