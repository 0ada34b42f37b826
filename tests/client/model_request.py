"""One request to the model, read as what the model was told."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, repr=False)
class ModelRequest:
    """The body of a request, with readers for its texts."""

    body: dict[str, Any]

    @property
    def has_tools(self) -> bool:
        """Whether the model can act: a turn of a conversation and no title or summary."""
        return bool(self.body.get("tools"))

    @property
    def first_message(self) -> str:
        """All text of the first message, which names a conversation."""
        messages = self.body.get("messages", [])
        return "\n".join(_texts(messages[0]["content"])) if messages else ""

    @property
    def entries(self) -> list[tuple[str, str]]:
        """Every text of the conversation with its role, in order."""
        return [(one["role"], text) for one in self.body.get("messages", []) for text in _texts(one["content"])]

    @property
    def text(self) -> str:
        """Everything the conversation holds, tool results included."""
        return "\n".join(text for _, text in self.entries)

    @property
    def briefing(self) -> str:
        """What agent-sync said at the last start of a session, the board apart."""
        told = self.text.rpartition("SessionStart hook additional context: ")[2]
        return told.partition("\n\n")[0].partition("\nBoard ")[0]


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for block in content:
        match block.get("type"):
            case "text":
                yield block["text"]
            case "tool_result":
                yield from _texts(block.get("content") or "")
            case "tool_use":
                yield json.dumps(block["input"], ensure_ascii=False)
            case _:
                pass
