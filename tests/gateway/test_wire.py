"""What the gateway loads and opens: as little as possible, as late as possible, and nothing it keeps open."""

import json
import socket
import subprocess
import sys

import pytest
from documented import answer
from local_github import context_in, repository_in, settings_of

from agent_sync.errors import BadConfig, NotSignedIn
from agent_sync.gateway.github import GitHub

LOADED = """
import json, os, sys
from agent_sync.context import Context
from agent_sync.gateway.github import GitHub
from agent_sync.worktree import worktree
from agent_sync.settings import Settings
settings = Settings.model_validate({{"project": {{"number": 1}}, "github": {{"url": {url!r}}}}})
context = Context(worktree({root!r}), settings, dict(os.environ), GitHub.reaching)
before = set(sys.modules)
gateway = GitHub.reaching(context)
connected = set(sys.modules)
gateway.card(42)
print(json.dumps([sorted(connected - before), sorted(set(sys.modules) - before)]))
"""


def test_a_question_loads_no_client_library(local):
    """Connecting loads nothing that connects; a question loads the standard library's client, and no parser or retries."""
    program = LOADED.format(root=str(local.root), url=local.url)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0, ended.stderr
    connected, asked = (set(names) for names in json.loads(ended.stdout))
    assert "http.client" in asked - connected
    assert not asked & {"gql", "graphql", "tenacity", "click", "rich", "pygments", "truststore", "asyncio"}
    assert not asked & {"github", "requests", "httpx", "urllib3", "jwt", "cryptography", "nacl", "urllib.request"}
    assert not {name for name in asked if name.startswith("pydantic")}


def test_the_request_says_who_we_are(documented):
    """Each request carries the token in its header and our name, and asks HTTP/1.1 of the right address."""
    documented.given("Card", answer())
    documented.gateway(token="ghp_shown").card(42)
    assert documented.headers[0]["authorization"] == "Bearer ghp_shown"
    assert documented.headers[0]["user-agent"].startswith("agent-sync/")


def test_nothing_leaves_the_machine():
    """The guard of these tests stops any connection to other than loopback."""
    with socket.socket() as plug, pytest.raises(pytest.fail.Exception, match="leave the machine"):
        plug.connect(("192.0.2.1", 443))


def test_a_worktree_without_a_github_is_told_so(tmp_path):
    """Connecting stops with a message where the repository or the token cannot be known."""
    root = repository_in(tmp_path / "plain", "/srv/git/demo.git")
    with pytest.raises(BadConfig, match="names no GitHub repository"):
        GitHub.reaching(context_in(root, settings_of()))
    with pytest.raises(BadConfig, match="no remote 'upstream'"):
        GitHub.reaching(context_in(root, settings_of(git={"remote": "upstream"})))
    cloud = repository_in(tmp_path / "cloud", "git@github.com:octo/demo.git")
    with pytest.raises(NotSignedIn):
        GitHub.reaching(context_in(cloud, settings_of(), PATH="/usr/bin"))


def test_a_real_push_is_seen(local):
    """What git pushes to the remote is what the next look finds, to the commit."""
    local.git("fetch", "--quiet", "origin")
    local.git("switch", "--quiet", "--create", "claude/fix-42", "origin/main")
    local.git("commit", "--quiet", "--allow-empty", "--message", "Fix it")
    local.git("push", "--quiet", "origin", "claude/fix-42")
    seen = local.gateway().lookup(branch="claude/fix-42", issue=42)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=local.root, capture_output=True, text=True, check=True)
    assert (seen.remote_sha, seen.commits_ahead) == (head.stdout.strip(), 1)
