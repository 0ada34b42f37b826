"""Each phase by hand: claim file in, hook, requests and claim file out."""

import json
from pathlib import Path

import pytest
from support.stage import agent, human

CASES = json.loads(Path(__file__).with_name("phases.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_phase_by_hand(theatre, case):
    """A hand-written claim file leads to exactly these requests, this sentence and this file."""
    if case.get("work"):
        theatre.work(push=case["work"] != "local")
    if case.get("pull"):
        theatre.hold(phase="ready_for_pr", summary="Test PR")
        theatre.hook("on-stop")
        theatre.stage.act("set_field", issue=42, field="Status", value="In Progress")
        (theatre.stage.root / ".agent-claim.json").unlink()
        # What was said in that round is remembered, and does not silence this one.
        (theatre.stage.root / ".git" / "agentsync" / "claim.base.json").unlink()
    for act in case.get("acts", ()):
        theatre.stage.act(**act)
    theatre.hold(**case["claim"])
    played = theatre.hook(*case["hook"], CLAUDE_PROJECT_DIR=".")
    assert played.status == 0
    assert case["operations"] == theatre.operations()
    said = f"{human(played)}\n{agent(played)}".strip()
    assert case["says"] in said
    assert bool(case["says"]) == bool(said)
    _check_world(theatre, case)


def _check_world(theatre, case):
    claim = theatre.stage.claim()
    if case["file"] is None:
        assert claim is None
    else:
        assert case["file"] == {key: claim.get(key) for key in case["file"]}
    if "card" in case:
        assert theatre.card()["Status"] == case["card"]
    if "issue" in case:
        assert theatre.issue()["state"] == case["issue"]
    if "comments" in case:
        assert len(theatre.comments()) == case["comments"]
