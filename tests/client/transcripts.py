"""Counts what hooks have put into the model's context, in the transcripts that the client keeps."""

import json
import re
from pathlib import Path
from typing import Any

# A hook that ran in the background of an idle session wakes the model with a message of this form.
_WAKE = re.compile(r'"Notification:idle_prompt": (.*?)\s*</system-reminder>', re.DOTALL)


def injected_characters(folder: Path) -> int:
    """Return how many characters of hooks the transcripts below a folder hold."""
    lines = [line for file in folder.rglob("*.jsonl") for line in file.read_text(encoding="utf-8").splitlines()]
    return sum(_characters(json.loads(line)) for line in lines)


def _characters(entry: dict[str, Any]) -> int:
    if entry.get("type") == "user" and isinstance(entry["message"]["content"], str):
        return sum(map(len, _WAKE.findall(entry["message"]["content"])))
    attachment = entry.get("attachment") or {}
    match attachment.get("type"):
        case "hook_additional_context":
            return sum(map(len, attachment["content"]))
        case "hook_blocking_error":
            return len(attachment["blockingError"]["blockingError"])
        case _:
            return 0
