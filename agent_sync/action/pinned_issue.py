"""Keeps the part of one issue's text between two marks up to date, and writes nothing where nothing has changed."""

from agent_sync.gateway.port import Gateway

BEGIN, END = "<!-- agent-sync: fleet -->", "<!-- agent-sync: end of fleet -->"


def keep_issue(gateway: Gateway, issue: int, text: str) -> bool:
    """Put the text into the issue; return whether it had to be written."""
    before = gateway.issue_text(issue)
    after = with_section(before, text)
    if after.splitlines() == before.splitlines():
        return False
    gateway.write_issue_text(issue, after)
    return True


def with_section(before: str, text: str) -> str:
    """Return an issue's text with our section in its place, or at the end; what people wrote around it stays."""
    section = f"{BEGIN}\n\n{text.strip()}\n\n{END}"
    head, begin, rest = before.partition(BEGIN)
    # A title may hold the mark too, but never before the first or after the last one of ours.
    _, end, tail = rest.rpartition(END)
    if begin and end:
        return f"{head}{section}{tail}"
    return f"{before.rstrip()}\n\n{section}".lstrip()
