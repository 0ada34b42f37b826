"""`doctor --live` tries what works with this token here and leaves nothing; plain `doctor` changes nothing."""

import json
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.clients import shared_client
from support.stage import Theatre

GENERATOR = Path(__file__).parents[2] / "docs" / "permissions_table.py"


def checks(theatre, *options, **variables):
    """Return every check by name."""
    played = Theatre(replace(theatre.stage, environment=theatre.stage.environment | variables))
    values = json.loads(played.stage.command("doctor", "--json", *options).stdout)
    return {check["name"]: check for check in values["checks"]}


def test_plain_doctor_changes_nothing(theatre):
    """Neither GitHub, nor the remote, nor the clone is different after it, and nothing was pushed."""
    before = theatre.stage.world(), theatre.git("for-each-ref"), theatre.git("count-objects", "-v")
    found = checks(theatre)
    assert found["claim refs"]["mark"] == "ok"
    assert (theatre.stage.world(), theatre.git("for-each-ref"), theatre.git("count-objects", "-v")) == before
    journal = theatre.stage.control("GET", "requests?git=1")
    assert not [one for one in journal if one["method"] == "POST" and "receive-pack" in one["path"]]


def test_live_tries_everything_and_leaves_nothing(theatre):
    """Every row works with a token that may do all; refs, issues and pulls are as before."""
    before = theatre.stage.world()
    found = checks(theatre, "--live")
    live = {name: check["mark"] for name, check in found.items() if name.startswith("live: ")}
    assert set(live.values()) == {"ok"}
    assert {"live: claims by git", "live: claims by API", "live: write issues", "live: board"} <= set(live)
    assert "create, move, refuse a stale change, delete" in found["live: claims by git"]["says"]
    assert theatre.stage.world() == before


def test_live_says_what_a_token_may_not(theatre):
    """A token that may only read is told so for each write, with the permission that is missing."""
    permissions = {"contents": "read", "issues": "read", "metadata": "read", "pull_requests": "read"}
    theatre.stage.act("token", token="github_pat_reader00", kind="fine_grained", login="octo", permissions=permissions)
    theatre.stage.act("git_credentials", required=True)
    found = checks(theatre, "--live", GH_TOKEN="github_pat_reader00")
    assert (found["live: write issues"]["mark"], "Issues: write" in found["live: write issues"]["says"]) == (
        "fail",
        True,
    )
    assert found["live: open pull requests"]["mark"] == "fail"
    assert found["live: claims by git"]["mark"] == "fail"
    assert found["live: claims by API"]["mark"] == "warn"
    assert found["live: read issues"]["mark"] == "ok"


def test_live_tells_a_fenced_git_from_the_interface(theatre):
    """Where git may push branches only, claims work through the interface, and both are said."""
    theatre.stage.act("push_only", patterns=["refs/heads/*"])
    found = checks(theatre, "--live")
    assert (found["live: claims by git"]["mark"], found["live: claims by API"]["mark"]) == ("warn", "ok")


def test_permissions_page_is_fresh(monkeypatch):
    """The table of tokens is what `doctor --live` says of each kind on the local GitHub."""
    generator = runpy.run_path(str(GENERATOR))
    monkeypatch.setitem(generator["_checks"].__globals__, "subprocess", SimpleNamespace(run=ran_here))
    monkeypatch.setattr(sys, "argv", [str(GENERATOR), "--check"])
    with pytest.raises(SystemExit) as ended:
        generator["main"]()
    assert ended.value.code == 0


def ran_here(command, *, cwd=None, env=None, **options):
    """Run a program as `subprocess.run` does; our own command where everything is loaded already."""
    if command[:3] != [sys.executable, "-m", "agent_sync"]:
        return subprocess.run(command, cwd=cwd, env=env, check=options.pop("check"), **options)
    return shared_client().do_there(cwd, env, *command[3:], stdin="")
