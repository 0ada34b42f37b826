"""Checks and statuses of a commit, each with a glyph, a word and its log."""

from agent_sync.emulator.operations.check_suites import PASSING
from agent_sync.emulator.operations.checks import latest_checks, latest_statuses
from agent_sync.emulator.pages.layout import badge, listed, section
from agent_sync.emulator.pages.markup import Html, joined, tag
from agent_sync.emulator.world.checks import CheckRun, CommitStatus
from agent_sync.emulator.world.repositories import Repository

_PASSED, _FAILED, _RUNNING = ("good", "✓", "passed"), ("bad", "✗", "failed"), ("waiting", "…", "running")
_WORDS = {"success": _PASSED, "failure": _FAILED, "error": _FAILED, "pending": _RUNNING}


def checks(repository: Repository, sha: str) -> Html:
    """Return the newest check of each name and status of each context on a commit."""
    runs = [_check(check) for check in latest_checks(repository, sha)]
    statuses = [_status(status) for status in latest_statuses(repository, sha)]
    return section("Checks", listed([*runs, *statuses], nothing="No check has reported yet."))


def verdict(repository: Repository, sha: str) -> Html | None:
    """Return the checks of one commit in a word, or None if there are none."""
    found = [_word(check) for check in latest_checks(repository, sha)]
    found += [_WORDS[status.state] for status in latest_statuses(repository, sha)]
    if not found:
        return None
    kinds = {kind for kind, _, _ in found}
    return badge(*(_FAILED if "bad" in kinds else _RUNNING if "waiting" in kinds else _PASSED))


def _check(check: CheckRun) -> Html:
    required = tag("span", "required", class_="pill") if check.required else ""
    head = tag("p", badge(*_word(check)), " ", tag("strong", check.name), " ", required)
    texts = [text for text in (check.title, check.summary) if text]
    more = [tag("p", text, class_="dim") for text in texts] + ([_log(check)] if check.log else [])
    return tag("div", head, *more, id=f"check-{check.identity.number}")


def _word(check: CheckRun) -> tuple[str, str, str]:
    if check.conclusion is None:
        return _RUNNING if check.status == "in_progress" else ("waiting", "…", check.status.replace("_", " "))
    said = check.conclusion.replace("_", " ")
    return _WORDS.get(check.conclusion) or (("dim", "-", said) if check.conclusion in PASSING else ("bad", "✗", said))


def _log(check: CheckRun) -> Html:
    text = tag("pre", check.log, tabindex="0", role="region", aria_label=f"Log of {check.name}")
    return tag("details", tag("summary", "Log"), text)


def _status(status: CommitStatus) -> Html:
    said = [tag("p", status.description, class_="dim")] if status.description else []
    return joined([tag("p", badge(*_WORDS[status.state]), " ", tag("strong", status.context)), *said])
