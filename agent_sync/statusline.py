"""Prints the status line: the claim in a few words, from the claim file alone, whatever is wrong with it."""

import json
import os
from typing import Any

from agent_sync import quiet
from agent_sync.place import CLAIM_NAME, place_of

SEPARATOR = " · "
LARGEST = 1 << 20
# The client waits for the line: a session that does not say where it is has its line from the process's directory.
PATIENCE = 1.0
# GitHub's numbers are 32-bit integers.
LARGEST_NUMBER = (1 << 31) - 1
UNUSABLE = f"agent-sync: {CLAIM_NAME} cannot be used, see agent-sync status"
WORDS = {
    "coding": "coding",
    "ready_for_pr": "ready for PR",
    "pr_created": "",
    "checks_running": "",
    "merged_detected": "merged, close?",
    "done": "closing",
}


def main() -> None:
    """Read what the client says of the session, print at most one line."""
    try:
        line = line_for(quiet.read_stdin(PATIENCE))
        # Straight to the descriptor: the locale's encoding may not know the dot, and the reader may be gone.
        os.write(1, f"{line}\n".encode() if line else b"")
    except Exception:  # noqa: BLE001, S110  # a status line that fails would be shown as such after every message
        pass


def line_for(raw: bytes) -> str:
    """Return the line for a session; "" where no claim is held."""
    cwd, project = _directories(raw)
    place = place_of([cwd, quiet.process_dir()], project)
    if place is None:
        return ""
    content = _content(place.claim_file)
    return "" if content is None else line_of(content)


def line_of(content: bytes) -> str:
    """Return the line for a claim file's bytes."""
    try:
        claim = json.loads(content)
        issue, phase = _number(claim["issue_number"]), WORDS[claim["phase"]]
        parts = [f"#{issue}", *_pull(claim), *_checks(claim), phase]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return UNUSABLE
    return SEPARATOR.join(part for part in parts if part)


def _pull(claim: dict[str, Any]) -> list[str]:
    number = claim.get("pr_number")
    if not number or claim["phase"] in {"merged_detected", "done"}:
        return []
    return [f"PR #{_number(number)}", "closed, not merged" if claim.get("closed_unmerged") else ""]


def _checks(claim: dict[str, Any]) -> list[str]:
    """Return how far the checks are, as the last look found them."""
    seen = claim.get("checks")
    if not isinstance(seen, dict) or claim["phase"] not in {"pr_created", "checks_running"}:
        return []
    if claim.get("closed_unmerged") or not _number(seen["total"]):
        return []
    failed = " failed" if seen.get("state") == "failed" else ""
    return [f"checks {_number(seen['passed'])}/{_number(seen['total'])}{failed}"]


def _number(value: Any) -> int:
    """Return a number that fits into the line; ValueError for any other."""
    found = int(value)
    if not 0 <= found <= LARGEST_NUMBER:
        raise ValueError("no number of GitHub's")
    return found


def _directories(raw: bytes) -> tuple[str, str]:
    """Return where the session is and where its project is, as far as the input says."""
    try:
        given = json.loads(raw)
    except (ValueError, RecursionError):
        given = {}
    event = given if isinstance(given, dict) else {}
    workspace = event.get("workspace")
    named = workspace if isinstance(workspace, dict) else {}
    project = _path(named.get("project_dir")) or os.environ.get("CLAUDE_PROJECT_DIR", "")
    return _path(named.get("current_dir")) or _path(event.get("cwd")), project


def _path(value: object) -> str:
    return value if isinstance(value, str) and "\0" not in value else ""


def _content(path: str) -> bytes | None:
    """Return the claim's bytes, none where there is no file, and unusable ones where it is no plain file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError:
        return b""
    try:
        return os.read(descriptor, LARGEST)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
