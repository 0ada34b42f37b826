"""Shows what people wrote about an issue that was just claimed."""

from dataclasses import asdict

import click

from agent_sync.task.decision.issue_brief import CLAIM_LIMIT, IssueBrief, RelatedIssue, brief_text
from agent_sync.task.decision.outside_text import one_line


def tell_brief(brief: IssueBrief | None) -> None:
    """Print an issue's text as data, if there is any."""
    if brief and not brief.is_empty:
        click.echo(brief_text(brief, limit=CLAIM_LIMIT))


def brief_values(brief: IssueBrief) -> dict[str, object]:
    """Return an issue as values; `text` is what the command prints, with a mark before every quoted line."""
    return {
        "url": one_line(brief.url, limit=200),
        "text": brief_text(brief, limit=CLAIM_LIMIT),
        "parent": _values(brief.parent) if brief.parent else None,
        "sub_issues": [_values(issue) for issue in brief.sub_issues],
        "blocked_by": [_values(issue) for issue in brief.blocked_by],
        "blocking": [_values(issue) for issue in brief.blocking],
    }


def _values(issue: RelatedIssue) -> dict[str, object]:
    return asdict(issue) | {"name": one_line(issue.name, limit=80), "title": one_line(issue.title)}
