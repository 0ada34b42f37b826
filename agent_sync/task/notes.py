"""What this clone remembers between commands: the claims it made, and when it last looked at a branch."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from agent_sync.plain.json_reading import read_json
from agent_sync.system import files
from agent_sync.system.disk import AfterPowerCut
from agent_sync.worktree import Place

KEPT = 200
LOCK_WAIT = 5.0


class Memory:
    """Small notes in the git directory; losing them costs a request or a question, never work."""

    def __init__(self, place: Place) -> None:
        self._claims = Path(place.shared_dir) / "claims.json"
        # In the main checkout `looks.json` is what all worktrees share.
        self._looks = Path(place.state_dir) / "branch-looks.json"

    def own_ids(self) -> frozenset[str]:
        """Return the agent ids of the claims this clone has made."""
        return frozenset(str(identity) for identity in _read(self._claims).values())

    def remember_claim(self, issue: int, agent_id: str) -> None:
        """Remember a claim as ours."""
        _remember(self._claims, str(issue), agent_id, doing="remembering a claim")

    def agent_of(self, issue: int) -> str | None:
        """Return under which name this clone claimed an issue."""
        found = _read(self._claims).get(str(issue))
        return found if isinstance(found, str) else None

    def last_look(self, branch: str) -> datetime | None:
        """Return when the pull request of a branch was last asked for."""
        try:
            found = datetime.fromisoformat(_read(self._looks)[branch])
        except (KeyError, TypeError, ValueError):
            return None
        return found if found.tzinfo else None

    def remember_look(self, branch: str, at: datetime) -> None:
        """Remember that the pull request of a branch was asked for."""
        _remember(self._looks, branch, at.isoformat(), doing="remembering a look at a branch")


def _read(path: Path) -> dict[str, Any]:
    try:
        values = read_json(files.read_own(path) or b"{}")
    except (files.NotPlain, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def _remember(path: Path, key: str, value: str, *, doing: str) -> None:
    with files.locked(path.with_suffix(".lock"), wait=LOCK_WAIT, doing=doing):
        newest = dict(list((_read(path) | {key: value}).items())[-KEPT:])
        files.write_atomic(path, json.dumps(newest).encode(), after_cut=AfterPowerCut.EITHER)
