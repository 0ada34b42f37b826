"""The frame of a plot: an SVG without scripts or fonts from outside, for light and dark pages and screen readers."""

from collections.abc import Iterable
from html import escape
from math import ceil, floor, log10

WIDTH, EDGE = 860, 24
TOP = 64
TICKS = 5
STYLE = """\
text{font:13px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1f2328}
.figure{font-size:11px;paint-order:stroke;stroke:#fff;stroke-width:3px}
.title{font-size:16px;font-weight:600}.dim{fill:#59636e}.end{text-anchor:end}.mid{text-anchor:middle}
.page{fill:#fff;stroke:#d1d9e0}.grid{stroke:#d1d9e0}.limit{stroke:#1f2328;stroke-width:2}
.a{fill:#0969da;stroke:#0969da}.b{fill:#bc4c00;stroke:#bc4c00}.c{fill:#8250df;stroke:#8250df}
.d{fill:#1a7f37;stroke:#1a7f37}.e{fill:#9a6700;stroke:#9a6700}.bar{stroke:none}.line{fill:none;stroke-width:2}
@media (prefers-color-scheme:dark){text{fill:#f0f6fc}.dim{fill:#9198a1}.page{fill:#0d1117;stroke:#3d444d}
.figure{stroke:#0d1117}.grid{stroke:#3d444d}.limit{stroke:#f0f6fc}.a{fill:#58a6ff;stroke:#58a6ff}.b{fill:#f0883e;stroke:#f0883e}
.c{fill:#bc8cff;stroke:#bc8cff}.d{fill:#3fb950;stroke:#3fb950}.e{fill:#d29922;stroke:#d29922}
.bar{stroke:none}.line{fill:none}}
"""


def framed(title: str, told: str, height: float, shapes: Iterable[str]) -> str:
    """Return a whole picture; `told` is what it shows, in words."""
    inside = "\n".join(shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:g}" viewBox="0 0 {WIDTH} {height:g}"'
        f' role="img" aria-labelledby="t d">\n'
        f'<title id="t">{escape(title)}</title>\n<desc id="d">{escape(told)}</desc>\n'
        f"<style>\n{STYLE}</style>\n"
        f'<rect class="page" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1:g}" rx="8"/>\n'
        f"{text(EDGE, 30, title, 'title')}\n{inside}\n</svg>\n"
    )


def text(x: float, y: float, words: str, kind: str = "") -> str:
    """Return one line of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}"{_class(kind)}>{escape(words, quote=False)}</text>'


def rectangle(x: float, y: float, width: float, height: float, kind: str) -> str:
    """Return a filled rectangle."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"{_class(kind)}/>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """Return a straight line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"{_class(kind)}/>'


def legend(entries: Iterable[tuple[str, str]], y: float) -> str:
    """Return what each colour stands for, in one line."""
    shapes, x = [], float(EDGE)
    for kind, words in entries:
        mark = (
            line(x + 6, y - 11, x + 6, y + 1, kind) if kind == "limit" else rectangle(x, y - 10, 12, 10, f"{kind} bar")
        )
        shapes += [mark, text(x + 18, y, words, "dim")]
        x += 40 + 7 * len(words)
    return "\n".join(shapes)


def ticks(most: float) -> list[float]:
    """Return round numbers from zero to just above the largest value."""
    rough = most / TICKS
    size = 10.0 ** floor(log10(rough))
    step = next(size * times for times in (1, 2, 5, 10) if size * times >= rough)
    return [step * number for number in range(ceil(most / step) + 1)]


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""
