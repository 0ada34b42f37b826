"""The picture of the demo: its words are the story's, it moves without scripts, and it needs nothing from outside."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from support.browser import tab

from agent_sync.demo.animation import Clock, animation
from agent_sync.demo.moments import TRACK, Card, Moment, cost
from agent_sync.demo.picture import drawn
from agent_sync.demo.stage import Played
from agent_sync.demo.story import story
from agent_sync.demo.view import LiveView, PlainView

PICTURE = Path(__file__).parent.parent.parent / "docs" / "demo.svg"
SVG = "{http://www.w3.org/2000/svg}"
LARGEST = 200_000


def moments():
    """Return moments as the demo sees them, without playing it."""
    steps = ["", *(step for step in TRACK for _ in range(3))][: len(list(story()))]
    columns = {"": "Todo", "coding": "In Progress"}
    return tuple(
        Moment(scene, Played("claim 42", 0, "", "", 7, 1), step, (
            Card(42, "Fix <it>", columns.get(step, "Done"), is_held=step == "coding"), Card(43, "Other", "Todo", is_held=False)
        ), "http://127.0.0.1:1/octo" if scene.page else "")
        for scene, step in zip(story(), steps, strict=True)
    )  # fmt: skip


def rows(svg):
    """Return who does what and what comes of it, as a picture shows it."""
    texts = ET.fromstring(svg).iter(f"{SVG}text")  # noqa: S314 - our own file
    shown = [(text.get("class", "").split(" ")[0], text.text or "") for text in texts]
    told = [text for kind, text in shown if kind in {"who", "does", "outcome"}]
    return list(zip(told[0::3], told[1::3], told[2::3], strict=True))


def test_picture_tells_the_story_of_today():
    """Who changes the story draws the picture again: agent-sync demo --fast --picture docs/demo.svg."""
    assert rows(PICTURE.read_text()) == [(scene.actor, scene.does, scene.outcome) for scene in story()]


@pytest.mark.parametrize("svg", [PICTURE.read_text(), drawn(moments())], ids=["docs", "drawn"])
def test_picture_is_small_and_stands_alone(svg):
    """No script, no font, no picture, no address; it moves unless the reader wants no motion."""
    assert len(svg.encode()) < LARGEST
    assert re.findall(r"https?://[^\"]+", svg) == ["http://www.w3.org/2000/svg"]
    used = {element.tag.removeprefix(SVG) for element in ET.fromstring(svg).iter()}  # noqa: S314 - our own file
    assert used == {"svg", "title", "desc", "style", "rect", "text", "tspan", "g", "clipPath"}
    assert svg.count("@keyframes") == svg.count("@media (prefers-reduced-motion:no-preference)") > 5


def test_a_change_is_an_animation_and_rest_is_the_end():
    """What never changes does not move; what does has the last value where nothing moves."""
    assert animation(Clock(3), "a", "opacity", ["1", "1", "1"]) == ".a{opacity:1}"
    rule = animation(Clock(3), "a", "opacity", ["0", "1", "1"])
    assert rule.startswith(".a{opacity:1}@media")
    assert "0%{opacity:0}16.67%{opacity:0}20%{opacity:1}100%{opacity:1}" in rule


def test_plain_view_names_the_actor_and_costs_on_demand(capsys):
    """Costs show only if they are wanted, and one request is one request."""
    for with_costs in (False, True):
        with PlainView(with_costs=with_costs) as view:
            view.show(moments()[0])
        said = capsys.readouterr().out
        assert said.startswith("agent-sync  tells a new session what is on the board\n")
        assert ("(agent-sync claim 42: 1 request, 7 ms)" in said) is with_costs
    assert cost(None) == ""


def test_live_view_shows_track_board_and_who_acts(capsys, monkeypatch):
    """On a terminal the last picture stays: steps in words, columns, the agent's card, actors."""
    monkeypatch.setenv("COLUMNS", "150")
    with LiveView(0, with_costs=False) as view:
        for moment in moments()[:3]:
            view.show(moment)
    said = capsys.readouterr().out
    for word in (*TRACK, "In Progress", "#42 Fix <it> (agent)", "claims issue #42: agent-sync claim 42"):
        assert word in said
    assert "ms" not in said.split()


def test_picture_moves_in_a_browser():
    """A browser finds nothing to complain about, shows it as an image, and moves it; without motion it shows the end."""
    with tab() as page:
        page.open(PICTURE.as_uri())
        assert page.value("document.getAnimations().length") > 5
        page.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        assert page.value("document.getAnimations().length") == 0
        assert page.value(f"getComputedStyle(document.querySelector('.on{len(TRACK) - 1}')).opacity") == "1"
        assert page.complaints == []
