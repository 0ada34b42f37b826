"""Work that is paused and resumed elsewhere: what the next session is told, and how it gets everything back."""

import json
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from support.clients import Client, shared_nursery
from support.clones import committed_ago, dies_at_push, long_ago, with_variables
from support.stage import Theatre, agent

INPUT = '{"componentId": "c-7"}'
BRANCH = "claude/fix-race-condition-in-cache-42"
CLAIM, HOOK = "refs/agentsync/claims/42", "refs/agentsync/hooks/main/w1"
# A claim lasts an hour, so this one has expired.
LONG_AGO = 7800


def ran(theatre, *arguments, status=0):
    """Run a command, which must end as told."""
    played = theatre.stage.command(*arguments)
    assert played.status == status, played.stdout + played.stderr
    return played


def machine(theatre, name, **variables):
    """Return another machine: a clone and a home of its own, with sessions of worker w1."""
    root, home = theatre.stage.root.with_name(name), theatre.stage.root.with_name(f"home-{name}")
    home.mkdir()
    theatre.git("clone", "-q", f"{theatre.stage.url}/octo/demo.git", str(root))
    own = {"AGENT_SYNC_WORKER": "w1", "HOME": str(home), **variables}
    return Theatre(replace(theatre.stage, root=root, environment=theatre.stage.environment | own))


def hook_md(theatre):
    """Return HOOK.md of the machine's task."""
    (page,) = Path(theatre.stage.environment["HOME"]).glob(".atlas/workspaces/*/tasks/*/HOOK.md")
    return page.read_text()


def test_next_session_learns_input_resume_point_and_how_to_restore(theatre):
    """Session start, `take` and HOOK.md name all three; the command they give brings every file back.

    A name of rescued files that was used before the claim's ref was deleted is used again, and what it kept stays
    reachable behind the new ones.
    """
    theatre.git("push", "-q", "origin", "HEAD:refs/agentsync/rescue/42-2")
    earlier = theatre.git("rev-parse", "HEAD")
    ran(theatre, "worker", "sling", "42", "w1", "--input", INPUT)
    first = machine(theatre, "first")
    ran(first, "worker", "take")
    assert "c-7" in hook_md(first)
    assert "`agent-sync worker result`" in hook_md(first)
    first.stage.commit("cache.py", "lock\n", "Lock")
    (first.stage.root / "cache.py").write_text("lock\nhalf\n")
    (first.stage.root / "new.txt").write_text("new\n")
    (first.stage.root / "README.md").unlink()
    ran(first, "worker", "pause", "--resume-point", "write the test", "--summary", "Lock added")
    second = machine(theatre, "second")
    told = agent(second.stage.hook("session-start", event="SessionStart"))
    ran_there = ran(second, "worker", "take")
    page = hook_md(second)
    (command,) = [line.strip() for line in page.splitlines() if "git restore" in line]
    for text in (told, ran_there.stdout, page):
        assert "write the test" in text
        assert 'The branch already has 1 commit (1 file): "Lock".' in text.replace("`", "")
        assert command in text
    assert "refs/agentsync/rescue/42-2" in command
    assert "refs/agentsync/rescue/42-2" in page
    assert "c-7" in told
    assert "c-7" in page
    assert "Lock added" in page
    assert f"### Commits Found On The Branch\n- `{first.git('rev-parse', 'HEAD')[:7]} Lock`\n" in page
    subprocess.run(command, shell=True, cwd=second.stage.root, env=second.stage.environment, check=True)  # noqa: S602
    assert (second.stage.root / "cache.py").read_text() == "lock\nhalf\n"
    assert (second.stage.root / "new.txt").read_text() == "new\n"
    assert not (second.stage.root / "README.md").exists()
    theatre.git("fetch", "-q", "origin", "refs/agentsync/rescue/42-2")
    assert theatre.git("show", "FETCH_HEAD:new.txt") == "new"
    assert earlier in theatre.git("rev-parse", "FETCH_HEAD^@").split()


def test_forged_rescue_ref_is_never_part_of_a_command():
    """A name that agent-sync has not made is shown quoted, and no command is given that would run it."""
    from agent_sync.leases.refs.values import Where
    from agent_sync.work.rescue import restore_command

    sha = "a" * 40
    for ref in ("refs/agentsync/rescue/1-1;touch x", "refs/heads/main", "$(touch x)", "refs/agentsync/rescue/1-1\n"):
        assert restore_command(ref, sha, where=Where.REMOTE, remote="origin") == ""
    assert restore_command("refs/agentsync/rescue/1-1", sha, where=Where.REMOTE, remote="a b").startswith(
        "git fetch 'a b' refs/agentsync/rescue/1-1 &&"
    )


def test_slung_work_keeps_nobody_from_the_next_issue_and_is_not_taken_while_blocked(theatre):
    """`next` and `claim --next` pass over what hangs on a hook, also where the board does not show it.

    An issue that was blocked after it was slung is refused with exit code 1 and stays on the hook as BLOCKED.
    """
    ran(theatre, "worker", "sling", "42", "w1")
    theatre.stage.act("set_field", issue=42, field="Status", value="Todo")
    theatre.stage.act("set_field", issue=42, field="Agent", value=None)
    assert "#42" not in ran(theatre, "next").stdout.replace("held", "")
    assert "Claimed issue #43" in ran(theatre, "claim", "--next").stdout
    ran(theatre, "release")
    theatre.stage.act("block_issue", issue=42, blocked_by=40)
    refused = ran(theatre, "worker", "take", "--worker", "w1", status=1)
    assert "Issue #42 is blocked by #40; the work stays on the hook of main/w1." in refused.stderr
    assert theatre.stage.claim() is None
    assert "BLOCKED" in ran(theatre, "worker", "status", "w1").stdout
    assert "blocked by #40" in ran(theatre, "worker", "take", "--worker", "w1", status=1).stderr


def test_epic_with_open_sub_issues_is_slung_by_force_only(theatre):
    """An epic is no single task: its open sub-issues are named, and only --force slings it."""
    theatre.stage.act("sub_issue", issue=42, parent=43)
    assert "it has open sub-issues: #42" in ran(theatre, "worker", "sling", "43", "w1", status=1).stderr
    assert "Slung issue-43" in ran(theatre, "worker", "sling", "43", "w1", "--force").stdout


@pytest.mark.parametrize("how", ["no remote", "setting"])
def test_hooks_of_one_clone(theatre, how):
    """Without a remote, or by setting, work is slung, paused, resumed and finished in this clone, which is said."""
    own = {"AGENT_SYNC_WORKER": "w1"}
    if how == "no remote":
        theatre.git("remote", "remove", "origin")
        own["AGENT_SYNC_GITHUB_REPOSITORY"] = "octo/demo"
    else:
        own["AGENT_SYNC_LEASE_WHERE"] = "clone"
    here = Theatre(replace(theatre.stage, environment=theatre.stage.environment | own))
    assert "holds for this clone only" in ran(here, "worker", "sling", "42", "w1").stderr
    assert here.card()["Status"] == "In Progress"
    ran(here, "worker", "take")
    here.stage.commit("cache.py", "lock\n", "Lock")
    (here.stage.root / "new.txt").write_text("new\n")
    ran(here, "worker", "pause")
    (here.stage.root / "new.txt").unlink()
    taken = json.loads(ran(here, "worker", "take", "--json").stdout)
    assert "fetch" not in taken["restore"]
    subprocess.run(taken["restore"], shell=True, cwd=here.stage.root, check=True)  # noqa: S602
    here.stage.commit("new.txt", "new\n", "New")
    ran(here, "worker", "result")
    assert not [ref for ref in here.stage.world()["refs"] if "agentsync" in ref["name"]]
    assert "COMPLETE" in ran(here, "worker", "list").stdout


def started(theatre):
    """Return what the start of a session tells the worker's agent."""
    return agent(theatre.stage.hook("session-start", event="SessionStart"))


def refs(theatre):
    """Return the refs of the local GitHub by name."""
    return {ref["name"]: ref["sha"] for ref in theatre.stage.world()["refs"]}


def lease(theatre):
    """Return what the claim ref of issue 42 says."""
    theatre.git("fetch", "-q", "origin", f"+{CLAIM}:refs/seen")
    return json.loads(theatre.git("show", "refs/seen:claim.json"))


def shown(theatre):
    """Return everything on the hook of w1."""
    return json.loads(ran(theatre, "worker", "show", "w1", "--json").stdout)


def died(theatre, *, commits=True, with_git=False, ago=LONG_AGO):
    """Let the machine of w1 die after it took issue 42, and perhaps committed and pushed something."""
    ran(theatre, "worker", "sling", "42", "w1")
    first = machine(theatre, "first")
    with long_ago(theatre, ago):
        ran(first, "worker", "take")
        if with_git:
            committed_ago(first, ago - 60)
            first.git("push", "-q", "origin", BRANCH)
        elif commits:
            committed_ago(first, ago + 5)
            ran(first, "push")
    return first


def test_work_of_a_dead_machine_is_resumed_from_its_branch(theatre, tmp_path):
    """Once the claim has expired a session start says to resume, and `take` continues on the pushed commits.

    Claim and hook move in one push, and the clone that resumes had never fetched the branch.
    """
    second = machine(theatre, "second")
    first = died(theatre)
    before = lease(theatre)
    told = started(second)
    assert "Resume it now, without asking: its claim has expired, and part of it is done." in told
    assert "First run `agent-sync worker take`." in told
    assert 'The branch already has 1 commit (1 file): "A".' in told
    assert "has a problem" not in told
    traced = Theatre(replace(second.stage, environment=second.stage.environment | {"GIT_TRACE": str(tmp_path / "t")}))
    taken = ran(traced, "worker", "take")
    assert f'Resumed issue-42 on branch "{BRANCH}": its claim has expired, and part of it is done.' in taken.stdout
    assert 'The branch already has 1 commit (1 file): "A".' in taken.stdout
    assert (tmp_path / "t").read_text().count("built-in: git push") == 1
    assert second.git("rev-parse", "HEAD") == first.git("rev-parse", "HEAD")
    assert second.git("branch", "--show-current") == BRANCH
    assert "The branch already has 1 commit" in hook_md(second)
    now, hook = lease(theatre), shown(theatre)
    assert (now["epoch"], now["nonce"] == before["nonce"], now["mode"]) == (before["epoch"] + 1, False, "auto")
    assert (hook["status"]["status"], hook["status"]["nonce"]) == ("IN_PROGRESS", now["nonce"])
    assert [one.get("outcome", "running") for one in hook["attempts"]] == ["abandoned", "running"]
    log = theatre.git("log", "--format=%s", "refs/agentsync/tracking/origin/hooks/main/w1").splitlines()
    assert log[0] == "Resume issue-42"
    second.stage.commit("b.txt", "b\n", "B")
    ran(second, "push")


def test_worker_that_wakes_after_its_work_was_resumed_writes_nothing(theatre):
    """Its push, result, pause and handoff are refused with who holds the issue now; no ref moves."""
    first = died(theatre)
    second = machine(theatre, "second")
    ran(second, "worker", "take")
    first.stage.commit("late.txt", "late\n", "Late")
    before = refs(theatre)
    for arguments in (("worker", "result"), ("worker", "pause"), ("push",), ("handoff", "--summary", "Mine")):
        played = ran(first, *arguments, status=3)
        assert 'held by "main/w1"' in played.stderr, arguments
        assert "the work here stays" in played.stderr, arguments
        assert "Do not end the session" not in played.stderr, arguments
        assert "try: agent-sync release" in played.stderr, arguments
        assert refs(theatre) == before, arguments
    assert "is in progress: held by" in ran(first, "worker", "take", status=3).stderr
    ran(first, "release")
    assert (refs(theatre), first.stage.claim()) == (before, None)


def test_work_in_progress_elsewhere_is_said_to_be(theatre):
    """While the claim is valid a session start says who holds the work and until when, and `take` changes nothing."""
    ran(theatre, "worker", "sling", "42", "w1")
    first, second = machine(theatre, "first"), machine(theatre, "second")
    ran(first, "worker", "take")
    told, before = started(second), refs(theatre)
    assert "The work on your hook (main/w1), issue-42, is in progress elsewhere" in told
    assert 'held by "main/w1" since' in told
    assert "unless it is renewed" in told
    assert "agent-sync worker take" in told
    assert "is in progress: held by" in ran(second, "worker", "take", status=3).stderr
    assert refs(theatre) == before


def test_dead_machine_that_pushed_nothing(theatre):
    """Work of which nothing was pushed is begun again where the claim has expired."""
    died(theatre, commits=False)
    second = machine(theatre, "second")
    said = "it now, without asking: its claim has expired, and nothing of it was saved."
    assert f"Restart {said}" in started(second)
    taken = ran(second, "worker", "take").stdout
    assert f'Restarted issue-42 on branch "{BRANCH}": its claim has expired, and nothing of it was saved.' in taken
    assert "already has" not in taken


def test_work_that_was_put_back_is_continued(theatre):
    """After `worker repair --apply` the commits on the branch are continued, and named."""
    second = machine(theatre, "second")
    first = died(theatre)
    assert "done: claim the issue again" in ran(second, "worker", "repair", "--apply").stdout
    assert shown(theatre)["status"]["status"] == "PENDING"
    assert "Resume it now, without asking: part of it is done." in started(second)
    assert f'Resumed issue-42 on branch "{BRANCH}": part of it is done.' in ran(second, "worker", "take").stdout
    assert second.git("rev-parse", "HEAD") == first.git("rev-parse", "HEAD")
    assert len(shown(theatre)["attempts"]) == 2


def test_work_that_was_put_back_in_its_own_worktree_is_not_finished_by_its_former_session(theatre):
    """The claim file is of the holding before: pause and result are refused until the work is taken again."""
    first = died(theatre)
    ran(first, "worker", "repair", "--apply")
    before = refs(theatre)
    for arguments in (("worker", "pause"), ("worker", "result"), ("push",)):
        ran(first, *arguments, status=3)
    assert refs(theatre) == before
    assert "try: agent-sync worker take" in ran(first, "worker", "result", status=3).stderr
    assert "Resumed issue-42" in ran(first, "worker", "take").stdout
    ran(first, "worker", "pause")


def test_dead_work_on_an_issue_that_was_closed_is_cancelled(theatre):
    """It is not resumed: the work is off the hook, and the worker is free."""
    died(theatre)
    theatre.stage.act("close_issue", issue=42)
    second = machine(theatre, "second")
    assert "issue #42 is closed; the work was cancelled" in ran(second, "worker", "take").stdout
    assert (shown(theatre)["status"]["status"], second.stage.claim()) == ("CANCELLED", None)


def test_dead_work_is_not_begun_again_where_its_branch_cannot_be_fetched(theatre):
    """What was pushed is unknown then: nothing is taken, and the same command later resumes it."""
    died(theatre)
    second = machine(theatre, "second")
    before = refs(theatre)
    shim = second.stage.root.with_name("bin") / "git"
    shim.parent.mkdir()
    fails = 'case "$*" in *fetch*refs/heads/*) echo "fatal: no route" >&2; exit 128 ;; esac'
    shim.write_text(f'#!/bin/sh\n{fails}\nexec {shutil.which("git")} "$@"\n')
    shim.chmod(0o755)
    away = with_variables(second, PATH=f"{shim.parent}:{second.stage.environment['PATH']}")
    refused = ran(away, "worker", "take", status=1).stderr
    assert f"Branch {BRANCH} could not be fetched, so nothing was taken" in refused
    assert (refs(theatre), second.stage.claim()) == (before, None)
    assert "Resumed issue-42" in ran(second, "worker", "take").stdout


def test_branch_that_is_here_already_is_moved_forward_or_said_to_have_diverged(theatre):
    """An older local branch is moved to the pushed commits; one with other commits stays, and that is said."""
    behind, apart = machine(theatre, "behind"), machine(theatre, "apart")
    for clone in (behind, apart):
        clone.git("branch", BRANCH, "origin/main")
    apart.git("switch", "-q", BRANCH)
    apart.stage.commit("other.txt", "other\n", "Other")
    apart.git("switch", "-q", "main")
    first = died(theatre)
    kept = apart.git("rev-parse", BRANCH)
    with long_ago(theatre, 4000):
        ran(behind, "worker", "take")
    assert behind.git("rev-parse", "HEAD") == first.git("rev-parse", "HEAD")
    taken = ran(apart, "worker", "take")
    assert f"branch {BRANCH} here and on origin have diverged" in taken.stderr
    assert apart.git("rev-parse", "HEAD") == kept


def test_branch_that_the_dead_machine_had_renamed_is_continued(theatre):
    """The claim knows the branch that was pushed last, which the hook was not told of; `repair` keeps to it too."""
    first = died(theatre)
    with long_ago(theatre, LONG_AGO):
        first.git("branch", "-m", BRANCH, "better-name")
        first.edit_claim(branch="better-name")
        ran(first, "push")
    second = machine(theatre, "second")
    taken = ran(second, "worker", "take")
    assert 'Resumed issue-42 on branch "better-name"' in taken.stdout
    assert (second.git("branch", "--show-current"), shown(theatre)["status"]["branch"]) == ("better-name",) * 2
    assert second.git("rev-parse", "HEAD") == first.git("rev-parse", "HEAD")


def test_work_that_was_put_back_keeps_its_renamed_branch(theatre):
    """`worker repair --apply` names the branch of the claim; one that is not named after the issue needs a person."""
    first = died(theatre)
    with long_ago(theatre, LONG_AGO):
        first.git("branch", "-m", BRANCH, "better-name")
        first.edit_claim(branch="better-name")
        ran(first, "push")
    ran(theatre, "worker", "repair", "--apply")
    second = machine(theatre, "second")
    assert "may add --yes" in ran(second, "worker", "take", status=1).stderr
    assert 'Resumed issue-42 on branch "better-name"' in ran(second, "worker", "take", "--yes").stdout


def test_commit_pushed_with_plain_git_holds_dead_work_no_longer_than_a_claim(theatre):
    """A commit since the last renewal counts as a sign of life: the work is resumed one time to live after it."""
    died(theatre, with_git=True)
    second = machine(theatre, "second")
    with long_ago(theatre, LONG_AGO - 3600 - 90):
        before = refs(theatre)
        assert "Resume it now" not in started(second)
        refused = ran(second, "worker", "take", status=1).stderr
        assert "its work branch has moved since it was last renewed" in refused
        assert f"try: git log origin/{BRANCH}" in refused
        assert refs(theatre) == before
    assert "Resumed issue-42" in ran(second, "worker", "take").stdout


def test_dead_work_with_an_open_pull_request_waits_for_a_human(theatre):
    """A session start and `take` say so and change nothing; the command they name puts the work back."""
    first = died(theatre)
    with long_ago(theatre, LONG_AGO):
        ran(first, "handoff", "--summary", "Fix it")
    second = machine(theatre, "second")
    before = refs(theatre)
    told, refused = started(second), ran(second, "worker", "take", status=1).stderr
    for text in (told, refused):
        assert "its pull request is open, so a human must agree" in text
        assert f"agent-sync worker rollback {before[HOOK][:12]} main/w1" in text
    assert "Resume it now" not in told
    assert refs(theatre) == before
    ran(theatre, "worker", "rollback", before[HOOK][:12], "main/w1")
    assert "Resumed issue-42" in ran(second, "worker", "take").stdout
    assert second.stage.claim()["pr_number"] == 45


def test_third_expiry_is_not_resumed_but_given_up(theatre):
    """After three lost attempts `take` names the command that asks a human, as `repair` does."""
    died(theatre, ago=12_000)
    for name, ago in (("second", 8000), ("third", 4000)):
        with long_ago(theatre, ago):
            assert "Resumed issue-42" in ran(machine(theatre, name), "worker", "take").stdout
    fourth = machine(theatre, "fourth")
    before = refs(theatre)
    told, refused = started(fourth), ran(fourth, "worker", "take", status=1).stderr
    for text in (told, refused):
        assert "the claim of #42 has expired (attempt 3 of 3)" in text
        assert "agent-sync worker repair --apply" in text
    assert refs(theatre) == before
    assert "done: mark the work as failed and ask a human" in ran(fourth, "worker", "repair", "--apply").stdout
    assert theatre.issue()["labels"] == ["needs-human"]


@pytest.mark.parametrize("moment", ["before", "after"])
def test_resuming_dead_work_can_be_killed_and_run_again(theatre, tmp_path, moment):
    """Killed right before or after its push, the same `take` continues on the commits, with one step in the history."""
    first = died(theatre)
    second = machine(theatre, "second")
    ran(dies_at_push(second, tmp_path, moment), "worker", "take", status=-signal.SIGKILL)
    assert "Resumed issue-42" in ran(second, "worker", "take").stdout
    assert second.git("rev-parse", "HEAD") == first.git("rev-parse", "HEAD")
    assert second.stage.claim()["lease"]["nonce"] == shown(theatre)["status"]["nonce"] == lease(theatre)["nonce"]
    (row,) = [json.loads(line) for line in ran(theatre, "ledger").stdout.splitlines()]
    assert [event["event"] for event in row["events"] if event["event"] == "Resume issue-42"] == ["Resume issue-42"]


def test_one_machine_resumes_dead_work(theatre):
    """Of two machines that resume at once one gets it, and the other learns who has it."""
    died(theatre)
    machines = [machine(theatre, "second"), machine(theatre, "third")]
    with ThreadPoolExecutor() as both:
        clients = [Client(shared_nursery(), one.stage.root) for one in machines]
        runs = [
            both.submit(client.do_there, one.stage.root, one.stage.environment, "worker", "take", stdin="")
            for one, client in zip(machines, clients, strict=True)
        ]
        ends = [run.result(timeout=60) for run in runs]
    for client in clients:
        client.close()
    assert sorted(end.status for end in ends) == [0, 3], ends
    assert [one.stage.claim() is not None for one in machines].count(True) == 1
    assert shown(theatre)["status"]["nonce"] == lease(theatre)["nonce"]


def test_worktree_that_holds_another_issue_is_told_what_helps(theatre):
    """Session start gives the advice that `worker take` gives, and each of its ways leads on."""
    ran(theatre, "worker", "sling", "42", "w1")
    busy = machine(theatre, "busy")
    ran(busy, "claim", "43")
    told, refused = started(busy), ran(busy, "worker", "take", status=1).stderr
    for text in (told, refused):
        assert "this worktree holds another issue" in text
        assert "agent-sync handoff" in text
        assert "agent-sync release" in text
        assert "in another worktree" in text
    assert "worker repair" not in told
    ran(busy, "release")
    assert "Started issue-42" in ran(busy, "worker", "take").stdout
