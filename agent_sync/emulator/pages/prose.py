"""Bodies and comments: Markdown as far as it is harmless, everything else as the text it is."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from agent_sync.emulator.pages.markup import Html, escaped, tag, visible

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_REFERENCE = re.compile(r"(?<![\w&/])#(\d{1,9})\b")
_BOX = re.compile(r"^\[([ xX])\] ")


class _Renderer(RendererHTML):
    """Shows tags as text, drops comments, ticks boxes, and links `#42`."""

    def text(self, tokens: Sequence[Token], index: int, _options: Any, env: Any) -> str:
        shown = escaped(_BOX.sub(_box, tokens[index].content) if index == 0 else tokens[index].content)
        if any(token.type == "link_open" for token in tokens[:index]) or not env.get("repository"):
            return shown
        return _REFERENCE.sub(rf'<a href="/{env["repository"]}/issues/\1">#\1</a>', shown)

    def heading_open(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        return f"<{_heading(tokens[index])}>"

    def heading_close(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        return f"</{_heading(tokens[index])}>\n"

    def link_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        tokens[index].attrSet("rel", "noopener noreferrer")
        return self.renderToken(tokens, index, options, env)

    def html_block(self, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
        left = _COMMENT.sub("", tokens[index].content).strip()
        return f"<p>{escaped(left)}</p>\n" if left else ""

    def html_inline(self, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
        return escaped(_COMMENT.sub("", tokens[index].content))


def prose(body: str | None, repository: str, *, nothing: str = "No description.") -> Html:
    """Return a text of anybody's as paragraphs, lists, code and links; `repository` is where `#42` leads."""
    if not (body and body.strip()):
        return tag("p", nothing, class_="dim")
    rendered = _markdown().render(visible(body), {"repository": quote(repository)})
    return tag("div", Html(rendered), class_="prose")


def _markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark", renderer_cls=_Renderer).enable(["table", "strikethrough"])
    parser.disable("image")  # a page of ours fetches nothing from elsewhere
    parser.validateLink = _is_web  # type: ignore[method-assign] # how the library asks which links are fine
    return parser


def _heading(token: Token) -> str:
    """Return the heading's tag, below the page's own headings."""
    return f"h{min(max(int(token.tag[1]) + 1, 3), 6)}"


def _is_web(url: str) -> bool:
    return url.startswith(("http://", "https://", "#", "/")) and not url.startswith("//")


def _box(match: re.Match[str]) -> str:
    return "☐ " if match[1] == " " else "☑ "
