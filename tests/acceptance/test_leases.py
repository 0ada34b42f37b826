"""Claims that hold across machines, through the command line: two clones of one local GitHub."""

import json
import subprocess
import time
from pathlib import Path

import pytest
from support.clones import (
    BRANCH,
    CLAIM_REF,
    SHORT,
    beside,
    committed_ago,
    git_requests,
    long_ago,
    ref,
    taken_over,
    told,
    traces,
    with_variables,
)
from support.command import COMMAND
from support.stage import agent, human


def test_claim_costs_one_push_and_two_requests(theatre):
    """One fetch of the base, one push of the lease; the look-up and the mirror are all that GitHub is asked."""
    played = theatre.stage.command("claim", "42", "--json")
    assert (played.status, played.requests) == (0, 2)
    assert git_requests(theatre) == ["git-upload-pack", "git-receive-pack"]
    values = json.loads(played.stdout)
    lease = values["lease"]
    assert (lease["where"], lease["epoch"], lease["mode"], lease["sha"]) == ("remote", 1, "manual", ref(theatre))
    assert values["scope"] == "The claim holds for everyone who uses origin."
    assert theatre.stage.claim()["lease"]["nonce"] == lease["nonce"]


@pytest.mark.parametrize("board", ["1", ""], ids=["with a board", "without a board"])
def test_second_claimer_loses_and_has_written_nothing(theatre, board):
    """Whoever comes second leaves with exit code 3, is told who holds the issue, and leaves no trace anywhere."""
    first = with_variables(theatre, CLAUDECODE="1", AGENT_SYNC_PROJECT_NUMBER=board)
    assert first.stage.command("claim", "42").status == 0
    second = beside(first, "bob")
    world, clone = second.stage.world(), traces(second)
    played = second.stage.command("claim", "42")
    assert played.status == 3
    holder = first.stage.claim()["agent_id"]
    assert f'Issue #42 is held by "{holder}" (' in played.stderr
    assert f'on branch "{BRANCH}"; it expires at 20' in played.stderr
    assert (world, clone) == (second.stage.world(), traces(second))
    assert not list((second.stage.root / ".git").glob("agentsync/intents/*.json"))


def test_dry_run_says_what_would_be_pushed(theatre):
    """The plan names the ref, and pushes nothing."""
    assert f"would push {CLAIM_REF} to origin (1 push)" in theatre.stage.command("claim", "42", "--dry-run").stdout
    assert ref(theatre) is None


def test_dispossessed_worker_is_refused_everywhere(theatre):
    """Once somebody else holds the issue, code, pull request, card and close are refused, and both readers are told."""
    old = with_variables(theatre, **SHORT)
    with long_ago(theatre):
        old.stage.command("claim", "42")
    old.stage.commit("a.txt", "a\n", "A")
    new = taken_over(old)
    world = new.stage.world()
    for command in (["push"], ["handoff", "--summary", "Mine"]):
        played = old.stage.command(*command)
        assert (played.status, "is held by" in played.stderr) == (3, True), told(played)
        assert "try: agent-sync release" in played.stderr
    values = old.stage.claim()
    assert values["lease"]["lost_to"].startswith(f'"{new.stage.claim()["agent_id"]}" (')
    assert old.stage.command("done", "--yes", "--now").status == 3
    assert world == new.stage.world()
    assert old.git("rev-parse", BRANCH) != new.git("rev-parse", BRANCH)


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"phase": "ready_for_pr", "summary": "x"}, "pull request"),
        ({"status": "In Review"}, "card"),
        ({"phase": "done"}, "close"),
    ],
    ids=["pull request", "card", "close"],
)
def test_lost_lease_keeps_writes_back(theatre, fields, what):
    """A stop that would have written finds the lease lost, writes nothing, and says it once to both readers."""
    old = with_variables(theatre, **SHORT)
    with long_ago(theatre):
        old.stage.command("claim", "42")
        committed_ago(old, 2)
        old.stage.command("push")
    new = taken_over(old)
    if what == "close":
        old.stage.command("done", "--yes")
    file = old.stage.root / ".agent-claim.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))
    world = new.stage.world()
    played = with_variables(old, AGENT_SYNC_LEASE_TTL_S="").hook("on-stop", stdin='{"session_id": "s"}')
    assert world == new.stage.world(), what
    assert "is no longer this worktree's: it is held by" in human(played)
    assert "Stop working on it" in agent(played)
    again = old.hook("on-stop", stdin='{"session_id": "s"}')
    assert (again.stdout, again.requests, git_requests(old)) == ("", 0, [])
    assert "Stop working on it" in agent(old.hook("on-prompt", stdin='{"session_id": "t"}'))
    assert world == new.stage.world()


def test_release_of_a_lost_lease_deletes_the_file_only(theatre):
    """Whoever gives back what somebody else holds takes away the own claim file and nothing else."""
    old = with_variables(theatre, **SHORT)
    with long_ago(theatre):
        old.stage.command("claim", "42")
    new = taken_over(old)
    world = new.stage.world()
    played = old.stage.command("release")
    assert (played.status, "Only the claim file here was deleted." in played.stdout) == (0, True)
    assert (old.stage.claim(), world) == (None, new.stage.world())


def test_successor_continues_on_the_branch(theatre):
    """A take-over checks out what the former holder had pushed, with the next epoch; the former clone keeps its work."""
    old = with_variables(theatre, **SHORT)
    with long_ago(theatre):
        old.stage.command("claim", "42")
        committed_ago(old, 2)
        old.stage.command("push")
    before = traces(old)
    new = taken_over(old)
    assert (new.stage.root / "a.txt").read_text() == "a\n"
    assert (new.stage.claim()["branch"], new.stage.claim()["lease"]["epoch"]) == (BRANCH, 2)
    assert theatre.card()["Agent"] == new.stage.claim()["agent_id"]
    assert before == traces(old)


def test_taking_over_has_its_rules(theatre):
    """Not by hand, not before it has expired, not while the branch moves; an open pull request needs a human."""
    by_hand = theatre.stage.command("claim", "42")
    assert by_hand.status == 0
    other = beside(theatre, "bob", AGENT_SYNC_LEASE_ALLOWANCE_S="0")
    refused(other, "it was claimed by hand and never expires")
    theatre.stage.command("release")
    long = with_variables(theatre, CLAUDECODE="1")
    long.stage.command("claim", "42")
    refused(other, "it has not expired")
    long.stage.command("release")
    old = with_variables(theatre, **SHORT)
    with long_ago(theatre, 9):
        old.stage.command("claim", "42")
    committed_ago(old, 6)
    old.git("push", "-q", "origin", BRANCH)
    refused(other, "its work branch has moved since it was last renewed")
    with long_ago(theatre, 3):
        # Not by a hook, behind whose back the lease would be renewed.
        opened = with_variables(old, CLAUDECODE="").stage.command("handoff", "--summary", "Fix")
    assert "PR #45 created" in opened.stdout
    refused(other, "its pull request is open, so a human must agree")
    agreed = other.stage.command("claim", "42", "--take-over", "--yes")
    assert agreed.status == 0, agreed.stderr
    assert other.stage.claim()["lease"]["epoch"] == 4


def refused(theatre, reason):
    """Try to take issue 42 over, which must change nothing."""
    world, clone = theatre.stage.world(), traces(theatre)
    played = theatre.stage.command("claim", "42", "--take-over")
    assert (played.status, reason in played.stderr) == (1, True), told(played)
    assert (world, clone) == (theatre.stage.world(), traces(theatre))


def test_epochs_grow_with_every_holder(theatre):
    """Released or done, an issue is simply claimed again, one epoch later."""
    theatre.stage.command("claim", "42")
    theatre.stage.command("release")
    other = beside(theatre, "bob")
    other.stage.command("claim", "42")
    assert other.stage.claim()["lease"]["epoch"] == 2
    closed = other.stage.command("done", "--yes", "--now")
    assert "Issue #42 closed." in closed.stdout
    assert other.stage.claim() is None
    theatre.stage.act("reopen_issue", issue=42)
    assert theatre.stage.command("claim", "42").status == 0
    assert theatre.stage.claim()["lease"]["epoch"] == 3
    theatre.stage.commit("a.txt", "a\n", "A")
    theatre.stage.command("handoff", "--later", "--summary", "Fix")
    theatre.hook("on-stop")
    assert "issue=42 epoch=3 -->" in theatre.pulls()[0]["body"]


def test_lost_file_is_restored_with_its_lease(theatre):
    """Whoever lost the claim file, and not the lease, gets both back as they were."""
    theatre.stage.command("claim", "42")
    before = theatre.stage.claim()["lease"]
    (theatre.stage.root / ".agent-claim.json").unlink()
    played = theatre.stage.command("claim", "42")
    assert "Restored the claim of issue #42" in played.stdout
    after = theatre.stage.claim()["lease"]
    assert (after["nonce"], after["epoch"]) == (before["nonce"], before["epoch"])


@pytest.mark.parametrize(
    ("spoil", "options", "reason"),
    [
        (lambda t: t.stage.act("refuse_refs", pattern="refs/agentsync/*"), ["--local"], "--local was given."),
        (
            lambda t: t.git("config", "remote.origin.pushurl", "http://127.0.0.1:9/octo/demo.git"),
            [],
            "origin cannot be reached.",
        ),
        (lambda _: None, [], "the settings say so."),
    ],
    ids=["refused refs", "unreachable remote", "by setting"],
)
def test_claim_of_this_clone_only_says_so(theatre, spoil, options, reason):
    """Where nobody answers, or the user says so, this clone keeps the claim, says so and why; it works to the end."""
    where = "clone" if "settings" in reason else "remote"
    clone = with_variables(theatre, AGENT_SYNC_LEASE_WHERE=where)
    spoil(clone)
    played = clone.stage.command("claim", "42", *options)
    assert played.status == 0, told(played)
    assert f"The claim holds for this clone only: {reason}" in played.stdout
    assert clone.stage.claim()["lease"]["where"] == "clone"
    assert clone.git("for-each-ref", "--format=%(refname)", CLAIM_REF) == CLAIM_REF
    assert ref(clone) is None
    released = clone.stage.command("release")
    assert (released.status, "released for this clone only." in released.stdout) == (0, True)


@pytest.mark.parametrize(
    ("spoil", "status", "words"),
    [
        (
            lambda t: t.stage.act("refuse_refs", pattern="refs/agentsync/*"),
            1,
            ["origin takes no claim refs, by a repository rule", "Repository rule violations found"],
        ),
        (
            lambda t: t.fault("status:403", times=99, operation="git-receive-pack"),
            4,
            ["Git may not write to origin", "gh auth setup-git"],
        ),
    ],
    ids=["refused refs", "read-only remote"],
)
def test_remote_that_says_no_is_no_reason_to_claim_alone(theatre, spoil, status, words):
    """A remote that answers and will not take the claim stops it, in the server's words; --local is the user's word."""
    spoil(theatre)
    played = theatre.stage.command("claim", "42")
    assert played.status == status, told(played)
    assert [word for word in (*words, "agent-sync claim 42 --local") if word not in played.stderr] == []
    assert (theatre.stage.claim(), ref(theatre), theatre.issue()["assignees"]) == (None, None, [])


def test_push_without_answer_is_settled_by_the_same_command(theatre):
    """A lost answer is looked for: at once where the ref can be read, else with exit code 8 and a second run."""
    theatre.fault("drop_after_apply", path="/octo/demo.git/git-receive-pack")
    assert theatre.stage.command("claim", "42").status == 0
    assert theatre.stage.claim()["lease"]["epoch"] == 1
    theatre.stage.command("release")
    theatre.fault("drop_after_apply", path="/octo/demo.git/git-receive-pack")
    theatre.fault("drop_before", times=99, operation="git-upload-pack")
    world = {key: value for key, value in theatre.stage.world().items() if key != "refs"}
    played = theatre.stage.command("claim", "43")
    assert (played.status, "run the same command again" in played.stderr) == (8, True), told(played)
    assert theatre.stage.claim() is None
    assert world == {key: value for key, value in theatre.stage.world().items() if key != "refs"}
    theatre.stage.control("DELETE", "faults")
    assert theatre.stage.command("claim", "43").status == 0
    assert theatre.stage.claim()["lease"]["epoch"] == 1


def test_unreachable_remote_keeps_writes_back_until_the_next_event(theatre):
    """Whose a claim is cannot be told without its ref: nothing is written, it is said, and tried again."""
    theatre.stage.command("claim", "42")
    theatre.stage.commit("a.txt", "a\n", "A")
    theatre.stage.command("handoff", "--later", "--summary", "Fix")
    theatre.fault("drop_before", times=99, operation="git-upload-pack")
    played = theatre.hook("on-stop")
    assert "so nothing was written to GitHub" in human(played)
    assert theatre.pulls() == []
    theatre.stage.control("DELETE", "faults")
    assert "PR #45 created" in theatre.hook("on-stop").stdout


def test_close_is_finished_once_the_lease_can_be_ended(theatre):
    """An issue whose lease could not be ended keeps its claim file; the next event ends it and closes nothing twice."""
    theatre.stage.command("claim", "42")
    theatre.fault("drop_before", times=99, operation="git-receive-pack")
    played = theatre.stage.command("done", "--yes", "--now")
    assert (played.status, "could not be ended" in played.stderr) == (8, True), told(played)
    assert (theatre.issue()["state"], theatre.stage.claim()["phase"]) == ("closed", "done")
    theatre.stage.control("DELETE", "faults")
    theatre.hook("on-stop")
    assert (theatre.stage.claim(), len(theatre.comments())) == (None, 1)
    theatre.stage.act("reopen_issue", issue=42)
    theatre.stage.command("claim", "42")
    assert theatre.stage.claim()["lease"]["epoch"] == 2


def test_hooks_look_at_the_ref_only_before_they_write(theatre):
    """A stop that writes fetches once; a stop while coding asks neither git nor GitHub."""
    theatre.stage.command("claim", "42")
    theatre.stage.commit("a.txt", "a\n", "A")
    played = theatre.hook("on-stop")
    assert (played.stdout, played.requests, git_requests(theatre)) == ("", 0, [])
    theatre.stage.command("handoff", "--later", "--summary", "Fix")
    assert git_requests(theatre) == ["git-receive-pack"]
    opened = theatre.hook("on-stop")
    assert (opened.requests, git_requests(theatre)) == (2, ["git-upload-pack"])


def test_renewal_happens_behind_the_hooks_back(theatre):
    """A lease that is a quarter old is renewed by a process that the hook does not wait for."""
    session = with_variables(theatre, CLAUDECODE="1", AGENT_SYNC_LEASE_TTL_S="4")
    with long_ago(theatre):
        session.stage.command("claim", "42")
    before = ref(session)
    played = session.hook("on-tool")
    assert (played.status, played.stdout) == (0, "")
    wait_until(lambda: ref(session) != before)
    wait_until(lambda: session.stage.claim()["lease"]["sha"] == ref(session))


def test_renewal_that_finds_the_lease_lost_says_so_at_the_next_event(theatre):
    """The renewal is the first to know; the next event tells both readers."""
    old = with_variables(theatre, **SHORT)
    with long_ago(theatre):
        old.stage.command("claim", "42")
    taken_over(old)
    old.hook("on-tool", stdin='{"session_id": "s"}')
    wait_until(lambda: old.stage.claim()["lease"].get("lost_to"))
    played = old.hook("on-stop", stdin='{"session_id": "s"}')
    assert "Stop working on it" in human(played)
    assert "Stop working on it" in agent(played)


def wait_until(condition):
    """Wait for what a process in the background does."""
    give_up = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < give_up, "it has not happened"
        time.sleep(0.1)


def test_status_shows_everybody(theatre):
    """One fetch tells who holds what on which machine; offline it is this clone's view, and said so."""
    theatre.stage.command("claim", "42")
    other = beside(theatre, "bob", CLAUDECODE="1")
    other.stage.command("claim", "43")
    assert "The claim holds for everyone who uses origin. Epoch 1" in other.stage.command("status").stdout
    listed = theatre.stage.command("status", "--all")
    assert git_requests(theatre) == ["git-upload-pack"]
    assert theatre.operations() == ["Claims", "Board"]
    _needs_you, _nothing, working, first, second, *_rest, last = listed.stdout.splitlines()
    assert working == "Working (2)"
    assert first.startswith("#42 Fix race condition in cache · is coding · CI - · ")
    assert f" · {theatre.stage.claim()['agent_id']}@" in first
    assert first.endswith(" · next: agent-sync handoff --summary TEXT")
    assert second.startswith("#43 Describe the cache in the README · is coding · CI - · ")
    assert f" · {other.stage.claim()['agent_id']}@" in second
    assert second.endswith(" · next: agent-sync watch")
    assert last == "From origin, just now."
    rows = json.loads(theatre.stage.command("status", "--all", "--json").stdout)
    assert [(row["issue"], row["mode"], row["expired"]) for row in rows["claims"]] == [
        (42, "manual", False),
        (43, "auto", False),
    ]
    assert [row["expiry"] for row in rows["claims"]] == ["never expires", "expires in 59 min"]
    assert [row["holder"].partition(" (")[0] for row in rows["claims"]] == [
        theatre.stage.claim()["agent_id"],
        other.stage.claim()["agent_id"],
    ]
    theatre.git("remote", "set-url", "origin", "http://127.0.0.1:9/octo/demo.git")
    offline = theatre.stage.command("status", "--all").stdout
    assert "#43 Describe the cache in the README · is coding" in offline
    assert "Only what this clone knows: origin cannot be reached" in offline


def test_pre_push_hook_is_chained_and_taken_out_exactly(theatre):
    """A plain push of a lost claim is refused by git itself; the hook that was there still reads what it always read."""
    path = f"{Path(COMMAND).parent}:{theatre.stage.environment['PATH']}"
    old = with_variables(theatre, PATH=path, **SHORT)
    hook = theatre.stage.root / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\nwhile read -r ref rest; do echo "$1 $ref" >> seen; done\n')
    hook.chmod(0o755)
    before = hook.read_bytes()
    assert old.stage.command("hook", "install", "--pre-push").status == 0
    with long_ago(theatre):
        old.stage.command("claim", "42")
    # Work that is older than the claim says nothing against a take-over, however slow the machine is.
    with_variables(old, GIT_COMMITTER_DATE="2026-01-01T00:00:00Z").stage.commit("a.txt", "a\n", "A")
    old.git("push", "-q", "origin", BRANCH)
    assert (theatre.stage.root / "seen").read_text() == f"origin refs/heads/{BRANCH}\n"
    taken_over(old)
    old.stage.commit("b.txt", "b\n", "B")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        old.git("push", "-q", "origin", BRANCH)
    assert "was not pushed: issue #42 is held by" in refused.value.stderr
    assert old.stage.command("hook", "uninstall").status == 0
    assert (hook.read_bytes(), hook.stat().st_mode & 0o777) == (before, 0o755)
    assert not (hook.parent / "post-commit").exists()


def test_plain_push_is_guarded(theatre):
    """What a pre-push hook asks is refused for the claim's branch alone, and only once the lease is lost."""
    old = with_variables(theatre, **SHORT)
    with long_ago(theatre):
        old.stage.command("claim", "42")
    line = f"refs/heads/{BRANCH} {'1' * 40} refs/heads/{BRANCH} {'0' * 40}\n"
    assert old.stage.command("guard-push", "origin", "url", stdin=line).status == 0
    taken_over(old)
    assert old.stage.command("guard-push", "origin", "url", stdin=line.replace(BRANCH, "other")).status == 0
    played = old.stage.command("guard-push", "origin", "url", stdin=line)
    assert (played.status, "was not pushed: issue #42 is held by" in played.stderr) == (3, True)


def test_doctor_says_for_whom_claims_hold_and_what_the_board_shows(theatre):
    """Git is asked whether it may push, and nothing is pushed; a board that names somebody else is not believed."""
    theatre.stage.command("claim", "42")
    theatre.stage.act("set_field", issue=42, field="Agent", value="other-1")
    checks = doctor(theatre)
    assert checks["claim refs"][0] == "ok"
    assert checks["lease"] == ("warn", "held here, but the Agent field says other-1")
    pushes = [
        one for one in theatre.stage.control("GET", "requests?git=1") if one["path"].endswith("/git-receive-pack")
    ]
    assert pushes == []


def doctor(theatre):
    """Return the mark and the words of every check."""
    values = json.loads(theatre.stage.command("doctor", "--json").stdout)
    return {check["name"]: (check["mark"], check["says"]) for check in values["checks"]}


def test_claim_that_cannot_be_begun_is_nobodys(theatre):
    """Where git will not switch to the branch, the lease is given back at once: others are not kept from the issue."""
    theatre.git("switch", "-q", "-c", "other")
    theatre.stage.commit("cache.py", "theirs\n", "Theirs")
    theatre.git("switch", "-q", "main")
    (theatre.stage.root / "cache.py").write_text("mine\n")
    assert theatre.stage.command("claim", "42", "--branch", "other").status == 1
    assert theatre.stage.claim() is None
    assert beside(theatre, "bob").stage.command("claim", "42").status == 0
