"""The demo as one picture that moves: an SVG without scripts, fonts or anything else from outside."""

import textwrap
from collections.abc import Sequence
from html import escape

from agent_sync.demo.animation import Clock, animation
from agent_sync.demo.moments import COLUMNS, TRACK, Moment
from agent_sync.demo.story import Actor

WIDTH, HEIGHT, EDGE = 960, 560, 24
TRACK_Y, BOARD_Y, SCENES_Y = 58, 118, 316
COLUMN, SLOT, CARD_HEIGHT, CARD_LETTERS = 230, 50, 42, 27
ROW, ROWS, BASELINE = 27, 8, 18
STYLE = """\
text{font:14px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#e6edf3}
.window{fill:#0d1117;stroke:#656d76}.box{fill:#161b22;stroke:#656d76}.now{fill:#21303f}
.title,.column,.who{font-weight:600}.dim,.outcome,.column{fill:#9aa4af}.small,.column{font-size:12px}
.on{fill:#1a6b34;stroke:#5fd38a}.past{fill:none;stroke:#5fd38a}.mine{fill:none;stroke:#6cb0ff;stroke-width:2}
.agent{fill:#6cb0ff}.agent-sync{fill:#5fd38a}.human{fill:#f0a35e}.GitHub{fill:#c4a7f5}
"""


def drawn(moments: Sequence[Moment]) -> str:
    """Return the picture of a demo that was played."""
    clock = Clock(len(moments))
    parts = [_track(clock, moments), _board(clock, moments), _scenes(clock, moments)]
    rules, shapes = "".join(rules for rules, _ in parts), "\n".join(shape for _, shape in parts)
    told = " ".join(f"{moment.scene.actor} {moment.scene.does}." for moment in moments)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"\n'
        f' role="img" aria-labelledby="t d">\n'
        f'<title id="t">agent-sync demo: an issue from claim to close</title><desc id="d">{escape(told)}</desc>\n'
        f"<style>\n{STYLE}{rules}\n</style>\n"
        f'<rect class="window" x=".5" y=".5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="10"/>\n'
        f"{_text(EDGE, 34, 'agent-sync demo', 'title')}{_actors()}\n{shapes}\n</svg>\n"
    )


def _actors() -> str:
    shown = "".join(
        f'<tspan class="{actor}">● </tspan><tspan dx="2">{actor}</tspan><tspan dx="14"> </tspan>' for actor in Actor
    )
    return f'<text class="small" x="{WIDTH - EDGE}" y="34" text-anchor="end">{shown}</text>'


def _track(clock: Clock, moments: Sequence[Moment]) -> tuple[str, str]:
    """Return the steps of the task: the current one is filled, those behind it are outlined."""
    width, rules, shapes = (WIDTH - 2 * EDGE) / len(TRACK), [], []
    reached = [TRACK.index(moment.step) if moment.step else -1 for moment in moments]
    for place, step in enumerate(TRACK):
        x = EDGE + place * width
        box = f'x="{x + 2:.0f}" y="{TRACK_Y}" width="{width - 12:.0f}" height="30" rx="15"'
        rules.append(animation(clock, f"on{place}", "opacity", ["1" if at == place else "0" for at in reached]))
        rules.append(animation(clock, f"past{place}", "opacity", ["1" if at > place else "0" for at in reached]))
        shapes.append(
            f'<rect class="box" {box}/><g class="past{place}"><rect class="past" {box}/></g>'
            f'<g class="on{place}"><rect class="on" {box}/></g>'
            + _text(x + width / 2 - 4, TRACK_Y + 20, step, anchor="middle")
        )
    return "".join(rules), "\n".join(shapes)


def _board(clock: Clock, moments: Sequence[Moment]) -> tuple[str, str]:
    """Return the columns and the cards, which move when their column changes."""
    rules, shapes = [], []
    for place, name in enumerate(COLUMNS):
        x = EDGE + place * COLUMN
        shapes.append(f'<rect class="box" x="{x}" y="{BOARD_Y}" width="{COLUMN - 8}" height="{3 * SLOT + 30}" rx="8"/>')
        shapes.append(_text(x + 12, BOARD_Y + 20, name, "column"))
    for card in moments[-1].cards:
        places = [_place(moment, card.number) for moment in moments]
        held = [
            "1" if any(one.number == card.number and one.is_held for one in moment.cards) else "0" for moment in moments
        ]
        rules.append(animation(clock, f"card{card.number}", "transform", places))
        rules.append(animation(clock, f"held{card.number}", "opacity", held))
        shapes.append(_card(card.number, card.title))
    return "".join(rules), "\n".join(shapes)


def _place(moment: Moment, number: int) -> str:
    column = next(card.column for card in moment.cards if card.number == number)
    beside = [card.number for card in moment.cards if card.column == column]
    x, y = EDGE + COLUMNS.index(column) * COLUMN + 8, BOARD_Y + 28 + beside.index(number) * SLOT
    return f"translate({x}px,{y}px)"


def _card(number: int, title: str) -> str:
    box = f'width="{COLUMN - 24}" height="{CARD_HEIGHT}" rx="6"'
    lines = textwrap.wrap(f"#{number} {title}", CARD_LETTERS)[:2]
    text = "".join(_text(10, 17 + 16 * row, line, "small") for row, line in enumerate(lines))
    holder = _text(COLUMN - 32, 33, "agent", "small agent", anchor="end")
    mine = f'<g class="held{number}"><rect class="mine" {box}/>{holder}</g>'
    return f'<g class="card{number}"><rect class="window" {box}/>{text}{mine}</g>'


def _scenes(clock: Clock, moments: Sequence[Moment]) -> tuple[str, str]:
    """Return what was done, as lines that come in at the bottom; the newest stands out."""
    height = ROWS * ROW
    rule = animation(
        clock, "scroll", "transform", [f"translate(0,{(ROWS - 1 - at) * ROW}px)" for at in range(len(moments))]
    )
    rows = "\n".join(_row(moment, at * ROW + BASELINE) for at, moment in enumerate(moments))
    frame = f'x="{EDGE}" y="{SCENES_Y}" width="{WIDTH - 2 * EDGE}" height="{height}"'
    now = (
        f'<rect class="now" x="{EDGE}" y="{SCENES_Y + height - ROW}" width="{WIDTH - 2 * EDGE}" height="{ROW}" rx="6"/>'
    )
    clip = f'<clipPath id="scenes"><rect {frame}/></clipPath>'
    inside = f'<g transform="translate(0,{SCENES_Y})"><g class="scroll">\n{rows}\n</g></g>'
    return rule, f'{clip}{now}<g clip-path="url(#scenes)">{inside}</g>'


def _row(moment: Moment, y: int) -> str:
    scene = moment.scene
    told = _text(EDGE + 470, y, scene.outcome, "outcome")
    return _text(EDGE + 12, y, scene.actor, f"who {scene.actor}") + _text(EDGE + 114, y, scene.does, "does") + told


def _text(x: float, y: float, text: str, kind: str = "", *, anchor: str = "") -> str:
    more = (f' class="{kind}"' if kind else "") + (f' text-anchor="{anchor}"' if anchor else "")
    return f'<text x="{x:g}" y="{y:g}"{more}>{escape(text, quote=False)}</text>'
