"""What is shown of work hooks: titles, pull requests, ages; tampering everywhere; long histories cut."""

import json
import subprocess
from dataclasses import replace

import pytest
from support.stage import Theatre, agent

HOOK = "refs/agentsync/hooks/main/w1"


def ran(theatre, *arguments, status=0):
    """Run a command, which must end as told."""
    played = theatre.stage.command(*arguments)
    assert played.status == status, played.stdout + played.stderr
    return played


def bound(theatre):
    """Return the same machine with a session of worker w1."""
    return Theatre(replace(theatre.stage, environment=theatre.stage.environment | {"AGENT_SYNC_WORKER": "w1"}))


def rewrite(theatre, file, changed):
    """Change a file of the hook of w1 behind agent-sync's back, as whoever may push can."""
    theatre.git("fetch", "-q", "origin", f"+{HOOK}:refs/seen")
    values = json.loads(theatre.git("show", f"refs/seen:{file}"))
    changed(values)
    root, environment = theatre.stage.root, theatre.stage.environment
    text = json.dumps(values).encode()
    made = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], cwd=root, input=text, capture_output=True, check=True
    )
    index = environment | {"GIT_INDEX_FILE": str(root.with_name("tampering-index"))}
    for order in (
        ["read-tree", "refs/seen"],
        ["update-index", "--cacheinfo", f"100644,{made.stdout.decode().strip()},{file}"],
    ):
        subprocess.run(["git", *order], cwd=root, env=index, check=True)
    tree = subprocess.run(["git", "write-tree"], cwd=root, env=index, capture_output=True, check=True, text=True)
    commit = theatre.git("commit-tree", "-p", "refs/seen", "-m", "Complete issue-42", tree.stdout.strip())
    theatre.git("push", "-q", "origin", f"{commit}:{HOOK}")


def test_list_has_title_pull_request_and_age_without_a_request(theatre):
    """Everything comes from the hook's own files and its claim: GitHub's interface is asked nothing."""
    ran(theatre, "worker", "sling", "42", "w1")
    worker = bound(theatre)
    ran(worker, "worker", "take")
    worker.stage.commit("cache.py", "lock\n", "Lock")
    ran(worker, "handoff", "--summary", "Fix it")
    listed = ran(theatre, "worker", "list")
    assert listed.requests == 0
    assert 'issue-42  "Fix race condition in cache"  PR #45' in listed.stdout
    assert listed.stdout.endswith(" old")
    (row,) = json.loads(ran(theatre, "worker", "list", "--json").stdout)["hooks"]
    assert (row["title"], row["pr"], row["ageS"] < 600) == ("Fix race condition in cache", 45, True)


@pytest.fixture
def complete(theatre):
    """Return a machine of worker w1, who has given a result."""
    ran(theatre, "worker", "sling", "42", "w1")
    worker = bound(theatre)
    ran(worker, "worker", "take")
    ran(worker, "worker", "result", "--output", '{"patch": "good"}')
    return worker


def test_tampered_result_is_flagged_everywhere(complete):
    """A result that somebody changed after it was given is told by list, show, status, repair, ledger, session start."""
    from agent_sync.work.hook.evidence import json_hash

    assert "tampered" not in ran(complete, "worker", "list").stdout

    def forged(result):
        result["output"] = {"patch": "evil"}

    rewrite(complete, "result.json", forged)
    flagged_everywhere(complete, "the output hash does not match the output")

    def made_to_fit(result):
        result["evidence"]["outputHash"] = json_hash({"patch": "evil"})

    rewrite(complete, "result.json", made_to_fit)
    flagged_everywhere(complete, "result.json was changed after it was given")


def flagged_everywhere(worker, said):
    """Every view says what is wrong with the result."""
    assert "tampered" in ran(worker, "worker", "list").stdout
    assert "tampered" in ran(worker, "worker", "status").stdout
    assert said in ran(worker, "worker", "show", "w1", status=1).stdout
    assert said in ran(worker, "worker", "repair").stdout
    (row,) = [json.loads(line) for line in ran(worker, "ledger", "--kind", "evidence").stdout.splitlines()]
    assert (row["verified"], any(said in text for text in row["disagreements"])) == (False, True)
    (row,) = [json.loads(line) for line in ran(worker, "ledger").stdout.splitlines()]
    assert any(said in text for text in row["tampering"])
    assert "✗ tampered" in ran(worker, "ledger", "--format", "table").stdout
    told = agent(worker.stage.hook("session-start", event="SessionStart"))
    assert "What is on the work hook of main/w1 does not verify" in told
    assert said in told


def test_long_history_of_a_hook_is_cut_and_said_to_be(theatre):
    """Of a ref with more than a thousand commits the ledger reads the last thousand; the other hooks are all there."""
    ran(theatre, "worker", "sling", "42", "w1")
    ran(theatre, "worker", "sling", "43", "w2")
    theatre.git("fetch", "-q", "origin", f"+{HOOK}:refs/seen")
    tree, tip = theatre.git("rev-parse", "refs/seen^{tree}", "refs/seen").split()
    stream = "".join(
        f"commit refs/seen\nmark :{n + 1}\ncommitter x <x@x> {1_900_000_000 + n} +0000\ndata 1\nx\n"
        f"from {tip if n == 0 else f':{n}'}\nM 040000 {tree} \n\n"
        for n in range(1100)
    )
    environment, root = theatre.stage.environment, theatre.stage.root
    subprocess.run(
        ["git", "fast-import", "--quiet", "--force"], cwd=root, env=environment, input=stream.encode(), check=True
    )
    theatre.git("push", "-q", "origin", f"refs/seen:{HOOK}")
    played = ran(theatre, "ledger")
    rows = {json.loads(line)["id"]: json.loads(line) for line in played.stdout.splitlines()}
    assert len(rows["issue-42"]["events"]) == 1000
    assert [event["event"] for event in rows["issue-43"]["events"]] == ["Sling issue-43 to main/w2"]
    assert "the history of main/w1 before" in played.stderr


def convoy(theatre):
    """Return the one convoy as `.forge/` shows it."""
    return json.loads((theatre.stage.root / ".forge/ledger/convoys.jsonl").read_text())


def test_convoys_are_current_when_they_are_read(theatre):
    """The file says what `ledger` says: title and all sub-issues right after the sling, and what became of them."""
    theatre.stage.act("add_issue", title="Another part")
    for number in (42, 45):
        theatre.stage.act("sub_issue", issue=number, parent=43)
    ran(theatre, "worker", "sling", "42", "w1")
    title = theatre.issue(43)["title"]
    assert (convoy(theatre)["title"], convoy(theatre)["progress"]) == (title, {"closed": 0, "total": 2})
    assert ran(theatre, "worker", "list").requests == 0
    assert convoy(theatre)["title"] == title
    theatre.stage.act("close_issue", issue=45)
    ran(theatre, "ledger")
    assert convoy(theatre)["progress"] == {"closed": 1, "total": 2}
    assert json.loads(ran(theatre, "ledger", "--kind", "convoys").stdout) == convoy(theatre)
