"""Which coding agent runs the process, by the marks that clients leave in the environment of what they start."""

from collections.abc import Mapping

# Of each client, what it sets for its hooks and for the commands of its model.
_MARKS = {
    "Claude Code": ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID"),
    "Codex": ("CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_CI", "CODEX_SANDBOX"),
    "Copilot": ("COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"),
    "Qwen Code": ("QWEN_CODE", "QWEN_CODE_SESSION_ID"),
    "Gemini": ("GEMINI_CLI", "GEMINI_SESSION_ID"),
    "OpenCode": ("OPENCODE", "OPENCODE_PID"),
    "Cursor": ("CURSOR_AGENT",),
    # Set by several clients, and by people who wrap one that is not known here.
    "an agent": ("AI_AGENT", "AGENT"),
}
MARKS = frozenset(mark for marks in _MARKS.values() for mark in marks)


def agent_here(environment: Mapping[str, str]) -> str:
    """Return the name of the client whose agent runs this; "" for a human."""
    return next((name for name, marks in _MARKS.items() if any(is_set(environment, mark) for mark in marks)), "")


def is_claude_code(environment: Mapping[str, str]) -> bool:
    """Tell whether this runs in a session of Claude Code, whose Stop hook does what is left."""
    return is_set(environment, "CLAUDECODE")


def is_set(environment: Mapping[str, str], mark: str) -> bool:
    """Tell whether a mark is there; empty and 0 mean that it is not."""
    return environment.get(mark, "") not in {"", "0"}
