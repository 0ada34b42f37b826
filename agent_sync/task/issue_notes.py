"""Keeps what people wrote about the claimed issue, so that a new session can be told of it without asking GitHub."""

import json
from dataclasses import asdict, replace
from pathlib import Path

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.plain import ordinary
from agent_sync.system import files
from agent_sync.system.disk import AfterPowerCut
from agent_sync.system.masking import masked, secrets_of
from agent_sync.task.decision.feedback.reviews import Remark
from agent_sync.task.decision.issue_brief import IssueBrief, RelatedIssue
from agent_sync.worktree import ISSUE_NOTE, Place

# More than this of one text is nobody's to read at once.
_LONGEST = 20_000


def keep_brief(context: Context, brief: IssueBrief | None, place: Place | None = None) -> IssueBrief | None:
    """Write down what was read of an issue and return it without secrets; a disk that refuses costs only the copy."""
    if brief is None:
        return None
    safe = without_secrets(context, brief)
    content = json.dumps(asdict(safe), ensure_ascii=False).encode(errors="replace")
    directory = Path((place or context.place).state_dir)
    try:
        files.state_directory(directory)
        files.write_atomic(directory / ISSUE_NOTE, content, after_cut=AfterPowerCut.ANY)
    except (OSError, AgentSyncError):
        pass
    return safe


def kept_brief(place: Place, issue: int) -> IssueBrief | None:
    """Return what was last read of an issue in this worktree."""
    try:
        found = files.read_own(Path(place.state_dir) / ISSUE_NOTE)
        brief = _brief_in(found) if found else None
    except (OSError, files.NotPlain, ValueError):
        return None
    return brief if brief is not None and brief.number == issue else None


def _brief_in(content: bytes) -> IssueBrief:
    """Return what the file says; what is not as it was written is for pydantic to judge."""
    try:
        return ordinary.read_json(IssueBrief, content)
    except ordinary.NotOrdinary:
        from pydantic import TypeAdapter

        return TypeAdapter(IssueBrief).validate_json(content)


def without_secrets(context: Context, brief: IssueBrief) -> IssueBrief:
    """Return a brief whose texts have neither secrets nor more than anybody reads at once."""
    secrets = secrets_of(context.environment)

    def safe(remark: Remark) -> Remark:
        return replace(remark, body=masked(remark.body, secrets)[:_LONGEST])

    def titled(issues: tuple[RelatedIssue, ...]) -> tuple[RelatedIssue, ...]:
        return tuple(replace(issue, title=masked(issue.title, secrets)) for issue in issues)

    return replace(
        brief,
        title=masked(brief.title, secrets),
        description=safe(brief.description),
        comments=tuple(safe(comment) for comment in brief.comments),
        parent=next(iter(titled((brief.parent,))), None) if brief.parent else None,
        sub_issues=titled(brief.sub_issues),
        blocked_by=titled(brief.blocked_by),
        blocking=titled(brief.blocking),
    )
