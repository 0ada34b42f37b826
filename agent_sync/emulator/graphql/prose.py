"""Text of people as GitHub renders it, kept simple."""

from html import escape


def html_paragraph(text: str | None) -> str:
    """Return a text as one paragraph of HTML."""
    return f'<p dir="auto">{escape(text)}</p>' if text else ""
