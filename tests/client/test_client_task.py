"""A task from claim to close in the client, alone and with others."""

from contextlib import ExitStack
from dataclasses import replace

from claude_code import ClaudeCode
from scenes import COMMIT, HANDOFF, PULL, claim, initialise, open_pull
from scripted_model import bash, call, running_model, say
from support.clones import beside
from support.neighbours import new_issues


def test_claim_tells_the_model(client, theatre):
    """Claim: one command, two requests."""
    run = claim(client)
    assert len(run.requests) == 2
    assert 'Claimed issue #42 "Fix race condition in cache"' in run.requests[-1].text
    assert theatre.card()["Status"] == "In Progress"


def test_work_costs_nothing(client):
    """Work: a stop with nothing to do is silent and free."""
    claim(client)
    client.model.plays([bash(COMMIT)], [say("Committed.")])
    run = client.ask("do the work")
    assert (len(run.requests), run.shown) == (2, "")
    assert [hook["stdout"] for hook in run.hooks("Stop")] == [""]


def test_handoff_opens_the_pull_request(client, theatre):
    """Hand-off: the stop opens the pull request and tells human and model."""
    run = open_pull(client)
    assert f"PR #{PULL} created: " in run.shown
    assert f"PR #{PULL} is open" in run.requests[-1].text
    assert theatre.card()["Status"] == "In Review"
    assert len(run.requests) == 4


def test_no_turn_for_what_is_no_news(client, theatre):
    """Second hand-off and /done: no extra model turn."""
    open_pull(client)
    client.model.plays([bash(COMMIT)], [bash(HANDOFF)], [say("Handed over.")])
    again = client.ask("/handoff")
    theatre.stage.act("merge_pull", pull=PULL, method="squash")
    client.model.plays([say("It will be closed.")])
    done = client.ask("/done")
    assert theatre.issue()["state"] == "closed"
    assert (len(again.requests), len(done.requests)) == (3, 1)


def test_done_closes(client, theatre):
    """/done: the stop closes issue, card, claim and record."""
    open_pull(client)
    theatre.stage.act("merge_pull", pull=PULL, method="squash")
    client.model.plays([say("It will be closed.")])
    run = client.ask("/done")
    assert "Issue #42 closed" in run.shown
    assert theatre.issue()["state"] == "closed"
    assert theatre.card()["Status"] == "Done"
    assert f"Completed in #{PULL}" in "\n".join(theatre.comments())
    assert theatre.stage.claim() is None


def test_one_of_two_gets_the_issue(client, theatre, program):
    """Two clients at one issue: one claims it, the other is told who has it."""
    rival_theatre = beside(theatre, "rival")
    with running_model() as model:
        rival = ClaudeCode(program, rival_theatre.stage, model)
        rival.trust()
        clients = (client, rival)
        for one in clients:
            one.model.plays([bash("agent-sync claim 42")], [say("Done.")])
        for process in [one.start("/claim 42") for one in clients]:
            process.communicate(timeout=240)
        held = [one.stage.claim() is not None for one in clients]
        loser = clients[held.index(False)]
        told = loser.model.turns[-1].text
    assert sorted(held) == [False, True]
    assert "Exit code 3" in told
    assert "Issue #42 is held by" in told
    assert "agent-sync next" in told


def test_sub_agents_work_is_recorded(client):
    """Sub-agent: its commit is a checkpoint, its end is no stop."""
    claim(client)
    agent = call("Agent", description="commit", prompt="sub-agent task: commit", subagent_type="general-purpose")
    client.model.plays([agent], [say("All done.")])
    client.model.plays([bash(COMMIT)], [say("Committed.")], key="sub-agent task: commit")
    run = client.ask("delegate")
    assert run.result == "All done."
    assert "Guard the cache" in client.stage.command("hook", "checkpoints").stdout
    assert [hook["stdout"] for hook in run.hooks("Stop")] == [""] * len(run.hooks("Stop"))


def test_worktree_of_the_client(client, theatre):
    """Worktree made by the client: the claim is made there, and its pull request is opened."""
    client.model.plays([bash("agent-sync claim 42")], [bash(COMMIT)], [bash(HANDOFF)], [say("Handed over.")])
    run = client.ask("/claim 42", "--worktree", "feat")
    assert f"PR #{PULL} created: " in run.shown
    assert theatre.stage.claim() is None
    assert (theatre.stage.root / ".claude" / "worktrees" / "feat" / ".agent-claim.json").exists()


def test_worktrees_of_the_client_are_ignored(client, theatre):
    """Worktree made by the client: the main checkout stays clean."""
    client.ask("hello", "--worktree", "feat")
    assert theatre.git("status", "--porcelain") == ""


def test_subdirectory(client, theatre):
    """Subdirectory, entered by cd: hooks find the claim."""
    claim(client)
    client.model.plays([bash("mkdir -p deep/er && cd deep/er")], [bash(COMMIT)], [bash(HANDOFF)], [say("Done.")])
    run = client.ask("/handoff")
    assert f"PR #{PULL} created: " in run.shown
    assert len(theatre.pulls()) == 1


def test_claim_in_another_worktree(client, theatre):
    """Worktree made by claim within a session: the pull request is opened when the turn ends."""
    there = theatre.stage.root.parent / "demo-42"
    work = f"cd {there} && {COMMIT}"
    client.model.plays([bash("agent-sync claim 42 --worktree")], [bash(work)], [bash(f"cd {there} && {HANDOFF}")])
    run = client.ask("work on 42 in a worktree of its own")
    assert [pull["number"] for pull in theatre.pulls()] == [PULL]
    assert f"PR #{PULL}" in run.shown + run.requests[-1].text


# The directory of the new worktree is only known when it was made.
_NEXT = (
    """root=$(agent-sync claim --next --worktree --json | sed 's/.*"root": "\\([^"]*\\)".*/\\1/') && cd "$root" && """
)


def test_sessions_in_one_clone_get_a_task_each(theatre, program):
    """Three sessions in one clone claim at the same moment: each has its own worktree, branch and pull request."""
    count = 3
    initialise(theatre.stage)
    new_issues(theatre, count)
    with ExitStack() as stack:
        sessions = []
        for number in range(count):
            home = theatre.stage.root.parent / f"home-{number}"
            home.mkdir()
            stage = replace(theatre.stage, environment=theatre.stage.environment | {"HOME": str(home)})
            sessions.append(ClaudeCode(program, stage, stack.enter_context(running_model())))
            sessions[-1].trust()
            sessions[-1].model.plays([bash(_NEXT + COMMIT + " && " + HANDOFF)], [say("Handed over.")])
        for process in [one.start("work on the next task") for one in sessions]:
            process.communicate(timeout=240)
        told = [one.model.turns[-1].text for one in sessions]
    assert len(theatre.pulls()) == count, told
    assert len({pull["head"] for pull in theatre.pulls()}) == count
    agents = [item["fields"].get("Agent") for item in theatre.stage.world()["items"]]
    assert len({agent for agent in agents if agent}) == count
