"""Writes the title and body of the pull request, every box unchecked."""

from agent_sync.settings.tables import Pull as PullSettings
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.outside_text import one_line

TITLE_LIMIT = 240


def marker(claim: Claim) -> str:
    """Return the comment, unseen on the page, by which we know what this very claim has written."""
    agent = "".join(char if char.isalnum() or char in "._-" else "_" for char in claim.agent_id)
    epoch = f" epoch={claim.lease.epoch}" if claim.lease else ""
    return f"<!-- agent-sync claim={agent} issue={claim.issue_number}{epoch} -->"


def title(claim: Claim) -> str:
    """Return the summary's first line."""
    first = next((line for line in claim.summary.splitlines() if line.strip()), "")
    return one_line(first, limit=TITLE_LIMIT)


def body(claim: Claim, settings: PullSettings, *, gate: str = "", receipts: tuple[str, ...] = ()) -> str:
    """Return the body: summary, the issue, what the gate says and what is proven, the boxes, the test plan."""
    keyword = "Closes" if settings.closes_issue else "Refs"
    sections = [
        f"## Summary\n\n{claim.summary.strip()}",
        f"{keyword} #{claim.issue_number}",
        f"## Gates\n\n{gate}" if gate else "",
        "## Receipts\n\n" + "\n".join(f"- {line}" for line in receipts) if receipts else "",
        _boxes("Mission integrity", settings.checklist),
        _boxes("Test plan", settings.test_plan),
        marker(claim),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def closing_comment(claim: Claim, pull: int | None) -> str:
    """Return the comment that goes with the close."""
    done = f"Completed in #{pull}" if pull else "Completed"
    return f"{done}\n\n{marker(claim)}"


def _boxes(heading: str, texts: tuple[str, ...]) -> str:
    return f"## {heading}\n\n" + "\n".join(f"- [ ] {text}" for text in texts) if texts else ""
