"""The GitHub Action's step, run as a runner runs it: `GITHUB_*` files, no checkout, and the local GitHub."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from support.clones import SHORT, beside, committed_ago, long_ago, ref, with_variables

from agent_sync.action.pinned_issue import BEGIN

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

from scale_tables import run_requests

HOSTILE = "`x` ``y`` @octo <img src=x> ##[error]no ::error::no | </table> <!-- agent-sync: fleet --> [a](javascript:1)"


class Runner:
    """A runner of GitHub Actions with an empty workspace."""

    def __init__(self, theatre, directory) -> None:
        self.theatre, self.directory = theatre, directory
        self.workspace, self.summary, self.temp = directory / "work", directory / "summary.md", directory / "temp"
        self.workspace.mkdir()
        self.temp.mkdir()

    def step(self, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run the step once, with a summary file of its own."""
        self.summary.write_text("")
        # A runner has no identity of git, and whoever calls the Action may work on another repository.
        people = {
            name: "" for name in self.theatre.stage.environment if name.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))
        }
        given = {
            "GITHUB_SERVER_URL": self.theatre.stage.url,
            "GITHUB_REPOSITORY": "octo/demo",
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "RUNNER_TEMP": str(self.temp),
            "GH_TOKEN": "ghs_aTokenOfARunner",
            "AGENT_SYNC_LEASE_ALLOWANCE_S": "0",
        }
        environment = with_variables(self.theatre, **people, **given).stage.environment | inputs
        command = [sys.executable, "-I", "-m", "agent_sync.action"]
        return subprocess.run(
            command, cwd=self.workspace, env=environment, capture_output=True, text=True, check=False, timeout=120
        )


@pytest.fixture
def runner(theatre, tmp_path):
    """Set up a runner beside a clone of the local GitHub."""
    return Runner(theatre, tmp_path)


def written(theatre):
    """Return everything on GitHub that the Action could write."""
    world = theatre.stage.world()
    return {name: world[name] for name in ("refs", "issues", "comments", "items", "pulls")}


def text_of(theatre, issue):
    """Return what an issue's first post says."""
    address = f"{theatre.stage.url}/api/v3/repos/octo/demo/issues/{issue}"
    with urllib.request.urlopen(address, timeout=30) as answer:  # noqa: S310  # the local GitHub
        return json.load(answer)["body"]


def test_a_run_frees_and_prunes_and_shows_and_a_second_one_changes_nothing(theatre, runner):
    """An expired lease is freed with a comment, claims by hand or with an open PR stay, refs of closed ones go.

    As `GITHUB_TOKEN`, a token that reaches no board frees claims all the same; the board's token makes the card true.
    """
    theatre.stage.act("add_issue", title=HOSTILE, status="Todo")
    theatre.stage.act("add_issue", title="Fourth", status="Todo")
    theatre.stage.act("add_issue", title="Fleet", body="Kept by hand.", status="Done")
    third, fourth, fleet = (issue["number"] for issue in theatre.stage.world()["issues"][-3:])
    bob, carol, dave = beside(theatre, "bob", **SHORT), beside(theatre, "carol"), beside(theatre, "dave", **SHORT)
    short = with_variables(theatre, AGENT_SYNC_LEASE_TTL_S="1")
    with long_ago(theatre):
        for clone, issue in ((bob, 42), (carol, third), (dave, 43)):
            assert clone.stage.command("claim", str(issue)).status == 0
        committed_ago(dave, 2)
        assert with_variables(dave, CLAUDECODE="").stage.command("handoff", "--summary", "Third").status == 0
        assert short.stage.command("claim", str(fourth)).status == 0
        assert short.stage.command("release").status == 0
    theatre.stage.act("close_issue", issue=fourth)

    before = written(theatre)
    theatre.stage.control("DELETE", "requests")
    dry = runner.step(ACTION_DRY_RUN="true", ACTION_PINNED_ISSUE=str(fleet))
    assert dry.returncode == 0, dry.stderr
    assert len(theatre.operations()) == run_requests(3), "what docs/scale.md counts"
    assert written(theatre) == before
    assert "nothing written (dry run)" in runner.summary.read_text()

    boardless = runner.step(GH_TOKEN="no-project-scope")
    assert boardless.returncode == 0, boardless.stderr
    assert "cards were not compared" in runner.summary.read_text()
    assert "agent-sync freed this claim" in theatre.comments(42)[0]
    assert theatre.card(42)["Agent"] == bob.stage.claim()["agent_id"]

    done = runner.step(ACTION_PINNED_ISSUE=str(fleet), GH_TOKEN="no-project-scope", GH_BOARD_TOKEN="of-the-board")
    assert done.returncode == 0, done.stderr
    assert not theatre.card(42).get("Agent")
    assert theatre.issue(42)["assignees"] == []
    assert len([text for text in theatre.comments(42) if "agent-sync freed this claim, which has expired" in text]) == 1
    assert theatre.card(third)["Agent"]
    assert ref(theatre, "refs/agentsync/claims/43")
    assert ref(theatre, f"refs/agentsync/claims/{fourth}") is None
    summary = runner.summary.read_text()
    assert "cards were not compared" not in summary
    for lane in ("### Needs you (", "### Working (", "### Waiting (", "### Ready ("):
        assert lane in summary
    assert f"[#42]({theatre.stage.url}/octo/demo/issues/42)" in summary
    body = text_of(theatre, fleet)
    assert body.startswith(f"Kept by hand.\n\n{BEGIN}")
    assert body.count(BEGIN) == 2, "ours, and the one that a title holds, which stands in code"
    # Whatever a title says, the runner was told before not to obey it.
    first, *_, last = done.stdout.splitlines()
    assert first.startswith("::stop-commands::")
    assert last == f"::{first.rpartition('::')[2]}::"

    after = written(theatre)
    again = runner.step(ACTION_PINNED_ISSUE=str(fleet))
    assert again.returncode == 0, again.stderr
    assert f"Issue #{fleet} is up to date." in again.stdout
    assert (written(theatre), text_of(theatre, fleet)) == (after, body)
    assert (list(runner.workspace.iterdir()), list(runner.temp.iterdir())) == ([], [])


def test_the_settings_of_the_default_branch_count(theatre, runner):
    """Without a checkout `.agent-sync.toml` is read from the default branch, and one that is wrong is an error."""
    theatre.stage.commit(".agent-sync.toml", "[lease]\nttl_s = 'soon'\n", "Configure")
    theatre.git("push", "-q", "origin", "HEAD:main")
    done = runner.step()
    assert done.returncode != 0
    assert "lease.ttl_s" in done.stdout
    assert "::error title=agent-sync::" in done.stdout.splitlines()[-1]


def test_an_input_that_makes_no_sense_is_one_line(theatre, runner):
    """A wrong input fails before anything is asked, and says which one it was."""
    theatre.stage.control("DELETE", "requests")
    done = runner.step(ACTION_PINNED_ISSUE="the first\n::set-output")
    assert done.returncode != 0
    assert done.stdout.splitlines()[-1].startswith("::error title=agent-sync::The input pinned-issue is 'the first")
    assert theatre.stage.control("GET", "requests") == []
