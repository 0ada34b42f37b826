"""Which repository a worktree is about where the remote's address does not say it: settings, GH_REPO, ssh's aliases."""

import pytest
from local_github import context_in, repository_in, settings_of

from agent_sync.errors import BadConfig
from agent_sync.gateway.transport import address
from agent_sync.gateway.transport.address import address_of

PROXY = "http://local_proxy@127.0.0.1:55072/git/acme/momentum"
ROWS = {
    "setting": (PROXY, {"repository": "acme/momentum"}, {}, ("github.com", "acme/momentum")),
    "setting with a host": (PROXY, {"repository": "git.acme.com/a/b"}, {}, ("git.acme.com", "a/b")),
    "setting over the remote": ("git@git.acme.com:x/y", {"repository": "a/b"}, {}, ("git.acme.com", "a/b")),
    "GH_REPO": (PROXY, {}, {"GH_REPO": "acme/momentum"}, ("github.com", "acme/momentum")),
    "GH_REPO is no reason to leave the remote": (
        "https://github.com/octo/demo",
        {},
        {"GH_REPO": "acme/momentum"},
        ("github.com", "octo/demo"),
    ),
    "no remote at all": ("", {"repository": "acme/api"}, {}, ("github.com", "acme/api")),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_repository_is_named(row, tmp_path):
    """The setting counts before the remote, and GH_REPO where the remote names none."""
    remote, table, variables, expected = row
    root = repository_in(tmp_path / "clone", remote or "x")
    context = context_in(root, settings_of(github=table), **variables)
    repository, endpoint = address_of(context)
    assert (endpoint.host, repository.full_name) == expected


def test_remote_that_names_none_is_said(tmp_path):
    """Without a name the message offers the setting's way, which does not break the sandbox's git."""
    context = context_in(repository_in(tmp_path / "clone", PROXY), settings_of())
    with pytest.raises(BadConfig, match="names no GitHub repository") as raised:
        address_of(context)
    assert "GH_REPO" in raised.value.helps


def test_ssh_alias_is_resolved_as_ssh_does(tmp_path):
    """`git@github.com-work:acme/api` is github.com where the user's ssh says so; ssh is asked once."""
    address._SSH_HOSTS.clear()
    program, asked = tmp_path / "bin" / "ssh", tmp_path / "asked"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >> {asked}\necho "user git"\necho "hostname github.com"\n')
    program.chmod(0o755)
    root = repository_in(tmp_path / "clone", "git@github.com-work:acme/api.git")
    context = context_in(root, settings_of())
    path = f"{program.parent}:{context.environment['PATH']}"
    context = context_in(root, settings_of(), PATH=path)
    for _ in range(2):
        repository, endpoint = address_of(context)
        assert (endpoint.host, repository.full_name) == ("github.com", "acme/api")
    assert asked.read_text() == "-G github.com-work\n"
    address._SSH_HOSTS.clear()
