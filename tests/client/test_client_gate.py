"""What the client makes of a gate that blocks."""

import pytest
from scenes import COMMIT, HANDOFF, claim
from scripted_model import bash, say

from agent_sync.demo.stage import GATE

UNFINISHED = "echo '# UNFINISHED' >> cache.py"
FINISHED = "git checkout --quiet -- . ; rm -f cache.py; echo 'lock = 1' > cache.py"


def blocks(run):
    """Return how many stops were blocked."""
    return sum('"decision": "block"' in hook["stdout"] for hook in run.hooks("Stop"))


def test_block_reaches_the_model(gated_client):
    """Gate: a block sends the model back and names the check."""
    claim(gated_client)
    gated_client.model.plays([bash(UNFINISHED)], [say("Done.")], [bash(FINISHED)], [say("Fixed.")])
    run = gated_client.ask("do the work")
    assert blocks(run) == 1
    assert "finished" in run.requests[2].text.rpartition("Stop hook feedback")[2]
    assert run.result == "Fixed."


def test_block_shows_what_failed(gated_client):
    """Gate: the reason of a block holds the output of the check."""
    claim(gated_client)
    gated_client.model.plays([bash(UNFINISHED)], [say("Done.")], [bash(FINISHED)], [say("Fixed.")])
    run = gated_client.ask("do the work")
    assert "\n1:# UNFINISHED\n" in run.requests[2].text.rpartition("Stop hook feedback")[2]


def test_claimed_fix_is_verified(gated_client):
    """Gate: a fix that is only claimed is blocked again, up to the limit; then the human is told."""
    claim(gated_client)
    gated_client.model.plays([bash(UNFINISHED)], *[[say("I fixed it.")]] * 8)
    run = gated_client.ask("do the work")
    assert blocks(run) == 3
    assert "A human should look" in run.shown


def test_true_fix_is_verified(gated_client):
    """Gate: a second attempt that is right passes."""
    claim(gated_client)
    turns = [bash(UNFINISHED)], [say("Done.")], [say("Really.")], [bash(FINISHED)], [say("Now it is.")]
    gated_client.model.plays(*turns)
    run = gated_client.ask("do the work")
    assert (blocks(run), run.result) == (2, "Now it is.")


def test_no_pull_request_without_a_pass(gated_client, gated):
    """Gate: hand-off runs it, and there is no pull request without a pass."""
    claim(gated_client)
    gated_client.model.plays([bash(f"{UNFINISHED} && {COMMIT}")], [bash(HANDOFF)], [say("Handed over.")])
    run = gated_client.ask("/handoff")
    assert gated.pulls() == []
    assert "finished" in run.requests[2].text


def test_passing_stop_is_silent(client, theatre):
    """Gate new on this branch: said once for a claim, a passing stop says nothing."""
    claim(client)
    for name, text in GATE.items():
        (theatre.stage.root / name).parent.mkdir(parents=True, exist_ok=True)
        theatre.stage.commit(name, text, f"Add {name}")
    runs = []
    for number in range(3):
        client.model.plays([bash(f"echo 'lock = {number}' > cache.py")], [say("Done.")])
        runs.append(client.ask("do the work"))
    assert [blocks(run) for run in runs] == [0, 0, 0]
    assert sum("new on this branch" in run.shown for run in runs) == 1
    assert runs[-1].shown == ""


@pytest.mark.parametrize(
    "text", ["entry_points: [", "base_branch: origin/main\nentry_points: []\n"], ids=["no YAML", "no entry point"]
)
def test_broken_definitions_never_block(gated_client, gated, text):
    """Gate: definitions that cannot be used never block."""
    claim(gated_client)
    gated.stage.commit(".gauntlet/config.yml", text, "Break the gate")
    gated_client.model.plays([bash(UNFINISHED)], [say("Done.")])
    run = gated_client.ask("do the work")
    assert (blocks(run), run.result) == (0, "Done.")
