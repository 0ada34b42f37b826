"""Each phase by hand: claim file in, hook, requests and claim file out."""

import json
from pathlib import Path

import pytest
from support.stage import Theatre, agent, human, quick

CASES = {case["name"]: case for case in json.loads(Path(__file__).with_name("phases.json").read_text(encoding="utf-8"))}
# One clone plays the cases of an order: what GitHub still has of an earlier one does not change a later one.
ORDERS = {
    "to the pull request": (
        "coding, board in step: no request, nothing said",
        "coding, status changed: the board follows",
        "ready_for_pr without a branch: the phase stays and the reason is said",
        "ready_for_pr without a summary: the phase stays and the reason is said",
        "ready_for_pr: the PR is opened and the card moved",
        "ready_for_pr, PR there already: it is adopted, no second one",
    ),
    "to the closed pull request": (
        "ready_for_pr, branch not pushed yet: it is pushed first",
        "pr_created, no checks yet: never called green",
        "pr_created, checks running: counted, phase checks_running",
        "checks_running, closed unmerged: said, phase kept",
    ),
    "to the merge": ("checks_running, all green: ready to merge", "checks_running, merged: the question is asked"),
    "to the close": (
        "done, not merged: nothing is closed",
        "pr_created, a check failed: it is named",
        "done, merged: commented, closed, card moved, file deleted",
    ),
    "to somebody's close": ("done, issue closed by someone else: no second comment, no second close",),
}


def test_every_case_is_played():
    """Each case has its place in one order."""
    assert sorted(name for order in ORDERS.values() for name in order) == sorted(CASES)


@pytest.mark.parametrize("order", ORDERS)
def test_phases_by_hand(theatre, order):
    """A hand-written claim file leads to exactly these requests, this sentence and this file."""
    done: set[str] = set()
    for name in ORDERS[order]:
        case = CASES[name]
        _set_up(theatre, case, done)
        theatre.hold(**case["claim"])
        played = theatre.hook(*case["hook"], CLAUDE_PROJECT_DIR=".")
        assert played.status == 0, name
        assert case["operations"] == theatre.operations(), name
        said = f"{human(played)}\n{agent(played)}".strip()
        assert case["says"] in said, name
        assert bool(case["says"]) == bool(said), name
        _check_world(theatre, case)


def _set_up(theatre, case, done):
    """Bring about what a case begins with, as far as the cases before it have not."""
    for file in (".agent-claim.json", ".git/agentsync/claim.base.json"):
        # What was said in a round is remembered, and does not silence the next one.
        (theatre.stage.root / file).unlink(missing_ok=True)
    if theatre.card()["Status"] != "In Progress":
        theatre.stage.act("set_field", issue=42, field="Status", value="In Progress")
    if case.get("work") and "work" not in done:
        theatre.work(push=case["work"] != "local")
        done.add("work")
    if case.get("pull") and not theatre.pulls():
        ready = Theatre(quick(theatre.stage))
        ready.hold(phase="ready_for_pr", summary="Test PR")
        ready.hook("on-stop")
        _set_up(theatre, {}, done)
    for act in case.get("acts", ()):
        theatre.stage.act(**act)


def _check_world(theatre, case):
    name, claim = case["name"], theatre.stage.claim()
    if case["file"] is None:
        assert claim is None, name
    else:
        assert case["file"] == {key: claim.get(key) for key in case["file"]}, name
    if "card" in case:
        assert theatre.card()["Status"] == case["card"], name
    if "issue" in case:
        assert theatre.issue()["state"] == case["issue"], name
    if "comments" in case:
        assert len(theatre.comments()) == case["comments"], name
