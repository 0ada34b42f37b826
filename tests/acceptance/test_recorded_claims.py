"""The recovery record of a claim, from claim to close, through hooks and commands alone."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from support.clients import Client, shared_nursery
from support.clones import SHORT, long_ago, taken_over, with_variables
from support.stage import agent


class Recorded:
    """The record of the one task on the stage."""

    def __init__(self, theatre) -> None:
        self.theatre = theatre
        self.home = Path(theatre.stage.environment["HOME"]) / ".atlas"

    @property
    def directory(self) -> Path:
        """Where the record is."""
        (found,) = self.home.glob("workspaces/*/tasks/*")
        return found

    @property
    def values(self):
        """What hook.json says."""
        return json.loads((self.directory / "hook.json").read_text())

    @property
    def page(self) -> str:
        """What HOOK.md says."""
        return (self.directory / "HOOK.md").read_text()

    def triggers(self) -> list[str]:
        """What made the checkpoints."""
        return [point["trigger"] for point in self.values["checkpoints"]]


def kill_a_session(theatre, *, commits: bool = True) -> None:
    """Let a session begin, work and commit, and kill it as hard as can be."""
    root, client = theatre.stage.root, Client(shared_nursery(), theatre.stage.root)

    def hook(name: str, **values: str) -> None:
        given = json.dumps({"cwd": str(root), "session_id": "s1"} | values)
        assert client.do_there(root, theatre.stage.environment, name, stdin=given).status == 0

    hook("session-start", source="startup")
    hook("on-prompt", prompt="Fix the race")
    if commits:
        theatre.stage.commit("more.py", "x = 1\n", "More")
    hook("on-tool")
    client.crash()


@pytest.fixture
def recorded(theatre):
    """Claim issue 42."""
    played = theatre.stage.command("claim", "42")
    assert played.status == 0, played.stderr
    return Recorded(theatre)


def test_claim_starts_a_record_and_release_abandons_it(recorded):
    """A claim starts a record with the template claim-to-close; the files are where and as they are documented.

    A claim that is given back leaves an abandoned record with the reason.
    """
    values = recorded.values
    assert (values["version"], values["template"], values["state"]) == ("1.0", "claim-to-close", "step_running")
    assert [step["name"] for step in values["steps"]] == [
        "implement",
        "validate",
        "pull_request",
        "checks",
        "merge",
        "close",
    ]
    step = values["current_step"]
    assert (step["step_name"], step["attempt"], step["working_on"]) == ("implement", 1, "Fix race condition in cache")
    assert (values["issue_number"], values["task_id"], values["task_index"]) == (42, "issue-42", 0)
    directory = recorded.directory
    modes = {name: (directory / name).stat().st_mode & 0o777 for name in ("hook.json", "HOOK.md", "task.json")}
    assert modes == {"hook.json": 0o600, "HOOK.md": 0o600, "task.json": 0o600}
    assert directory.stat().st_mode & 0o777 == 0o700
    assert (directory / "task.log").exists()
    recorded.theatre.stage.command("release", "--reason", "needs a decision")
    assert recorded.values["state"] == "abandoned"
    assert "needs a decision" in json.dumps(recorded.values["history"][-1])


def test_every_word_has_its_producer(recorded):
    """What the agent said, what the human asked and which files were touched come from the hooks and from git.

    A stop with nothing to do is quick, and what was said in it is on record at the next look.
    """
    theatre = recorded.theatre
    (theatre.stage.root / "cache.py").write_text("lock = True\n")
    theatre.hook("on-prompt", stdin='{"session_id": "s1", "prompt": "Fix the race"}')
    theatre.hook("on-stop", stdin='{"session_id": "s1", "last_assistant_message": "I added the lock."}')
    step = recorded.values["current_step"]
    assert (step["prompt"], step["last_output"]) == ("Fix the race", "I added the lock.")
    assert step["files_touched"] == ["cache.py"]
    assert recorded.values["owner"]["session_id"] == "s1"
    assert "I added the lock." in recorded.page
    for text in ("one", "two", "three", "four"):
        theatre.hook("on-stop", stdin=json.dumps({"cwd": str(theatre.stage.root), "last_assistant_message": text}))
    theatre.stage.command("status", "--offline")
    assert recorded.values["current_step"]["last_output"] == "four"


def test_commits_and_pushes_make_checkpoints(recorded):
    """However a commit or a push was made, the next tool use finds it in the reflogs, once."""
    theatre = recorded.theatre
    theatre.stage.commit("cache.py", "lock = True\n", "Add a lock")
    theatre.hook("on-tool")
    theatre.git("push", "-q", "--no-verify", "origin", "HEAD")
    theatre.hook("on-tool")
    theatre.hook("on-tool")
    assert recorded.triggers() == ["git_commit", "git_push"]
    assert recorded.values["checkpoints"][0]["description"] == "Commit: Add a lock"
    assert recorded.values["current_step"]["working_on"] == "Fix race condition in cache"
    theatre.stage.command("checkpoint", "the lock is there, tests are missing")
    theatre.stage.commit("cache.py", "lock = 2\n", "Count locks")
    theatre.hook("on-tool")
    assert recorded.values["current_step"]["working_on"] == "the lock is there, tests are missing"


def test_record_follows_the_claim_to_its_close(recorded):
    """Phases move the record; a human who must act is waited for; done completes it."""
    theatre = recorded.theatre
    seen = []

    def look():
        values = recorded.values
        seen.append((values["state"], values["current_step"]["step_name"]))

    theatre.stage.commit("cache.py", "lock = True\n", "Add a lock")
    theatre.stage.command("handoff", "--later", "--summary", "Fix the race")
    look()
    theatre.hook("on-stop")
    look()
    theatre.stage.act("add_check", pull=45, name="test", status="completed", conclusion="success")
    theatre.hook("on-idle", AGENT_SYNC_CHECKS_BACKOFF_S="0")
    look()
    theatre.stage.act("merge_pull", pull=45, method="squash")
    theatre.hook("on-idle", AGENT_SYNC_CHECKS_BACKOFF_S="0")
    look()
    theatre.stage.command("done", "--later")
    look()
    theatre.hook("on-stop")
    look()
    assert seen == [
        ("step_running", "validate"),
        ("step_running", "checks"),
        ("awaiting_human", "merge"),
        ("awaiting_human", "close"),
        ("step_running", "close"),
        ("completed", "close"),
    ]
    assert {"git_commit", "git_push", "pr_created", "step_complete"} <= set(recorded.triggers())
    assert "nothing to do" in recorded.page.lower()


def test_gate_runs_leave_signed_receipts(theatre):
    """The gate's checks are signed, on failure and on success; the pull request lists those of its head commit."""
    root = theatre.stage.root
    (root / ".gauntlet" / "checks").mkdir(parents=True)
    (root / ".gauntlet" / "config.yml").write_text(
        "base_branch: origin/main\nentry_points:\n  - path: .\n    checks: [lint]\n"
    )
    (root / ".gauntlet" / "checks" / "lint.yml").write_text("command: test ! -e BROKEN\n")
    (root / ".gitignore").write_text("gauntlet_logs\n.agent-claim.json*\n")
    for arguments in (("add", "-A"), ("commit", "-q", "-m", "Add a gate"), ("push", "-q", "origin", "main")):
        theatre.git(*arguments)
    theatre.stage.command("claim", "42")
    recorded = Recorded(theatre)
    theatre.stage.commit("BROKEN", "x\n", "Break")
    theatre.hook("on-stop")
    first = recorded.values
    assert [(one["receipt_id"], one["exit_code"]) for one in first["receipts"]] == [("rcpt-001", 1)]
    assert (first["state"], first["current_step"]["attempt"]) == ("step_running", 2)
    theatre.git("rm", "-q", "BROKEN")
    theatre.stage.commit("fine.txt", "x\n", "Mend")
    theatre.stage.command("handoff", "--later", "--summary", "Work")
    theatre.hook("on-stop")
    second = recorded.values["receipts"][-1]
    assert (second["exit_code"], second["git_commit"]) == (0, theatre.git("rev-parse", "HEAD"))
    assert "validation" in recorded.triggers()
    body = theatre.pulls()[0]["body"]
    assert "<details>\n<summary>1 receipt of commands" in body
    assert ("s), signed\n" in body, "m/44" in body) == (True, False)
    assert second["key_path"] == "m/44'/236'/0'/0'/1'"


def test_crash_after_a_failed_gate_has_one_next_step(recorded):
    """After a failed gate and a kill, session start, page and `record recover` all say what failed and to fix it."""
    theatre = recorded.theatre
    kill_a_session(theatre)
    theatre.stage.command("validate", "--label", "unit tests", "--", "exit 1")
    kill_a_session(theatre, commits=False)
    said = agent(theatre.hook("session-start", stdin='{"source": "startup", "session_id": "s2"}'))
    advice = "The last run of unit tests failed: fix the cause and commit."
    recovered = theatre.stage.command("record", "recover").stdout
    assert [advice in text for text in (said, recorded.page, recovered)] == [True] * 3, (said, recovered)


def test_crash_is_noticed_and_the_task_goes_on(recorded):
    """A session is killed; the next one is told in one line, and the task goes on from its checkpoint."""
    theatre = recorded.theatre
    kill_a_session(theatre)
    played = theatre.hook("session-start", stdin='{"source": "startup", "session_id": "s2"}')
    line = "[ATLAS RECOVERY] Task 'issue-42' in progress. State: recovering, Step: \"implement\" (1/6)."
    assert line in agent(played)
    values = recorded.values
    assert values["recovery"]["crash_type"] == "signal"
    assert values["recovery"]["recommended_action"] == "retry_step"
    assert values["recovery"]["last_checkpoint_id"] == values["checkpoints"][-1]["checkpoint_id"]
    before = (recorded.directory / "hook.json").read_bytes()
    theatre.hook("session-start", stdin='{"source": "resume", "session_id": "s2"}')
    assert (recorded.directory / "hook.json").read_bytes() == before
    theatre.hook("on-prompt", stdin='{"prompt": "go on", "session_id": "s2"}')
    assert recorded.values["state"] == "recovering"
    theatre.stage.commit("cache.py", "lock = 2\n", "Count locks")
    theatre.hook("on-tool")
    values = recorded.values
    assert (values["state"], values["current_step"]["attempt"]) == ("step_running", 1)


def test_recover_gives_one_advice_after_a_merge(recorded):
    """However often it is asked, `record recover` does not advise to retry what is merged."""
    theatre = recorded.theatre
    theatre.stage.commit("cache.py", "lock = True\n", "Add a lock")
    theatre.stage.command("handoff", "--summary", "Fix the race")
    kill_a_session(theatre)
    assert "Advice: retry_step" in theatre.stage.command("record", "recover").stdout
    theatre.stage.act("merge_pull", pull=45, method="squash")
    for _ in range(2):
        recovered = theatre.stage.command("record", "recover").stdout
        assert ("Do not resume" in recovered, "retry_step" in recovered) == (True, False), recovered


@pytest.mark.parametrize("act", ["close_issue", "merge_pull"])
def test_recovery_asks_github_first(recorded, act):
    """What is closed or merged meanwhile is not resumed."""
    theatre = recorded.theatre
    theatre.stage.commit("cache.py", "lock = True\n", "Add a lock")
    theatre.stage.command("handoff", "--summary", "Fix the race")
    kill_a_session(theatre)
    theatre.stage.act(act, **({"issue": 42} if act == "close_issue" else {"pull": 45, "method": "squash"}))
    theatre.hook("session-start")
    values = recorded.values
    assert values["state"] == "awaiting_human"
    assert "Do not resume" in values["recovery"]["reason"]
    page = "Do not resume" if act == "close_issue" else "PR #45 is merged; a human decides with `/done`"
    assert page in recorded.page


def test_commits_in_a_worktree_of_its_own_are_checkpoints(theatre):
    """Also where no hook has looked in between: what was committed since the claim is on record."""
    stage = theatre.stage
    stage.command("claim", "42", "--worktree")
    there = replace(stage, root=stage.root.with_name(f"{stage.root.name}-42"))
    there.commit("cache.py", "LOCK = 1\n", "Lock the cache")
    there.command("handoff", "--summary", "Fix the race")
    found = json.loads(there.command("record", "checkpoints", "--json").stdout)
    assert [one["description"] for one in found if one["trigger"] == "git_commit"] == ["Commit: Lock the cache"]


def two_commits(theatre):
    """Commit twice on a claimed branch and push; return the short shas, the newest first."""
    theatre.stage.commit("cache.py", "LOCK = 1\n", "Lock the cache")
    theatre.stage.commit("test_cache.py", "assert LOCK\n", "Test the lock")
    assert theatre.stage.command("push").status == 0
    return [sha[:7] for sha in theatre.git("rev-list", "--max-count=2", "HEAD").split()]


def tells_of_two_commits(there, newest, before):
    """See that record, page and session tell of two commits that were on the branch when the record began."""
    found = json.loads(there.stage.command("record", "checkpoints", "--json").stdout)
    assert [(one["trigger"], one["git_commit"][:7], one["step_name"]) for one in found[:1]] == [
        ("git_commit", newest, "implement")
    ]
    about = "2 commits found on the branch, the last: Test the lock"
    assert found[0]["description"] == about
    page = Recorded(there).page
    listed = f"### Commits Found On The Branch\n- `{newest} Test the lock`\n- `{before} Lock the cache`\n"
    assert listed in page
    assert "### Files You Modified\n- `cache.py`\n- `test_cache.py`\n" in page
    assert "There is none." not in page
    assert found[0]["checkpoint_id"] in there.stage.command("status", "--offline").stdout
    assert about in there.stage.command("record", "status").stdout
    assert about in agent(there.hook("session-start", stdin='{"source": "startup", "session_id": "s9"}'))


def test_take_over_and_restored_claim_tell_what_is_on_the_branch(theatre):
    """Whoever continues a branch reads in HOOK.md which commits and files are there; the first checkpoint is that state.

    Once the record was lost with the claim file, a restored claim begins another one, which says the same.
    """
    # Commits that are younger than the lease would keep others from taking it over.
    old = with_variables(theatre, GIT_COMMITTER_DATE="2026-01-01T00:00:00Z", **SHORT)
    with long_ago(theatre):
        assert old.stage.command("claim", "42").status == 0
        shas = two_commits(old)
    new = taken_over(old)
    tells_of_two_commits(new, *shas)
    new.stage.commit("more.py", "x\n", "More")
    new.hook("on-tool")
    assert Recorded(new).triggers() == ["git_commit", "git_commit"]
    assert Recorded(new).values["checkpoints"][-1]["description"] == "Commit: More"
    new.git("reset", "-q", "--hard", "HEAD~1")
    (new.stage.root / ".agent-claim.json").unlink()
    shutil.rmtree(Recorded(new).home)
    assert "Restored" in new.stage.command("claim", "42").stdout
    tells_of_two_commits(new, *shas)


def test_files_of_the_task_stay_on_the_page_in_every_step(recorded):
    """Once a commit was seen, HOOK.md names its files, in whichever step, also where commits make no checkpoint."""
    theatre = recorded.theatre
    theatre.stage.commit("cache.py", "lock = True\n", "Add a lock")
    named = "### Files You Modified\n- `cache.py`\n"
    theatre.hook("on-tool", AGENT_SYNC_RECORD_ON_COMMIT="false", AGENT_SYNC_RECORD_ON_STEP_COMPLETE="false")
    assert named in recorded.page
    without = {"AGENT_SYNC_RECORD_ON_STEP_COMPLETE": "false", "AGENT_SYNC_RECORD_ON_PUSH": "false"}
    with_variables(theatre, **without).stage.command("handoff", "--later", "--summary", "Fix the race")
    assert (recorded.values["current_step"]["step_name"], named in recorded.page) == ("validate", True)
    theatre.hook("on-stop")
    assert (recorded.values["current_step"]["step_name"], named in recorded.page) == ("checks", True)


def test_claim_that_is_closing_begins_no_record(tasks):
    """A close that was killed after its record was completed goes on without a second record."""
    tasks.hold("done", pr_number=45)
    tasks.do("on-stop", stdin="{}")
    assert list((tasks.home / "workspaces").glob("*/tasks/*/hook.json")) == []
