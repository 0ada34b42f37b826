"""What belongs into Claude Code's settings, and how our own entries are recognised there."""

from collections.abc import Mapping
from typing import Any

from agent_sync.lazy_patterns import pattern
from agent_sync.worktree import ATLAS_HOME

# Does nothing for a contributor who has not installed agent-sync, and leaves no shell behind for one who has.
GUARD = "command -v agent-sync >/dev/null 2>&1 || exit 0; exec "
HOOK_NAMES = ("on-stop", "on-idle", "session-start", "on-prompt", "on-tool", "on-end")
# Every form a command of ours ever had: with or without guard, by name or by path, with or without options.
_OURS = pattern(rf"(?:^|[\s;&|(/'\"])agent-sync['\"]?\s+({'|'.join(HOOK_NAMES)})(?=$|[\s;&|)'\"<>])")
_STATUS_LINE = pattern(r"(?:^|[\s;&|(/'\"])agent-sync['\"]?\s+statusline(?=$|[\s;&|)'\"<>])")
ALLOWED = (
    "Bash(agent-sync claim *)",
    "Bash(agent-sync handoff)",
    "Bash(agent-sync handoff *)",
    "Bash(agent-sync status*)",
    "Bash(agent-sync next*)",
    "Bash(agent-sync board*)",
    "Bash(agent-sync log*)",
    "Bash(agent-sync doctor*)",
    "Bash(agent-sync checkpoint *)",
    "Bash(agent-sync record status*)",
    "Bash(agent-sync hook status*)",
    # What HOOK.md, the start of a session and the messages tell an agent to run.
    "Bash(agent-sync push*)",
    "Bash(agent-sync resume)",
    "Bash(agent-sync step *)",
    "Bash(agent-sync record show*)",
    "Bash(agent-sync record checkpoints*)",
    "Bash(agent-sync record recover*)",
    "Bash(agent-sync record verify*)",
    "Bash(agent-sync record export*)",
    "Bash(agent-sync record regenerate*)",
    # Runs the recorded command or the gates; with a command of its own it could run anything, and is a question.
    "Bash(agent-sync validate)",
    "Bash(agent-sync gate run*)",
    "Bash(agent-sync gate status*)",
    "Bash(agent-sync review list*)",
    "Bash(agent-sync review reply *)",
    "Bash(agent-sync review resolve *)",
    "Bash(agent-sync explain*)",
    "Bash(agent-sync reconcile --dry-run*)",
    "Bash(agent-sync worker take*)",
    "Bash(agent-sync worker result*)",
    "Bash(agent-sync worker pause*)",
    "Read(~/.atlas/workspaces/**)",
)
# Who can read the key can sign receipts: the agent has no business with it.
DENIED = ("Read(~/.atlas/keys/**)",)
REFRESH_S = 30


def rules(atlas_home: str = "") -> tuple[tuple[tuple[str, str], tuple[str, ...]], ...]:
    """Return where our permission rules stand and which they are; records that are kept elsewhere get their own."""
    elsewhere = atlas_home.rstrip("/")
    # Two slashes begin an absolute path; one would begin at the settings file.
    allowed = (f"Read(/{elsewhere}/workspaces/**)",) if elsewhere else ()
    denied = (f"Read(/{elsewhere}/keys/**)",) if elsewhere else ()
    return (("permissions", "allow"), ALLOWED + allowed), (("permissions", "deny"), DENIED + denied)


def home_elsewhere(environment: Mapping[str, str]) -> str:
    """Return where keys and records are kept, if not in ~/.atlas."""
    given, usual = environment.get("ATLAS_HOME", "").rstrip("/"), f"{environment.get('HOME', '')}/{ATLAS_HOME}"
    return given if given.startswith("/") and given != usual else ""


def command(arguments: str) -> str:
    """Return the shell line for one of our commands."""
    return f"{GUARD}agent-sync {arguments}"


def _handler(arguments: str, timeout: int, **more: Any) -> dict[str, Any]:
    # The client reads timeouts as seconds.
    return {"type": "command", "command": command(arguments), **more, "timeout": timeout}


HOOKS: dict[str, dict[str, Any]] = {
    "SessionStart": {"hooks": [_handler("session-start", 30)]},
    "UserPromptSubmit": {"hooks": [_handler("on-prompt", 20)]},
    "PostToolUse": {"matcher": "Bash", "hooks": [_handler("on-tool", 20)]},
    "Stop": {"hooks": [_handler("on-stop", 600)]},
    # The client gives it 1.5 s unless an entry asks for more; a note takes a fraction of that.
    "SessionEnd": {"hooks": [_handler("on-end", 5)]},
    # Runs in the background while the session is idle, and wakes it when something happened.
    "Notification": {"matcher": "idle_prompt", "hooks": [_handler("on-idle --rewake", 28_800, asyncRewake=True)]},
}
STATUS_LINE = {"type": "command", "command": command("statusline"), "refreshInterval": REFRESH_S}


def hook_of(handler: Any) -> str | None:
    """Return which of our hooks a handler runs; None for anybody else's."""
    found = _OURS.search(shell_line(handler))
    return found[1] if found else None


def is_our_status_line(value: Any) -> bool:
    """Tell whether the status line is ours."""
    return bool(_STATUS_LINE.search(shell_line(value)))


def shell_line(handler: Any) -> str:
    """Return what a handler runs, as one line; "" for handlers that run nothing."""
    if not isinstance(handler, dict) or not isinstance(handler.get("command"), str):
        return ""
    arguments = handler.get("args")
    words = [word for word in arguments if isinstance(word, str)] if isinstance(arguments, list) else []
    return " ".join([handler["command"], *words])
