"""Prints the status line: how the claim stands in a few words, from two small files, whatever is wrong with them."""

import json
import os
from typing import Any

from agent_sync.quiet import answer as quiet
from agent_sync.worktree import CLAIM_NAME, Place, other_places, place_of, record_pointer

SEPARATOR = " · "
# Between the claims that one session has in several worktrees.
BETWEEN = " | "
LARGEST = 1 << 20
# The client waits for the line: a session that does not say where it is has its line from the process's directory.
PATIENCE = 1.0
# GitHub's numbers are 32-bit integers.
LARGEST_NUMBER = (1 << 31) - 1
UNUSABLE = f"agent-sync: {CLAIM_NAME} cannot be used, see agent-sync doctor"
# The few words for each situation that a claim can be in. What git and GitHub would have to be asked is not looked at.
WORDS = {
    "Coding": "coding",
    "Opening": "ready for PR",
    "Withheld": "PR withheld by the gates",
    "NotOpened": "PR not opened",
    "Watching": "",
    "CIFailed": "failed",
    "CIStuck": "keeps failing, needs you",
    "ApprovalNeeded": "workflow waits for approval",
    "ThreadsOpen": "review threads open",
    "Ejected": "out of the merge queue",
    "InMergeQueue": "in the merge queue",
    "BehindBase": "behind its base",
    "MergeBlocked": "merge blocked",
    "ChangesRequested": "changes requested",
    "Conflicting": "conflicts",
    "AwaitingMerge": "",
    "ClosedUnmerged": "closed, not merged",
    "AwaitingConsent": "merged, close?",
    "Closing": "closing",
    "NotClosed": "not closed: not merged",
    "OnHook": "left on a hook",
    "Lost": "LOST",
    "Paused": "paused",
    "Crashed": "crashed, resume?",
    "WaitingForHuman": "waiting for a human",
    "IssueClosed": "issue closed",
    "IssueReopened": "issue open again",
    "IssueGone": "issue gone",
    "Reassigned": "assigned to others",
    "ForeignHead": "pushed by others",
    "BranchDeleted": "closed, branch deleted",
    "Reopened": "PR open again",
    "Retargeted": "base changed",
    "MovedOnBoard": "card moved",
    "Reverted": "merge taken back?",
}
_OPEN = ("pr_created", "checks_running")
# What stands against a merge beside failing checks, in the order in which it counts.
_FEEDBACK = {
    "changes_requested_by": "ChangesRequested",
    "threads": "ThreadsOpen",
    "ejected": "Ejected",
    "is_behind": "BehindBase",
    "queue_position": "InMergeQueue",
}
# What others did that is worth a word while nothing else is, in the order in which it counts.
_MOVED = {"reopened_sha": "Reopened", "issue": "IssueReopened", "base": "Retargeted", "card_status": "MovedOnBoard"}
_ISSUE = {"gone": "IssueGone", "closed": "IssueClosed"}
_NOTHING: tuple[object, ...] = (None, False, 0, "", [])
# As in `task/claim/model.py`, which is too much to load for one line.
MOST_ROUNDS = 3


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
    places = [place, *other_places(place, quiet.session_in(raw) or "")]
    return BETWEEN.join(filter(None, map(_line_at, places)))


def _line_at(place: Place) -> str:
    content = _content(place.claim_file)
    return "" if content is None else line_of(content, _content(record_pointer(place)) or b"")


def line_of(content: bytes, pointer: bytes = b"") -> str:
    """Return the line for a claim file's bytes; the pointer to the record says whether that is interrupted."""
    try:
        claim = json.loads(content)
        issue, name = _number(claim["issue_number"]), _situation(claim, pointer)
        failed = name == "CIFailed"
        parts = [f"#{issue}", *_pull(claim), *_checks(claim, failed=failed), "" if failed else WORDS[name]]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return UNUSABLE
    return SEPARATOR.join(part for part in parts if part)


def _situation(claim: dict[str, Any], pointer: bytes) -> str:
    """Return the name of the situation, in the order that `task/decision/situation.py` states."""
    lease, phase = _part(claim, "lease"), claim["phase"]
    if lease.get("lost_to") or lease.get("left_on"):
        return "Lost" if lease.get("lost_to") else "OnHook"
    withheld = _part(claim, "withheld").get("by")
    if phase == "done":
        return "NotClosed" if withheld == "unmerged" else "Closing"
    drift = _part(claim, "drift")
    if phase == "merged_detected":
        return "Reverted" if drift.get("revert") else "AwaitingConsent"
    if phase in _OPEN and (drift.get("issue") in _ISSUE or drift.get("is_reassigned")):
        return _ISSUE.get(str(drift.get("issue")), "Reassigned")
    interrupted = pointer.decode(errors="replace").split("\n")[1:2]
    if interrupted and interrupted[0] in WORDS:
        return interrupted[0]
    if _is_paused(claim.get("not_before")):
        return "Paused"
    if phase == "ready_for_pr":
        return {"gate": "Withheld", "unmerged": "Opening", None: "Opening"}.get(withheld, "NotOpened")
    return _open(claim) if phase in _OPEN else {"coding": "Coding"}[phase]


def _open(claim: dict[str, Any]) -> str:
    feedback, state = _part(claim, "feedback"), _part(claim, "checks").get("state")
    drift = _part(claim, "drift")
    if claim.get("closed_unmerged"):
        return "BranchDeleted" if drift.get("is_branch_deleted") else "ClosedUnmerged"
    if not claim.get("pr_number") and not state:
        return "NotOpened"
    if drift.get("foreign_head"):
        return "ForeignHead"
    if feedback.get("is_conflicting"):
        return "Conflicting"
    if state == "failed":
        return "CIStuck" if _is_stuck(claim) else "CIFailed"
    for key, name in _FEEDBACK.items():
        if feedback.get(key) not in _NOTHING:
            return name
    if state == "waiting for approval":
        return "ApprovalNeeded"
    if state not in {"green", "no CI configured"}:
        return next((name for key, name in _MOVED.items() if drift.get(key)), "Watching")
    return "MergeBlocked" if feedback.get("missing") else "AwaitingMerge"


def _is_stuck(claim: dict[str, Any]) -> bool:
    note = _part(claim, "failures")
    return _number(note.get("rounds", 0)) >= MOST_ROUNDS and note.get("sha") == _part(claim, "checks").get("sha")


def _part(claim: dict[str, Any], key: str) -> dict[str, Any]:
    found = claim.get(key)
    return found if isinstance(found, dict) else {}


def _is_paused(until: object) -> bool:
    if not isinstance(until, str):
        return False
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(until)
    except ValueError:
        return False
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) > datetime.now(UTC)


def _pull(claim: dict[str, Any]) -> list[str]:
    number = claim.get("pr_number")
    return [f"PR #{_number(number)}"] if number and claim["phase"] not in {"merged_detected", "done"} else []


def _checks(claim: dict[str, Any], *, failed: bool) -> list[str]:
    """Return how far the checks are, as the last look found them."""
    seen = _part(claim, "checks")
    if claim["phase"] not in _OPEN or claim.get("closed_unmerged") or not _number(seen.get("total", 0)):
        return []
    return [f"checks {_number(seen['passed'])}/{_number(seen['total'])}{' ' + WORDS['CIFailed'] if failed else ''}"]


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
