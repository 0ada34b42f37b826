"""Git signs in with the token where it has no credentials of its own; a remote that says no is never passed over."""

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from support.clones import beside
from support.stage import Theatre

CLAIM_REF = "refs/agentsync/claims/42"
SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


def signed_in(theatre, **variables):
    """Return the theatre with a token in the environment."""
    return Theatre(replace(theatre.stage, environment=theatre.stage.environment | variables))


def refs(theatre):
    """Return the claim refs of the local GitHub."""
    return [ref["name"] for ref in theatre.stage.world()["refs"] if ref["name"].startswith("refs/agentsync/claims/")]


@pytest.fixture
def strict(theatre):
    """Return a clone whose server wants credentials for everything git does."""
    make_strict(theatre)
    return theatre


def make_strict(theatre):
    """Let the server want credentials, and know a token."""
    theatre.stage.act("git_credentials", required=True)
    theatre.stage.act("token", token=SECRET, kind="classic", login="octo", scopes=["repo", "project"])


def test_token_is_enough_for_git(theatre):
    """With a token and no credential helper the claim holds for everyone; the branch is pushed and the PR opened.

    Two clones with the same token cannot both take an issue, whatever the board shows.
    """
    two = signed_in(beside(theatre, "two"), GH_TOKEN=SECRET)
    make_strict(theatre)
    one = signed_in(theatre, GH_TOKEN=SECRET)
    played = one.stage.command("claim", "42")
    assert (played.status, "holds for everyone who uses origin" in played.stdout) == (0, True), played.stderr
    assert refs(theatre) == [CLAIM_REF]
    one.stage.commit("work.txt", "work\n", "Work")
    assert one.stage.command("handoff", "--summary", "Done").status == 0
    theatre.stage.act("set_field", issue=42, field="Agent", value=None)
    theatre.stage.act("assign", issue=42, users=[])
    assert two.stage.command("claim", "42").status == 3
    assert one.stage.command("release", "--force").status == 0


def test_secret_is_never_an_argument(strict, tmp_path):
    """No command line, log or message of a push shows the token; only git's environment has it.

    It is given to git for one command, and no credential store of the user learns it.
    """
    store = tmp_path / "store"
    strict.git("config", "credential.helper", f"store --file={store}")
    log, wrapper = tmp_path / "arguments", tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    real = "/usr/bin/git" if os.access("/usr/bin/git", os.X_OK) else os.popen("command -v git").read().strip()  # noqa: S605
    wrapper.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {log}\nexec {real} "$@"\n')
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    path = f"{wrapper.parent}:{strict.stage.environment.get('PATH', os.environ['PATH'])}"
    one = signed_in(strict, GH_TOKEN=SECRET, PATH=path)
    played = one.stage.command("claim", "42")
    assert played.status == 0, played.stderr
    assert "push" in log.read_text()
    kept = [file.read_bytes() for file in Path(one.stage.root, ".git").rglob("*") if file.is_file()]
    everything = [log.read_bytes(), played.stdout.encode(), played.stderr.encode(), *kept]
    assert not [text for text in everything if SECRET.encode() in text]
    assert not store.exists() or SECRET not in store.read_text()


def test_no_credentials_stop_a_claim(strict):
    """A remote that answers and wants credentials is no reason to claim for this clone only: exit 4, with the way out.

    For the doctor it is a failed check with the command that fixes it, not something to skip.
    """
    # Another name of the same server: the token is not meant for it.
    elsewhere(strict)
    one = signed_in(strict, GH_TOKEN=SECRET)
    played = one.stage.command("claim", "42")
    assert played.status == 4, (played.stdout, played.stderr)
    assert "error[git-denied]" in played.stderr
    assert "gh auth setup-git" in played.stderr
    assert "agent-sync claim 42 --local" in played.stderr
    assert (one.stage.claim(), refs(strict)) == (None, [])
    checks = json.loads(one.stage.command("doctor", "--json").stdout)["checks"]
    found = {check["name"]: check for check in checks}["claim refs"]
    assert (found["mark"], "gh auth setup-git" in found["fix"]) == ("fail", True), found
    local = one.stage.command("claim", "42", "--local")
    assert (local.status, "for this clone only: --local was given" in local.stdout) == (0, True), local.stderr


def elsewhere(theatre):
    """Call the server by a name that the token is not meant for."""
    url = theatre.git("remote", "get-url", "origin")
    theatre.git("remote", "set-url", "origin", url.replace("127.0.0.1", "localhost"))


def test_reader_is_told_apart_from_a_server_that_is_away(theatre):
    """403 to the push of a token that may only read is said as such, and nothing is claimed."""
    permissions = {"contents": "read", "issues": "write", "metadata": "read", "pull_requests": "write"}
    theatre.stage.act("token", token=SECRET, kind="fine_grained", login="octo", permissions=permissions)
    theatre.stage.act("git_credentials", required=True)
    played = signed_in(theatre, GH_TOKEN=SECRET).stage.command("claim", "42")
    assert (played.status, "Write access to repository not granted" in played.stderr) == (4, True), played.stderr
    assert theatre.stage.claim() is None


def test_archived_repository_is_named(theatre):
    """An archived repository is called that, and no scope is guessed at."""
    theatre.stage.act("read_only", on=True)
    played = theatre.stage.command("claim", "42")
    assert (played.status, theatre.stage.claim()) == (1, None), played.stdout
    assert "archived" in played.stderr
    assert "scope" not in played.stderr
