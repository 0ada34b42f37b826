"""The plots of docs/performance.md: well-formed, told in words, and all of them on the page."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from benchmarks.drawing import ticks
from benchmarks.figures import Row, Unit
from benchmarks.imports import self_times
from benchmarks.page import PAGE, PLOTS, filled
from benchmarks.plots import bars, curves

SVG = "{http://www.w3.org/2000/svg}"
ROWS = [
    Row("s", "claim <&>", Unit.BARE, ("10", "10,000"), (30.0, 31.0), script=(None, 35.0), at_most=(None, 40.0)),
    Row("s", "board", Unit.BARE, ("10", "10,000"), (25.0, 30.5), rival=(None, 12.0)),
]


@pytest.mark.parametrize("draw", [bars, curves])
def test_a_plot_is_xml_with_a_title_and_a_description(draw):
    """A screen reader is told the title and every figure, and no text breaks the picture."""
    root = ET.fromstring(draw("A <title>", ROWS))  # noqa: S314  # our own
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-labelledby"] == "t d"
    assert root.findtext(f"{SVG}title") == "A <title>"
    told = root.findtext(f"{SVG}desc")
    assert "claim <&>: " in told
    assert "31.0" in told
    assert "prefers-color-scheme:dark" in root.findtext(f"{SVG}style")


def test_bars_stand_beside_what_others_took():
    """A row has a bar for each that was measured, as long as its figure, and its limit as a line."""
    root = ET.fromstring(bars("A title", ROWS))  # noqa: S314
    widths = {
        kind: [float(bar.attrib["width"]) for bar in root.iter(f"{SVG}rect") if bar.attrib.get("class") == kind]
        for kind in ("a bar", "b bar", "c bar")
    }
    # The first of each colour is in the legend.
    ours, script, rival = (widths[kind][1:] for kind in widths)
    assert (len(ours), len(script), len(rival)) == (2, 1, 1)
    assert rival[0] < ours[1] < ours[0] < script[0]
    assert sum(line.attrib["class"] == "limit" for line in root.iter(f"{SVG}line")) == 2


def test_the_names_of_curves_do_not_cover_each_other():
    """Curves that end at the same height are named on lines of their own."""
    same = [Row("s", name, Unit.BARE, ("1", "2"), (5.0, 5.0)) for name in "abc"]
    root = ET.fromstring(curves("A title", same))  # noqa: S314
    heights = sorted(float(text.attrib["y"]) for text in root.iter(f"{SVG}text") if ": 5.00" in (text.text or ""))
    assert len(heights) == 3
    assert all(after - before >= 15 for before, after in pairwise(heights))


@pytest.mark.parametrize(
    ("most", "expected"), [(1.3, [0, 0.5, 1.0, 1.5]), (64.9, [0, 20, 40, 60, 80]), (5, [0, 1, 2, 3, 4, 5])]
)
def test_ticks_are_round_and_reach_over_the_largest(most, expected):
    """The scale has few, round numbers, and no value is above it."""
    assert ticks(most) == expected


def test_the_page_takes_new_figures_and_keeps_the_rest():
    """Only what is between the markers changes, however often it is written."""
    page = "before\n<!-- table: written -->\nold\n<!-- table: end -->\nafter\n"
    once = filled(page, "2026-01-01, Python", ROWS)
    assert once.startswith("before\n<!-- table: written -->\n\nMeasured 2026-01-01, Python.\n")
    assert once.endswith("\n\n<!-- table: end -->\nafter\n")
    assert "old" not in once
    assert filled(once, "2026-01-01, Python", ROWS) == once


def test_every_plot_is_on_the_page():
    """The page shows every picture that is drawn, and no other."""
    shown = set(re.findall(r"\(performance/([a-z-]+)\.svg\)", PAGE.read_text(encoding="utf-8")))
    assert shown == {path.stem for path in PLOTS.glob("*.svg")}
    for path in PLOTS.glob("*.svg"):
        assert ET.parse(path).getroot().findtext(f"{SVG}desc"), path  # noqa: S314


def test_loading_is_added_up_by_package():
    """Self times of a package's modules are one figure, and so are those of the standard library."""
    trace = (
        "import time: self [us] | cumulative | imported package\n"
        "import time:       100 |        100 |   json.decoder\n"
        "import time:        50 |        150 | json\n"
        "import time:         7 |          7 |     pydantic.fields\n"
        "a hook said something\n"
        "import time:         3 |         10 |   pydantic\n"
    )
    assert self_times(trace) == {"the standard library": 150, "pydantic": 10}
