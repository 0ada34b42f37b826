"""Tells how the settings about gates in `.agent-sync.toml` differ from those of the base."""

import tomllib
from collections.abc import Callable
from typing import Any

LARGEST = 64 << 10
# A key of ever more parts costs the parser the square of them.
MOST_DOTS = 200
_PULL_KEYS = ("require_gate",)
_UNSET = "not set"
# What counts where nothing is set, and in which direction a change makes the gates weaker.
_LOOSER: dict[str, Callable[[Any, Any], bool]] = {
    "pr.require_gate": lambda old, new: old is not False and new is False,
    "gate.verify_active": lambda old, new: old is True and new is not True,
    "gate.deadline_s": lambda old, new: _number(new, 510) < _number(old, 510),
}


def settings_changes(before: bytes, now: bytes) -> tuple[str, ...]:
    """Return one line per setting about gates that the work changed."""
    if before == now:
        return ()
    old, new = _about_gates(before), _about_gates(now)
    if new is None:
        return (".agent-sync.toml cannot be read",)
    keys = sorted({*(old or {}), *new})
    return tuple(_line(key, (old or {}).get(key), new.get(key)) for key in keys if (old or {}).get(key) != new.get(key))


def _line(key: str, old: Any, new: Any) -> str:
    is_looser = key in _LOOSER and _LOOSER[key](old, new)
    before, after = (_UNSET if value is None else str(value).lower()[:40] for value in (old, new))
    return f"{'loosened' if is_looser else 'changed'}: {key} in .agent-sync.toml, from {before} to {after}"


def _number(value: Any, default: float) -> float:
    return value if isinstance(value, int | float) else default


def _about_gates(content: bytes) -> dict[str, Any] | None:
    """Return the settings about gates by their full names; None for a file that cannot be used."""
    if len(content) > LARGEST or any(line.count(b".") > MOST_DOTS for line in content.splitlines()):
        return None
    try:
        tables = tomllib.loads(content.decode())
    except (ValueError, RecursionError):
        return None
    pull, gate = tables.get("pr"), tables.get("gate")
    found = {f"gate.{key}": value for key, value in gate.items()} if isinstance(gate, dict) else {}
    if isinstance(pull, dict):
        found |= {f"pr.{key}": pull[key] for key in _PULL_KEYS if key in pull}
    return found
