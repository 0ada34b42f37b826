"""Reads what the runner and the workflow say, all of it from the environment."""

import re
from collections.abc import Mapping

from agent_sync.errors import BadInput
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern

DRY_RUN, PINNED_ISSUE, SUMMARY = "ACTION_DRY_RUN", "ACTION_PINNED_ISSUE", "ACTION_SUMMARY"
_REPOSITORY = pattern(r"[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9._-]+")
_SERVER = pattern(r"https?://[A-Za-z0-9.\[\]:-]+")
_NUMBER = pattern(r"#?([1-9][0-9]{0,8})")


@dataclass(frozen=True)
class Inputs:
    """Which repository on which server, and what is wished for."""

    server: str
    repository: str
    is_dry_run: bool = False
    pinned_issue: int | None = None
    # Where the job's summary is written; "" where none is wished for.
    summary_file: str = ""

    @property
    def address(self) -> str:
        """The repository's page."""
        return f"{self.server}/{self.repository}"


def inputs_of(environment: Mapping[str, str]) -> Inputs:
    """Return the inputs; whatever is none of ours is an error that names the input."""
    wants_summary = _is_true(environment, SUMMARY, "summary", default=True)
    return Inputs(
        _matching(_SERVER, environment.get("GITHUB_SERVER_URL", ""), "GITHUB_SERVER_URL"),
        _matching(_REPOSITORY, environment.get("GITHUB_REPOSITORY", ""), "GITHUB_REPOSITORY"),
        _is_true(environment, DRY_RUN, "dry-run", default=False),
        _issue(environment.get(PINNED_ISSUE, "").strip()),
        environment.get("GITHUB_STEP_SUMMARY", "") if wants_summary else "",
    )


def _matching(pattern: re.Pattern[str], text: str, name: str) -> str:
    if not pattern.fullmatch(text):
        raise BadInput(f"{name} ({text[:100]!r}) is not what a runner of GitHub Actions sets.")
    return text


def _is_true(environment: Mapping[str, str], variable: str, name: str, *, default: bool) -> bool:
    text = environment.get(variable, "").strip().lower()
    if text not in {"", "true", "false"}:
        raise BadInput(f"The input {name} is {text[:100]!r}.", helps=f"{name}: true, or {name}: false")
    return text == "true" if text else default


def _issue(text: str) -> int | None:
    found = _NUMBER.fullmatch(text)
    if text and not found:
        raise BadInput(f"The input pinned-issue is {text[:100]!r}.", helps="pinned-issue: 42, the number of an issue")
    return int(found[1]) if found else None
