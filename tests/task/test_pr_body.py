from support.claims import NOW, claim

from agent_sync.settings.tables import MISSION_CHECKLIST, Pull
from agent_sync.task.decision.pr_body import body, closing_comment, marker, title


def test_boxes_are_unchecked():
    """All five mission boxes and the test plan are there, and none is ticked."""
    text = body(claim(), Pull())
    assert len(MISSION_CHECKLIST) == 5
    assert all(f"- [ ] {line}" in text for line in (*MISSION_CHECKLIST, "Tests pass"))
    assert "[x]" not in text.lower()


def test_closing_stays_with_the_human():
    """The body refers to the issue; only a setting makes it a closing keyword."""
    assert "\nRefs #42\n" in body(claim(), Pull())
    assert "Closes" not in body(claim(), Pull())
    assert "\nCloses #42\n" in body(claim(), Pull(closes_issue=True))


def test_checklist_can_be_replaced():
    """A project's own boxes take the place of ours; without any the section is gone."""
    assert "- [ ] Mine" in body(claim(), Pull(checklist=("Mine",)))
    assert "Mission" not in body(claim(), Pull(checklist=()))


def test_title_is_the_first_line():
    """A summary of several lines gives a title of one, and the rest is in the body."""
    held = claim(summary="\n  Fix\tthe race \nand more $(touch x) `y`\n")
    assert title(held) == "Fix the race"
    assert "and more $(touch x) `y`" in body(held, Pull())


def test_marker_names_the_claim():
    """The marker is the same for one claim, another for the next, and cannot be closed by a hostile id."""
    assert marker(claim()) == "<!-- agent-sync claim=octo-1738000000 issue=42 -->"
    lease = {"where": "remote", "epoch": 3, "nonce": "n", "renewed_at": NOW, "ttl_s": 1.0}
    assert marker(claim(lease=lease)) == "<!-- agent-sync claim=octo-1738000000 issue=42 epoch=3 -->"
    assert marker(claim()) in body(claim(), Pull())
    assert marker(claim()) in closing_comment(claim(), 107)
    assert marker(claim(agent_id="x --> <script>")).count("-->") == 1
