"""Answers as JSON, whatever happens: with a command's own values, or what it said and the claim held; or the error."""

import io
import json
import sys
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from typing import Any, Self

from agent_sync.errors import AgentSyncError


class JsonReply:
    """What one command says, held back until it is known how it ended.

    Standard output belongs to the one object of a success, standard error to the one of a failure.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._notes = _Buffer()
        self._said: _Buffer | None = None

    def __enter__(self) -> Self:
        self._stack.enter_context(redirect_stderr(self._notes))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def collect(self) -> None:
        """Hold standard output back, too: the command has no JSON of its own."""
        self._said = self._said or self._stack.enter_context(redirect_stdout(_Buffer()))

    def tell(self, status: int, error: AgentSyncError | None) -> None:
        """Print the object; of a command with JSON of its own that was printed already."""
        printed = {"said": self._said.lines if self._said else [], "notes": self._notes.lines}
        if error:
            sys.stderr.write(_line({**error_values(error), **printed}))
        elif self._said:
            sys.stdout.write(_line({"ok": not status, "exit_code": int(status), **printed, "claim": _claim()}))
        else:
            sys.stderr.write(self._notes.text)


def error_values(error: AgentSyncError) -> dict[str, Any]:
    """Return an error for programs."""
    return {
        "ok": False,
        "code": error.code,
        "message": error.happened,
        "attempted": error.attempted,
        "try": error.helps,
        "exit_code": int(error.exit_status),
    }


class _Buffer(io.TextIOWrapper):
    """A stream to memory that also takes bytes, as a terminal's does."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="replace", newline="\n", write_through=True)

    @property
    def text(self) -> str:
        """Everything that was written."""
        self.flush()
        content = self.buffer.getvalue()  # type: ignore[attr-defined]  # it is the one made above
        return str(content, "utf-8", "replace")

    @property
    def lines(self) -> list[str]:
        """Everything that was written, by line."""
        return self.text.splitlines()


def _claim() -> dict[str, Any] | None:
    """Return the claim that this worktree holds now."""
    from agent_sync.cli.here import place_here
    from agent_sync.task.claim.store import ClaimStore

    try:
        # Whether git tracks the file has been asked by whoever acted on it.
        claim = ClaimStore(place_here(), lambda: False).read()
    except (AgentSyncError, OSError):
        return None
    return json.loads(claim.to_json()) if claim else None


def _line(values: dict[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False) + "\n"
