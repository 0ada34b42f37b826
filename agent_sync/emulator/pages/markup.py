"""HTML that escapes by construction: plain text goes in as text, and only `tag` makes markup of it."""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass

# Control characters, and the marks that let a text reorder what stands around it.
_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_REPLACEMENT = "\ufffd"
_VOID = frozenset({"link", "meta"})


@dataclass(frozen=True)
class Html:
    """A piece of finished markup."""

    text: str


Content = Html | str


def visible(text: str) -> str:
    """Return a text with a mark in place of every character that steers instead of showing."""
    return _UNSAFE.sub(_REPLACEMENT, text)


def escaped(text: str) -> str:
    """Return a text of anybody's as it may stand between tags or in an attribute."""
    return html.escape(visible(text))


def tag(name: str, /, *content: Content, **attributes: str | None) -> Html:
    """Return an element; `class_` and `aria_label` are spelled `class` and `aria-label`, None leaves one out."""
    spelled = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    inside = "".join(f' {key}="{escaped(value)}"' for key, value in spelled.items())
    return Html(f"<{name}{inside}>" if name in _VOID else f"<{name}{inside}>{joined(content).text}</{name}>")


def joined(content: Iterable[Content], between: str = "") -> Html:
    """Return several pieces as one."""
    pieces = (piece.text if isinstance(piece, Html) else escaped(piece) for piece in content)
    return Html(escaped(between).join(pieces))


def link(path: str, *content: Content, **attributes: str | None) -> Html:
    """Return a link to another page of this server."""
    return tag("a", *content, href=path, **attributes)
