"""Work hooks through the command line, on the local GitHub."""

import json
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from support.clients import Client, shared_nursery
from support.clones import dies_at_push
from support.command import COVERAGE
from support.prove import PROVE
from support.stage import Theatre, agent, quick

from agent_sync.demo.stage import stage


@pytest.fixture
def second(theatre):
    """Set up a second machine: another clone of the same repository."""
    root = theatre.stage.root.with_name("second")
    theatre.git("clone", "-q", f"{theatre.stage.url}/octo/demo.git", str(root))
    return Theatre(replace(theatre.stage, root=root))


@pytest.fixture(scope="module")
def untouched():
    """Set up one stage for all that must leave no trace on it."""
    with stage() as scenery:
        yield Theatre(quick(replace(scenery, environment=scenery.environment | COVERAGE)))


def bound(theatre, worker="w1"):
    """Return the same machine with a session that says which worker it is."""
    return Theatre(replace(theatre.stage, environment=theatre.stage.environment | {"AGENT_SYNC_WORKER": worker}))


def ran(theatre, *arguments, status=0):
    """Run a worker command, which must end as told."""
    played = theatre.stage.command("worker", *arguments)
    assert played.status == status, played.stdout + played.stderr
    return played


def refs(theatre):
    """Return our refs on the local GitHub."""
    return {ref["name"]: ref["sha"] for ref in theatre.stage.world()["refs"] if "agentsync" in ref["name"]}


def events(theatre):
    """Return what the ledger has seen."""
    rows = [json.loads(line) for line in theatre.stage.command("ledger", "--format", "jsonl").stdout.splitlines()]
    return [event["event"] for row in rows for event in row["events"]]


def test_from_sling_to_result_over_two_machines(theatre, second):
    """Slung here, begun there at once, handed off, resumed here, finished: every step is in the ledger."""
    assert "There is work" not in agent(bound(second).stage.hook("session-start", event="SessionStart"))
    assert "Slung issue-42 to main/w1" in ran(theatre, "sling", "42", "w1").stdout
    assert (theatre.card()["Status"], theatre.card()["Agent"]) == ("In Progress", "main/w1")
    assert "There is work" not in agent(second.hook("session-start", stdin='{"session_id": "somebody else"}'))
    told = agent(bound(second).stage.hook("session-start", event="SessionStart"))
    assert "There is work on your hook (main/w1): issue-42" in told
    assert "Start it now, without asking" in told
    assert "Started issue-42" in ran(bound(second), "take").stdout
    assert (theatre.card()["Status"], theatre.issue()["assignees"]) == ("In Progress", ["octo"])
    second.stage.commit("cache.py", "lock\n", "Lock")
    (second.stage.root / "notes.txt").write_text("half done")
    handed = ran(second, "handoff", "--resume-point", "write the test", "--next", "run it")
    assert "kept in refs/agentsync/rescue/42-2: notes.txt" in handed.stdout
    told = agent(bound(theatre).stage.hook("session-start", event="SessionStart"))
    assert "Resume it now" in told
    assert 'Continue from here: "write the test".' in told
    assert 'Resume point: "write the test"' in ran(bound(theatre), "take").stdout
    assert (theatre.stage.root / "cache.py").read_text() == "lock\n"
    done = {"output": {"patch": "cache.py"}, "discoveredTasks": [{"title": "Cache is slow too"}]}
    (theatre.stage.root / "result.json").write_text(json.dumps(done))
    assert "Filed: #45" in ran(theatre, "result", "--file", "result.json", "--open-issues").stdout
    filed = next(issue for issue in theatre.stage.world()["issues"] if issue["number"] == 45)
    assert (filed["title"], filed["assignees"]) == ("Cache is slow too", [])
    assert "Filed: #45" in ran(theatre, "result", "--file", "result.json", "--open-issues").stdout
    assert events(theatre) == [
        "Sling issue-42 to main/w1",
        "Start issue-42",
        "Handoff checkpoint",
        "Resume issue-42",
        "Complete issue-42",
    ]
    shown = json.loads(ran(second, "show", "w1", "--json").stdout)
    assert (shown["status"]["status"], shown["verified"]) == ("COMPLETE", True)


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["sling", "44", "w1"], 1, "Issue #44 is closed."),
        (["sling", "41", "w1"], 1, "Issue #41 is blocked by #40."),
        (["sling", "40", "w1"], 3, "Issue #40 is held by mona."),
        (["sling", "x", "w1"], 2, "is not an issue number"),
        (["sling", "42", "w1", "--timeout", "soon"], 2, "is not a duration"),
        (["sling", "42", "w1", "--input", "[]"], 2, "not a JSON object"),
        (["handoff"], 2, "This session is not bound to a worker."),
        (["result", "--worker", "w1"], 2, "main/w1 has no hook"),
        (["result", "--worker", "w1", "--output", "{"], 2, "--output is not JSON"),
    ],
)
def test_refusals_write_nothing(untouched, arguments, status, says):
    """A refusal says why, has its exit code, and leaves no trace here or there."""
    before = untouched.stage.world()
    assert says in ran(untouched, *arguments, status=status).stderr
    assert untouched.stage.world() == before
    assert not (untouched.stage.root / ".forge").exists()


def test_two_machines_race_for_one_hook(theatre, second):
    """Both take at once: one begins, the other exits 3 and names who has it."""
    ran(theatre, "sling", "42", "w1")
    machines = [(machine.stage, Client(shared_nursery(), machine.stage.root)) for machine in (theatre, second)]
    with ThreadPoolExecutor() as both:
        runs = [
            both.submit(client.do_there, place.root, place.environment, "worker", "take", "--worker", "w1", stdin="")
            for place, client in machines
        ]
        ends = [run.result(timeout=60) for run in runs]
    for _, client in machines:
        client.close()
    assert sorted(end.status for end in ends) == [0, 3], ends
    assert 'held by "main/w1" on' in next(end.stderr for end in ends if end.status == 3)
    assert [machine.stage.claim() is not None for machine in (theatre, second)].count(True) == 1
    assert events(theatre).count("Start issue-42") == 1


STEPS = {
    "sling": ["sling", "42", "w1"],
    "take": ["take", "--worker", "w1"],
    "handoff": ["handoff", "--resume-point", "here"],
    "take again": ["take"],
    "result": ["result", "--fail", "E1", "--message", "broken", "--open-issues"],
    "clear": ["clear", "w1"],
}
SAMPLE = [("take", "after"), ("handoff", "before")]
SWEEP = [(step, moment) for step in STEPS for moment in ("before", "after")]


@pytest.mark.parametrize(("killed", "moment"), SWEEP if PROVE else SAMPLE)
def test_killed_at_a_push(theatre, tmp_path, killed, moment):
    """Whoever is killed right before or after a push runs again and ends up right, with nothing done twice."""
    shimmed = dies_at_push(theatre, tmp_path, moment)
    for name, arguments in STEPS.items():
        if name == killed:
            ran(shimmed, *arguments, status=-signal.SIGKILL)
        ran(theatre, *arguments)
        if name == killed:
            break
    wanted = ["Sling issue-42 to main/w1", "Start issue-42", "Handoff checkpoint", "Resume issue-42", "Fail issue-42"]
    wanted.append("Clear issue-42")
    assert events(theatre) == wanted[: list(STEPS).index(killed) + 1]
    if killed in {"result", "clear"}:
        assert (theatre.issue()["labels"], len(theatre.comments())) == (["needs-human"], 1)


def test_lost_answers_change_nothing(theatre):
    """A push whose answer is lost, or that the server refuses for a moment, ends as it should."""
    theatre.fault("drop_after_apply", path="/octo/demo.git/git-receive-pack")
    assert "Slung issue-42" in ran(theatre, "sling", "42", "w1").stdout
    theatre.fault("status:502", path="/octo/demo.git/git-receive-pack")
    assert "Started issue-42" in ran(theatre, "take", "--worker", "w1").stdout
    assert events(theatre) == ["Sling issue-42 to main/w1", "Start issue-42"]


def test_repair_says_first_and_mends_then(theatre, second):
    """A dry run lists each action with its reason and changes nothing; --apply does it."""
    ran(theatre, "sling", "42", "w1")
    theatre.git("push", "-q", "origin", ":refs/agentsync/claims/42")
    before = refs(theatre)
    told = ran(second, "repair").stdout
    assert "orphaned: nobody holds issue #42, and it was not started. → would take the work off the hook" in told
    assert refs(theatre) == before
    assert "→ done: take the work off the hook" in ran(second, "repair", "--apply").stdout
    assert "CANCELLED" in ran(theatre, "status", "w1").stdout
    assert ran(theatre, "repair").stdout == "Nothing is wrong."


def test_convoy_and_view_on_disk(theatre):
    """A sub-issue's task belongs to its convoy; `.forge/` shows it read-only, and edits there are told, not read."""
    theatre.stage.act("sub_issue", issue=42, parent=43)
    ran(theatre, "sling", "42", "docs/w1")
    forge = theatre.stage.root / ".forge"
    task = json.loads((forge / "hooks/docs/w1/task.json").read_text())
    assert (task["id"], task["convoyId"]) == ("convoy-43.42", "convoy-43")
    (row,) = [json.loads(line) for line in theatre.stage.command("ledger", "--kind", "convoys").stdout.splitlines()]
    assert (row["id"], row["tracks"], row["progress"]) == ("convoy-43", ["gh-42"], {"closed": 0, "total": 1})
    assert json.loads((forge / "ledger/convoys.jsonl").read_text()) == row
    status = forge / "hooks/docs/w1/status.json"
    assert {path.stat().st_mode & 0o777 for path in forge.rglob("*") if path.is_file()} == {0o444}
    assert theatre.git("status", "--porcelain") == ""
    status.chmod(0o644)
    status.write_text('{"status": "COMPLETE"}')
    played = ran(theatre, "status", "w1")
    assert "PENDING" in played.stdout
    assert "edits to .forge/ are not read: .forge/hooks/docs/w1/status.json" in played.stderr
    assert json.loads(status.read_text())["status"] == "PENDING"


def test_forge_of_somebody_else_is_left_alone(theatre):
    """A folder of that name that is not ours is never written to."""
    own = theatre.stage.root / ".forge"
    (own / "hooks").mkdir(parents=True)
    (own / "hooks" / "mine.txt").write_text("mine")
    assert "is not agent-sync's" in ran(theatre, "list").stderr
    assert [path.name for path in own.rglob("*")] == ["hooks", "mine.txt"]


def test_work_resumed_in_the_same_worktree_can_be_pushed(theatre):
    """After a handoff the same worktree takes the work again; the claim it still has proves the new holding."""
    ran(theatre, "sling", "42", "w1")
    worker = bound(theatre)
    ran(worker, "take")
    worker.stage.commit("cache.py", "lock\n", "Lock")
    ran(worker, "handoff", "--resume-point", "write the test")
    ran(worker, "take")
    worker.stage.commit("more.py", "lock\n", "More")
    played = worker.stage.command("push")
    assert (played.status, played.stderr) == (0, "")


def test_failure_that_may_be_tried_again_gives_the_issue_back(theatre):
    """A recoverable failure frees claim, board and worktree, says so without trouble, and can be repeated."""
    for name, shape in {"w1": (), "w2": ("--json",)}.items():
        ran(theatre, "sling", "42", name)
        worker = bound(theatre, name)
        ran(worker, "take")
        failure = ("result", "--fail", "E_FLAKY", "--message", "down", "--recoverable", *shape)
        played = ran(worker, *failure)
        assert (played.stderr, theatre.stage.claim()) == ("", None), shape
        assert (theatre.card()["Status"], theatre.issue()["assignees"]) == ("Todo", []), shape
        if shape:
            assert json.loads(played.stdout)["trouble"] == ""
        assert ran(worker, *failure).stderr == "", shape
    ran(theatre, "sling", "42", "w3")
