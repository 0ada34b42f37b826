"""The text of a pull request, from values alone."""

from support.claims import NOW, claim

from agent_sync.settings.tables import PullSettings
from agent_sync.task.decision.facts import Branch, GateSeen
from agent_sync.task.decision.messages import closing_comment
from agent_sync.task.decision.pull_text import (
    LONGEST_BODY,
    MISSION_CHECKLIST,
    claim_marker,
    is_body_ours,
    is_title_ours,
    pull_body,
    pull_title,
    with_digests,
    without_digests,
)

GATE = GateSeen("passed", "", may_open=True, is_configured=True, summary="Gates: Passed", passed=("check:.:test",))


def test_no_boxes_by_default():
    """Nobody is asked to tick anything that the project has not asked for."""
    assert "[ ]" not in pull_body(claim(), PullSettings(), gate=GATE)


def test_boxes_of_the_specification():
    """One word gives the five mission boxes, and none of them is ticked by a gate."""
    text = pull_body(claim(), PullSettings(checklist="mission-integrity"), gate=GATE)
    assert len(MISSION_CHECKLIST) == 5
    assert "## Mission integrity" in text
    assert all(f"- [ ] {line}" in text for line in MISSION_CHECKLIST)


def test_own_boxes():
    """A list gives a project's own boxes, under a heading that says no more than that."""
    text = pull_body(claim(), PullSettings(checklist=("Mine",)))
    assert "## Checklist\n\n- [ ] Mine" in text
    assert "Mission" not in text


def test_proven_boxes_are_ticked():
    """A box of the test plan that names a passed gate is ticked; the others are for a human."""
    text = pull_body(claim(), PullSettings(test_plan=("Tests pass", "Lint passes")), gate=GATE)
    assert "- [x] Tests pass\n- [ ] Lint passes" in text


def test_closing_stays_with_the_human():
    """The body refers to the issue; only a setting makes it a closing keyword."""
    assert "\nRefs #42\n" in pull_body(claim(), PullSettings())
    assert "Closes" not in pull_body(claim(), PullSettings())
    assert "\nCloses #42\n" in pull_body(claim(), PullSettings(closes_issue=True))


def test_order_of_the_sections():
    """Summary, commits, the issue, the gates, the receipts."""
    branch = Branch("a" * 40, is_current=True, receipts=("r1",), commits=(("b" * 40, "Fix"),))
    text = pull_body(claim(summary="What"), PullSettings(), gate=GATE, branch=branch)
    places = [text.index(part) for part in ("What", "bbbbbbbbbbbb Fix", "Refs #42", "Gates: Passed", "- r1")]
    assert places == sorted(places)


def test_subject_that_would_close_or_mention_is_code():
    """What stands in a commit's subject links, closes and mentions nothing."""
    branch = Branch("a" * 40, is_current=True, commits=(("b" * 40, "Fixes #7 for @mona `x`"),))
    assert "- bbbbbbbbbbbb `Fixes #7 for @mona 'x'`" in pull_body(claim(), PullSettings(), branch=branch)


def test_template_is_filled_in():
    """The summary goes below the heading that asks for it, or above all; issue and gates follow the template."""
    held = claim(summary="What I did")
    asked = Branch(None, is_current=True, template="# Hello\n\n## Description\n\n<!-- say -->\n\n## Risk\n- [ ] none\n")
    text = pull_body(held, PullSettings(), gate=GATE, branch=asked)
    assert "## Description\n\nWhat I did\n\n<!-- say -->\n\n## Risk\n- [ ] none\n\nRefs #42\n\n## Gates" in text
    plain = Branch(None, is_current=True, template="Please be kind.")
    assert pull_body(held, PullSettings(), branch=plain).startswith("What I did\n\nPlease be kind.\n\nRefs #42")


def test_title_is_the_first_line():
    """A summary of several lines gives a title of one, and the rest is in the body."""
    held = claim(summary="\n  Fix\tthe race \nand more $(touch x) `y`\n")
    assert pull_title(held) == "Fix the race"
    assert "and more $(touch x) `y`" in pull_body(held, PullSettings())


def test_text_is_cut_at_the_limits():
    """A text that GitHub would refuse is cut with a note; issue, gates and marker are never cut off."""
    held = claim(summary="x" * 70_000)
    long_gate = GateSeen("passed", "", may_open=True, is_configured=True, summary="g" * 70_000)
    text = with_digests("t", pull_body(held, PullSettings(), gate=long_gate))
    assert (len(pull_title(held)), len(text) <= LONGEST_BODY) == (256, True)
    assert text.count("The rest was cut") == 2
    assert "Refs #42" in text
    assert claim_marker(held) in text


def test_edits_of_a_person_are_known():
    """Title and body are ours until somebody changes them; other line ends change nothing."""
    body = with_digests("Title", pull_body(claim(), PullSettings()))
    assert is_title_ours("Title", body)
    assert is_body_ours(body.replace("\n", "\r\n"))
    assert not is_title_ours("Better title", body)
    assert not is_body_ours("More.\n" + body)
    assert not is_body_ours(body + "\nMore.")
    assert without_digests(body).strip() == pull_body(claim(), PullSettings()).strip()


def test_marker_names_the_claim():
    """The marker is the same for one claim, another for the next, and cannot be closed by a hostile id."""
    assert claim_marker(claim()) == "<!-- agent-sync claim=octo-1738000000 issue=42 -->"
    lease = {"where": "remote", "epoch": 3, "nonce": "n", "renewed_at": NOW, "ttl_s": 1.0}
    assert claim_marker(claim(lease=lease)) == "<!-- agent-sync claim=octo-1738000000 issue=42 epoch=3 -->"
    assert claim_marker(claim()) in pull_body(claim(), PullSettings())
    assert claim_marker(claim()) in closing_comment(claim(), 107)
    assert claim_marker(claim(agent_id="x --> <script>")).count("-->") == 1
