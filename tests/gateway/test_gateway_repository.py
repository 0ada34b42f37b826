"""Which repository a remote is, for every form git accepts."""

import pytest

from agent_sync.errors import BadConfig
from agent_sync.gateway.transport.address import Repository, repository_of

KNOWN = {
    "https://github.com/octo/demo.git": Repository("github.com", "octo", "demo"),
    "https://github.com/octo/demo": Repository("github.com", "octo", "demo"),
    "https://github.com/octo/demo/": Repository("github.com", "octo", "demo"),
    "https://github.com/octo/demo.git/": Repository("github.com", "octo", "demo"),
    "HTTPS://GitHub.com/octo/Demo.git": Repository("github.com", "octo", "Demo"),
    "https://octo:ghp_secret@github.com/octo/demo.git": Repository("github.com", "octo", "demo"),
    "https://ghp_secret@github.com/octo/demo": Repository("github.com", "octo", "demo"),
    "https://www.github.com/octo/demo": Repository("github.com", "octo", "demo"),
    "http://github.com/octo/demo": Repository("github.com", "octo", "demo", is_plain=True),
    "http://127.0.0.1:8123/octo/demo.git": Repository("127.0.0.1", "octo", "demo", 8123, is_plain=True),
    "https://github.example.com:8443/octo/demo": Repository("github.example.com", "octo", "demo", 8443),
    "git@github.com:octo/demo.git": Repository("github.com", "octo", "demo"),
    "git@github.com:octo/demo": Repository("github.com", "octo", "demo"),
    "git@github.com:/octo/demo.git": Repository("github.com", "octo", "demo"),
    "github.com:octo/demo.git": Repository("github.com", "octo", "demo"),
    "org-1234@github.com:octo/demo.git": Repository("github.com", "octo", "demo"),
    "git@[::1]:octo/demo.git": Repository("::1", "octo", "demo"),
    "git@work:octo/demo.git": Repository("work", "octo", "demo"),
    "ssh://git@github.com/octo/demo.git": Repository("github.com", "octo", "demo"),
    "ssh://git@github.com:22/octo/demo.git": Repository("github.com", "octo", "demo"),
    "ssh://git@ssh.github.com:443/octo/demo.git": Repository("github.com", "octo", "demo"),
    "git+ssh://git@github.com/octo/demo.git": Repository("github.com", "octo", "demo"),
    "git://github.com/octo/demo.git": Repository("github.com", "octo", "demo"),
    "https://acme.ghe.com/octo/demo.git": Repository("acme.ghe.com", "octo", "demo"),
    "https://github.com/octo_acme/demo.js": Repository("github.com", "octo_acme", "demo.js"),
    "https://github.com/octo/.github": Repository("github.com", "octo", ".github"),
    "https://github.com/octo/demo%2Ejs": Repository("github.com", "octo", "demo.js"),
}


@pytest.mark.parametrize(("url", "repository"), KNOWN.items(), ids=KNOWN)
def test_an_address_names_its_repository(url, repository):
    """Every form of address git accepts leads to host, owner and name."""
    assert repository_of(url, remote="origin") == repository


UNKNOWN = [
    "/srv/git/demo.git", "../demo.git", "file:///srv/octo/demo.git", r"C:\code\demo", "C:/code/demo",
    "https://github.com/demo.git", "https://github.com/a/b/c", "https://github.com", "https:///octo/demo",
    "https://gist.github.com/octo/0123abc.git", "ext::ssh -i key host %S octo/demo", "ftp://github.com/octo/demo",
    "https://github.com:port/octo/demo", "git@github.com:demo.git", "https://github.com/octo/..", "octo/demo",
    "https://github.com/oc to/demo", "https://github.com/octo/de\nmo", "https://[::1/octo/demo",
]  # fmt: skip


@pytest.mark.parametrize("url", UNKNOWN)
def test_what_cannot_be_known_is_not_guessed(url):
    """An address that names no GitHub repository stops with a message that helps."""
    with pytest.raises(BadConfig, match=r"names no GitHub repository.*git remote set-url origin"):
        repository_of(url, remote="origin")


@pytest.mark.parametrize("url", [None, ""])
def test_a_missing_remote_is_said(url):
    """A remote that does not exist is named."""
    with pytest.raises(BadConfig, match=r"no remote 'upstream'.*git remote add upstream"):
        repository_of(url, remote="upstream")


def test_a_password_is_not_shown():
    """The message about an address does not show what stands before the host."""
    with pytest.raises(BadConfig) as raised:
        repository_of("https://octo:ghp_secret@github.com/a/b/c", remote="origin")
    assert "ghp_secret" not in str(raised.value)
