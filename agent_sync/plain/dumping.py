"""Turns a value back into dictionaries, lists and words, as pydantic does."""

import math
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_sync.plain.model import Model

# As long as an offset is that has no seconds.
_MINUTES = len("+00:00")


def dumped(
    model: "Model", *, is_json: bool, include: Mapping[str, Any] | None, exclude_defaults: bool
) -> dict[str, Any]:
    """Return the fields of a value, its unknown ones last."""
    found = {}
    for name, value in {**model.__dict__, **model.model_extra}.items():
        field = model.model_fields.get(name)
        is_default = exclude_defaults and field is not None and value == field.default
        if is_default or (include is not None and name not in include):
            continue
        below = include.get(name) if include is not None else None
        if hasattr(value, "model_extra"):
            wanted = below if isinstance(below, Mapping) else None
            found[name] = dumped(value, is_json=is_json, include=wanted, exclude_defaults=exclude_defaults)
        else:
            found[name] = _plain(value, is_json=is_json, exclude_defaults=exclude_defaults)
    return found


def _plain(value: Any, *, is_json: bool, exclude_defaults: bool) -> Any:
    if hasattr(value, "model_extra"):
        return dumped(value, is_json=is_json, include=None, exclude_defaults=exclude_defaults)
    if isinstance(value, dict):
        return {key: _plain(one, is_json=is_json, exclude_defaults=exclude_defaults) for key, one in value.items()}
    if isinstance(value, list | tuple):
        items = [_plain(one, is_json=is_json, exclude_defaults=exclude_defaults) for one in value]
        return items if is_json or isinstance(value, list) else tuple(items)
    if not is_json:
        return value
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, float) and not math.isfinite(value):
        # JSON has no such number.
        return None
    return value.value if isinstance(value, Enum) else value


def _moment(value: datetime) -> str:
    """Return a moment as JSON has it: how far it is from UTC in whole minutes, and a Z where that is nothing."""
    text = value.isoformat()
    local = value.replace(tzinfo=None).isoformat()
    offset = text[len(local) :]
    return local + ("Z" if offset == "+00:00" else offset[:_MINUTES])
