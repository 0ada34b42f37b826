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


def test_claim_costs_one_push_and_hooks_look_at_the_ref_only_before_they_write(theatre):
    """One push of the lease, then one fetch of the base; GitHub is asked for the look-up and the mirror.

    A stop that writes fetches once; a stop while coding asks neither git nor GitHub. Whose a claim is cannot be told
    without its ref: then nothing is written, it is said, and tried at the next event.
    """
    assert f"would push {CLAIM_REF} to origin (1 push)" in theatre.stage.command("claim", "42", "--dry-run").stdout
    assert ref(theatre) is None
    played = theatre.stage.command("claim", "42", "--json")
    assert (played.status, played.requests) == (0, 2)
    assert git_requests(theatre) == ["git-receive-pack", "git-upload-pack"]
    values = json.loads(played.stdout)
    lease = values["lease"]
    assert (lease["where"], lease["epoch"], lease["mode"], lease["sha"]) == ("remote", 1, "manual", ref(theatre))
    assert values["scope"] == "The claim holds for everyone who uses origin."
    assert theatre.stage.claim()["lease"]["nonce"] == lease["nonce"]
    theatre.stage.commit("a.txt", "a\n", "A")
    played = theatre.hook("on-stop")
    assert (played.stdout, played.requests, git_requests(theatre)) == ("", 0, [])
    theatre.stage.command("handoff", "--later", "--summary", "Fix")
    assert git_requests(theatre) == ["git-receive-pack"]
    theatre.fault("drop_before", times=99, operation="git-upload-pack")
    played = theatre.hook("on-stop")
    assert "so nothing was written to GitHub" in human(played)
    assert theatre.pulls() == []
    theatre.stage.control("DELETE", "faults")
    opened = theatre.hook("on-stop")
    assert "PR #45 created" in opened.stdout
    assert (opened.requests, git_requests(theatre)) == (2, ["git-upload-pack"])


def test_second_claimer_loses_and_has_written_nothing(theatre):
    """Whoever comes second leaves with exit code 3, is told who holds the issue, and leaves no trace anywhere.

    That is so with a board or without, whatever the board shows; nor is taken over what has not expired.
    """
    first = with_variables(theatre, CLAUDECODE="1", AGENT_SYNC_PROJECT_NUMBER="")
    assert first.stage.command("claim", "42").status == 0
    holder = first.stage.claim()["agent_id"]
    second = beside(first, "bob", AGENT_SYNC_LEASE_ALLOWANCE_S="0")
    for board, shown in (("", {}), ("1", {}), ("1", {"Agent": holder, "Status": "In Progress"})):
        for field, value in shown.items():
            theatre.stage.act("set_field", issue=42, field=field, value=value)
        world, clone = second.stage.world(), traces(second)
        played = with_variables(second, AGENT_SYNC_PROJECT_NUMBER=board).stage.command("claim", "42")
        assert (board, shown, played.status) == (board, shown, 3), told(played)
        assert 'Issue #42 is held by "octo/demo" since' in played.stderr
        assert f'on branch "{BRANCH}"; it expires at 20' in played.stderr
        assert (world, clone) == (second.stage.world(), traces(second)), (board, shown)
        assert not list((second.stage.root / ".git").glob("agentsync/intents/*.json"))
    refused(second, "it has not expired")


def test_successor_continues_on_the_branch_and_the_former_holder_is_refused(theatre):
    """A take-over checks out what the former holder had pushed, with the next epoch; the former clone keeps its work.

    There code, pull request, card and close are refused from then on; `release` takes away the claim file alone.
    """
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
    unaware = (old.stage.root / ".agent-claim.json").read_text()
    old.stage.commit("b.txt", "b\n", "B")
    world = new.stage.world()
    for command in (["push"], ["handoff", "--summary", "Mine"]):
        played = old.stage.command(*command)
        assert (played.status, "is held by" in played.stderr) == (3, True), told(played)
        assert "try: agent-sync release" in played.stderr
    values = old.stage.claim()
    assert values["lease"]["lost_to"].startswith('"octo/bob" since')
    assert old.hook("done", "--yes", "--now", CLAUDECODE="").status == 3
    assert world == new.stage.world()
    assert old.git("rev-parse", BRANCH) != new.git("rev-parse", BRANCH)
    # Whether the loss is known already or not.
    (old.stage.root / ".agent-claim.json").write_text(unaware)
    released = old.stage.command("release")
    assert (released.status, "now; only the claim file here was deleted." in released.stdout) == (0, True)
    assert (old.stage.claim(), world) == (None, new.stage.world())


KEPT_BACK = {
    "pull request": {"phase": "ready_for_pr", "summary": "x"},
    "card": {"status": "In Review"},
    "close": {"phase": "done"},
}


def test_lost_lease_keeps_writes_back(theatre):
    """A stop that would have written finds the lease lost, writes nothing, and says it once to both readers.

    Where a renewal is the first to know, the next event says it.
    """
    old = with_variables(theatre, **SHORT)
    with long_ago(theatre):
        old.stage.command("claim", "42")
        committed_ago(old, 2)
        old.stage.command("push")
    new = taken_over(old)
    world = new.stage.world()
    unaware = state_of(old)
    for what, fields in KEPT_BACK.items():
        put_back(old, unaware)
        if what == "close":
            old.hook("done", "--yes", "--later", CLAUDECODE="")
        old.edit_claim(**fields)
        played = with_variables(old, AGENT_SYNC_LEASE_TTL_S="").hook("on-stop", stdin='{"session_id": "s"}')
        assert world == new.stage.world(), what
        assert "is no longer this worktree's: it is held by" in human(played), what
        assert "Stop working on it" in agent(played), what
        again = old.hook("on-stop", stdin='{"session_id": "s"}')
        assert (what, again.stdout, again.requests, git_requests(old)) == (what, "", 0, [])
        assert "Stop working on it" in agent(old.hook("on-prompt", stdin='{"session_id": "t"}')), what
        assert world == new.stage.world(), what
    put_back(old, unaware)
    old.hook("on-tool", stdin='{"session_id": "s"}')
    wait_until(lambda: old.stage.claim()["lease"].get("lost_to"))
    played = old.hook("on-stop", stdin='{"session_id": "s"}')
    assert "Stop working on it" in human(played)
    assert "Stop working on it" in agent(played)


def state_of(theatre):
    """Return every file of ours in a clone."""
    root = theatre.stage.root
    ours = (root / ".agent-claim.json", *(root / ".git" / "agentsync").rglob("*"))
    return {file: file.read_bytes() for file in ours if file.is_file()}


def put_back(theatre, state):
    """Have exactly these files of ours in a clone."""
    for file in state_of(theatre):
        file.unlink()
    for file, content in state.items():
        file.write_bytes(content)


def test_taking_over_waits_for_the_branch_and_for_a_human(theatre):
    """Nobody takes over what has expired while its branch moves; an open pull request needs a human."""
    other = beside(theatre, "bob", AGENT_SYNC_LEASE_ALLOWANCE_S="0")
    old = with_variables(theatre, **SHORT | {"AGENT_SYNC_LEASE_TTL_S": "60"})
    with long_ago(theatre, 120):
        old.stage.command("claim", "42")
    committed_ago(old, 40)
    old.git("push", "-q", "origin", BRANCH)
    refused(other, "its work branch has moved since it was last renewed")
    # Not by a hook, behind whose back the lease would be renewed.
    opened = with_variables(old, CLAUDECODE="").stage.command("handoff", "--summary", "Fix")
    assert "PR #45 created" in opened.stdout
    # So much later the commit is no sign of work any more.
    with long_ago(theatre, -200):
        refused(other, "its pull request is open, so a human must agree")
        agreed = other.stage.command("claim", "42", "--take-over", "--yes")
    assert agreed.status == 0, agreed.stderr
    assert other.stage.claim()["lease"]["epoch"] == 2


def refused(theatre, reason):
    """Try to take issue 42 over, which must change nothing."""
    world, clone = theatre.stage.world(), traces(theatre)
    played = theatre.stage.command("claim", "42", "--take-over")
    assert (played.status, reason in played.stderr) == (1, True), told(played)
    assert (world, clone) == (theatre.stage.world(), traces(theatre))


def test_epochs_grow_with_every_holder(theatre):
    """Released or done, an issue is simply claimed again, one epoch later; what is claimed by hand is not taken over.

    An issue whose lease could not be ended keeps its claim file; the next event ends it and closes nothing twice.
    """
    theatre.stage.command("claim", "42")
    other = beside(theatre, "bob", AGENT_SYNC_LEASE_ALLOWANCE_S="0")
    refused(other, "it was claimed by hand and never expires")
    theatre.stage.command("release")
    other.stage.command("claim", "42")
    assert other.stage.claim()["lease"]["epoch"] == 2
    closed = other.stage.command("done", "--yes", "--now")
    assert "Issue #42 closed." in closed.stdout
    assert other.stage.claim() is None
    comments = len(theatre.comments())
    theatre.stage.act("reopen_issue", issue=42)
    assert theatre.stage.command("claim", "42").status == 0
    assert theatre.stage.claim()["lease"]["epoch"] == 3
    theatre.fault("drop_before", times=99, operation="git-receive-pack")
    played = theatre.stage.command("done", "--yes", "--now")
    assert (played.status, "could not be ended" in played.stderr) == (8, True), told(played)
    assert (theatre.issue()["state"], theatre.stage.claim()["phase"]) == ("closed", "done")
    theatre.stage.control("DELETE", "faults")
    theatre.hook("on-stop")
    assert (theatre.stage.claim(), len(theatre.comments())) == (None, comments + 1)
    theatre.stage.act("reopen_issue", issue=42)
    theatre.stage.command("claim", "42")
    assert theatre.stage.claim()["lease"]["epoch"] == 4
    theatre.stage.commit("a.txt", "a\n", "A")
    theatre.stage.command("handoff", "--later", "--summary", "Fix")
    theatre.hook("on-stop")
    assert "issue=42 epoch=4 -->" in theatre.pulls()[0]["body"]


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
    assert " · octo/demo · " in first
    assert first.endswith(" · next: agent-sync handoff")
    assert second.startswith("#43 Describe the cache in the README · is coding · CI - · ")
    assert " · octo/bob · " in second
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


# Takes the place of git's hooks where a commit is only needed.
NO_HOOKS = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": "/dev/null"}


def test_pre_push_hook_is_chained_and_taken_out_exactly(theatre):
    """A plain push of a lost claim is refused by git itself; the hook that was there still reads what it always read.

    What the hook asks is refused for the claim's branch alone, and only once the lease is lost.
    """
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
    with_variables(old, GIT_COMMITTER_DATE="2026-01-01T00:00:00Z", **NO_HOOKS).stage.commit("a.txt", "a\n", "A")
    old.git("push", "-q", "origin", BRANCH)
    assert (theatre.stage.root / "seen").read_text() == f"origin refs/heads/{BRANCH}\n"
    line = f"refs/heads/{BRANCH} {'1' * 40} refs/heads/{BRANCH} {'0' * 40}\n"
    guard = ("guard-push", "origin", "url")
    assert old.stage.command(*guard, stdin=line).status == 0
    taken_over(old)
    assert old.stage.command(*guard, stdin=line.replace(BRANCH, "other")).status == 0
    played = old.stage.command(*guard, stdin=line)
    assert (played.status, "was not pushed: issue #42 is held by" in played.stderr) == (3, True)
    with_variables(old, **NO_HOOKS).stage.commit("b.txt", "b\n", "B")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        old.git("push", "-q", "origin", BRANCH)
    assert "was not pushed: issue #42 is held by" in refused.value.stderr
    assert old.stage.command("hook", "uninstall").status == 0
    assert (hook.read_bytes(), hook.stat().st_mode & 0o777) == (before, 0o755)
    assert not (hook.parent / "post-commit").exists()


def test_lost_file_is_restored_and_a_wrong_board_is_not_believed(theatre):
    """Whoever lost the claim file, and not the lease, gets both back; the doctor trusts the lease, and pushes nothing."""
    theatre.stage.command("claim", "42")
    before = theatre.stage.claim()["lease"]
    (theatre.stage.root / ".agent-claim.json").unlink()
    played = theatre.stage.command("claim", "42")
    assert "Restored the claim of issue #42" in played.stdout
    after = theatre.stage.claim()["lease"]
    assert (after["nonce"], after["epoch"]) == (before["nonce"], before["epoch"])
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
