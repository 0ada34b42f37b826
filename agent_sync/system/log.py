"""What was done, as one JSON line per action in the repository's git directory, secrets masked."""

import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from agent_sync.system import files
from agent_sync.system.json_reading import read_json
from agent_sync.system.masking import masked_values
from agent_sync.worktree import Place

LARGEST = 1 << 20
KEPT = 3


class Log:
    """The log of one repository, shared by its worktrees."""

    def __init__(self, place: Place, *, secrets: tuple[str, ...] = ()) -> None:
        self.file = Path(place.shared_dir) / "log.jsonl"
        self._secrets = secrets

    def write(self, at: datetime, what: str, **fields: Any) -> None:
        """Append one record; a log that cannot be written never stops the work."""
        record = {"at": at.isoformat(), "what": what} | {
            key: value for key, value in fields.items() if value is not None
        }
        # Masked before it is JSON: a mask over half an escape would spoil the line.
        values = masked_values(json.loads(json.dumps(record, default=str)), self._secrets)
        line = json.dumps(values) + "\n"
        try:
            files.state_directory(self.file.parent)
            self._rotate()
            descriptor = os.open(
                self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
            )
            with os.fdopen(descriptor, "wb") as file:
                file.write(line.encode())
        except OSError:
            return

    def records(self) -> Iterator[dict[str, Any]]:
        """Return every record kept, oldest first; a line that was cut off is passed over."""
        for number in range(KEPT, -1, -1):
            path = self.file if number == 0 else self.file.with_name(f"{self.file.name}.{number}")
            if not path.is_file():
                continue
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                try:
                    values = read_json(line)
                except ValueError:
                    continue
                if isinstance(values, dict):
                    yield values

    def _rotate(self) -> None:
        if not self.file.exists() or self.file.stat().st_size < LARGEST:
            return
        for number in range(KEPT, 0, -1):
            older = self.file.with_name(f"{self.file.name}.{number}")
            newer = self.file if number == 1 else self.file.with_name(f"{self.file.name}.{number - 1}")
            if newer.exists():
                newer.replace(older)
