"""The real gh, from another process, against the local GitHub."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_sync.emulator.server import running

OLDEST = (2, 46)
REPO = ("-R", "octo/demo")
BOARD = ("1", "--owner", "octo")


def gh_version(program: str) -> tuple[int, ...]:
    """Return the version of an installed gh, without letting it read anybody's settings."""
    printed = subprocess.run(
        [program, "--version"], capture_output=True, text=True, check=False, timeout=20,
        env={"HOME": "/nonexistent", "PATH": os.defpath},
    ).stdout  # fmt: skip
    found = re.search(r"gh version (\d+)\.(\d+)", printed)
    return tuple(map(int, found.groups())) if found else (0, 0)


@dataclass
class CommandLine:
    """Runs gh as someone signed in to the local GitHub."""

    program: str
    environment: dict[str, str]
    folder: Path

    def ended(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run gh and return how it ended."""
        return subprocess.run(
            [self.program, *arguments], capture_output=True, text=True, check=False, timeout=60,
            cwd=self.folder, env=self.environment | environment, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def __call__(self, *arguments: str) -> str:
        """Run gh, which must work, and return what it printed."""
        done = self.ended(*arguments)
        assert done.returncode == 0, f"gh {' '.join(arguments)}: {done.stderr}"
        return done.stdout.strip()

    def json(self, *arguments: str):
        """Run gh and read what it printed."""
        return json.loads(self(*arguments))


@pytest.fixture(params=["socket", "proxy"])
def github(request, tmp_path_factory):
    """Return a running local GitHub and a gh that reaches it, by either route that needs no rights."""
    program = shutil.which("gh")
    if program is None or gh_version(program) < OLDEST:
        pytest.skip(f"no gh {OLDEST[0]}.{OLDEST[1]} or newer is installed")
    home = tmp_path_factory.mktemp("gh")
    socket = str(home / "s")
    with running(unix_socket=socket) as server:
        environment = {
            "HOME": str(home), "GH_CONFIG_DIR": str(home / "config"), "GH_TOKEN": "any", "NO_COLOR": "1",
            "GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "PATH": os.environ["PATH"],
            "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
        }  # fmt: skip
        if request.param == "proxy":
            environment |= {"GH_HOST": "github.localhost", "http_proxy": server.url}
        gh = CommandLine(program, environment, home)
        if request.param == "socket":
            gh("config", "set", "http_unix_socket", socket)
        yield server, gh


def act(server, name, /, **fields):
    """Let somebody else act on the world."""
    from agent_sync.emulator.acts.perform import perform

    with server.world.lock:
        return perform(server.world, {"act": name, **fields})


def test_gh_issues(github):
    """View, list, create, edit, comment on, close and reopen issues."""
    server, gh = github
    issues = server.world.repository("octo", "demo").conversations
    assert "Fix race condition in cache" in gh("issue", "view", "42", *REPO)
    read = gh.json("issue", "view", "42", *REPO, "--json", "number,state,projectItems,assignees,comments")
    assert (read["state"], read["projectItems"][0]["status"]["name"]) == ("OPEN", "Todo")
    assert len(gh("issue", "list", *REPO).splitlines()) == 4
    assert gh.json("issue", "list", *REPO, "--assignee", "mona", "--json", "number") == [{"number": 40}]
    gh("issue", "edit", "42", *REPO, "--add-assignee", "@me", "--add-label", "bug", "--title", "New")
    assert [user.login for user in issues[42].assignees] == ["octo"]
    assert (issues[42].title, [label.name for label in issues[42].labels]) == ("New", ["bug"])
    gh("issue", "edit", "42", *REPO, "--remove-assignee", "octo")
    assert issues[42].assignees == []
    assert gh("issue", "create", *REPO, "--title", "t", "--body", "b").endswith("/octo/demo/issues/45")
    gh("issue", "comment", "42", *REPO, "--body", "hello")
    gh("issue", "close", "42", *REPO, "--comment", "done")
    assert [comment.body for comment in issues[42].comments] == ["hello", "done"]
    assert (issues[42].is_open, issues[42].state_reason) == (False, "completed")
    gh("issue", "reopen", "42", *REPO)
    assert issues[42].is_open
    assert "999" in gh.ended("issue", "view", "999", *REPO).stderr


def test_gh_project(github):
    """View a board, list its fields and items, add, edit, clear and archive a card."""
    server, gh = github
    assert gh("project", "list", "--owner", "octo").startswith("1\tDemo board\topen")
    board = gh.json("project", "view", *BOARD, "--format", "json")
    assert (board["items"]["totalCount"], board["owner"]["login"]) == (5, "octo")
    fields = gh.json("project", "field-list", *BOARD, "--format", "json")["fields"]
    status = next(field for field in fields if field["name"] == "Status")
    agent = next(field for field in fields if field["name"] == "Agent")
    number = act(server, "add_issue", title="New")["number"]
    url = f"https://github.com/octo/demo/issues/{number}"
    card = gh.json("project", "item-add", *BOARD, "--url", url, "--format", "json")["id"]
    place = ("--id", card, "--project-id", board["id"], "--field-id")
    option = next(entry["id"] for entry in status["options"] if entry["name"] == "In Progress")
    gh("project", "item-edit", *place, status["id"], "--single-select-option-id", option)
    gh("project", "item-edit", *place, agent["id"], "--text", "claude-1")
    items = gh.json("project", "item-list", *BOARD, "--format", "json", "--limit", "100")["items"]
    shown = next(item for item in items if item["id"] == card)
    assert (shown["status"], shown["agent"], shown["content"]["number"]) == (
        "In Progress",
        "claude-1",
        number,
    )
    gh("project", "item-edit", *place, agent["id"], "--clear")
    gh("project", "item-archive", *BOARD, "--id", card)
    left = gh.json("project", "item-list", *BOARD, "--format", "json")["items"]
    assert card not in [item["id"] for item in left]


def test_gh_project_without_the_scope(github):
    """Without the scope, gh itself says which one is missing."""
    _, gh = github
    done = gh.ended("project", "view", *BOARD, GH_TOKEN="no-project-scope")
    assert done.returncode != 0
    assert "read:project" in done.stderr


def test_gh_pull_requests(github):
    """Create, find, view, check, comment on, close, reopen and merge a pull request."""
    server, gh = github
    act(server, "push_commit", branch="work", path="work.txt", content="x\n")
    new = ("--head", "work", "--base", "main", "--title", "Work", "--body", "Closes #42")
    create = ("pr", "create", *REPO, *new)
    assert gh(*create).endswith("/octo/demo/pull/45")
    assert "already exists" in gh.ended(*create).stderr
    act(server, "add_check", pull=45, name="test", conclusion="success")
    act(server, "add_check", pull=45, name="build", conclusion="failure")
    checks = gh.ended("pr", "checks", "45", *REPO)
    assert (checks.returncode, sorted(line.split("\t")[1] for line in checks.stdout.splitlines())) == (
        1,
        ["fail", "pass"],
    )
    assert gh.json("pr", "list", *REPO, "--head", "work", "--state", "all", "--json", "number") == [{"number": 45}]
    names = "state,mergeable,mergeStateStatus,headRefOid,files,commits,statusCheckRollup,reviewDecision,isDraft"
    read = gh.json("pr", "view", "45", *REPO, "--json", names)
    assert (read["state"], read["mergeable"], read["mergeStateStatus"]) == ("OPEN", "MERGEABLE", "UNSTABLE")
    assert (read["files"][0]["path"], len(read["commits"])) == ("work.txt", 1)
    assert len(read["statusCheckRollup"]) == 2
    gh("pr", "comment", "45", *REPO, "--body", "look")
    gh("pr", "ready", "45", *REPO, "--undo")
    gh("pr", "ready", "45", *REPO)
    gh("pr", "close", "45", *REPO)
    gh("pr", "reopen", "45", *REPO)
    gh("pr", "merge", "45", *REPO, "--squash")
    assert gh.json("pr", "view", "45", *REPO, "--json", "state") == {"state": "MERGED"}
    assert gh.json("issue", "view", "42", *REPO, "--json", "state") == {"state": "CLOSED"}
