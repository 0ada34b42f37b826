"""Where a GitHub's interfaces are."""

import pytest

from agent_sync.errors import BadConfig
from agent_sync.gateway.transport.address import Repository, endpoint_of, is_loopback, repository_of

CLOUD = Repository("github.com", "octo", "demo")
GITHUB = ("https://api.github.com", "https://api.github.com/graphql")
ROWS = {
    "github.com": ("https://github.com/octo/demo", "", *GITHUB),
    "github.com over http": ("http://github.com/octo/demo", "", *GITHUB),
    "ssh": ("git@github.com:octo/demo", "", *GITHUB),
    "ghe.com": (
        "https://acme.ghe.com/o/d", "", "https://api.acme.ghe.com", "https://api.acme.ghe.com/graphql",
    ),
    "Enterprise": ("git@git.acme.com:o/d", "", "https://git.acme.com/api/v3", "https://git.acme.com/api/graphql"),
    "Enterprise on a port": (
        "https://git.acme.com:8443/o/d", "", "https://git.acme.com:8443/api/v3", "https://git.acme.com:8443/api/graphql",
    ),
    "Enterprise over http": (
        "http://git.acme.com/o/d", "", "https://git.acme.com/api/v3", "https://git.acme.com/api/graphql",
    ),
    "ssh on a port": (
        "ssh://git@git.acme.com:2222/o/d", "", "https://git.acme.com/api/v3", "https://git.acme.com/api/graphql",
    ),
    "loopback remote": (
        "http://127.0.0.1:81/o/d", "", "http://127.0.0.1:81/api/v3", "http://127.0.0.1:81/api/graphql",
    ),
    "configured root": (
        "git@github.com:o/d", "http://127.0.0.1:81", "http://127.0.0.1:81/api/v3", "http://127.0.0.1:81/api/graphql",
    ),
    "configured root with a slash": (
        "git@github.com:o/d", "http://localhost:81/", "http://localhost:81/api/v3", "http://localhost:81/api/graphql",
    ),
    "configured IPv6 root": (
        "git@github.com:o/d", "http://[::1]:81", "http://[::1]:81/api/v3", "http://[::1]:81/api/graphql",
    ),
    "configured interface": (
        "git@x:o/d", "https://git.acme.com/api/v3", "https://git.acme.com/api/v3", "https://git.acme.com/api/graphql",
    ),
    "configured github.com": ("git@work:octo/demo", "https://github.com", *GITHUB),
    "configured api.github.com": ("git@work:octo/demo", "https://api.github.com", *GITHUB),
    "configured ghe.com": (
        "git@work:o/d", "https://api.acme.ghe.com", "https://api.acme.ghe.com", "https://api.acme.ghe.com/graphql",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("remote", "url", "rest", "graphql"), ROWS.values(), ids=ROWS)
def test_each_github_has_its_addresses(remote, url, rest, graphql):
    """REST and GraphQL are where that kind of server has them."""
    endpoint = endpoint_of(repository_of(remote, remote="origin"), url)
    assert (endpoint.rest, endpoint.graphql) == (rest, graphql)


BAD = {
    "not an address": "github.com",
    "another scheme": "ftp://github.example.com",
    "a path": "https://github.example.com/some/where",
    "a password": "https://me:secret@github.example.com",
    "the clear": "http://github.example.com",
    "a port that is none": "http://127.0.0.1:x",
}


@pytest.mark.parametrize("url", BAD.values(), ids=BAD)
def test_a_root_that_cannot_be_right_is_refused(url):
    """A configured root is refused rather than repaired, and its password is not shown."""
    with pytest.raises(BadConfig, match="AGENT_SYNC_GITHUB_URL") as raised:
        endpoint_of(CLOUD, url)
    assert "secret" not in str(raised.value)


def test_a_name_only_ssh_knows_is_not_guessed():
    """A host alias of ssh cannot be turned into a server."""
    with pytest.raises(BadConfig, match="only this machine's ssh knows"):
        endpoint_of(Repository("work", "octo", "demo"), "")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_this_machine_is_recognised(host):
    """Every way to name this machine counts; a name below it does not, because resolvers differ."""
    assert is_loopback(host)
    assert not is_loopback(f"{host}.example.com")
    assert not is_loopback("evil.localhost")
