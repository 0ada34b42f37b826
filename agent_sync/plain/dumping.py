"""Turns a value back into dictionaries, lists and words, as pydantic does."""

import math
from collections.abc import Collection, Mapping
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from agent_sync.plain.model import Model

# Names of fields; where it says more of one, that is a selection of its own.
Selection = Mapping[str, Any] | Collection[str]
# As long as an offset is that has no seconds.
_MINUTES = len("+00:00")


class Dump(NamedTuple):
    """How values are turned back: into what JSON has or what Python has, and whether with fields that say nothing."""

    is_json: bool
    exclude_defaults: bool


def dumped(model: "Model", how: Dump, include: Selection | None, exclude: Selection) -> dict[str, Any]:
    """Return the fields of a value, its unknown ones last."""
    found = {}
    for name, value in {**model.__dict__, **model.model_extra}.items():
        field = model.model_fields.get(name)
        is_default = how.exclude_defaults and field is not None and value == field.default
        left_out = _below(exclude, name)
        if is_default or left_out is True or (include is not None and name not in include):
            continue
        wanted = None if include is None else _below(include, name)
        if hasattr(value, "model_extra"):
            found[name] = dumped(value, how, None if wanted is True else wanted, left_out or ())
        else:
            found[name] = _plain(value, how)
    return found


def _below(selection: Selection, name: str) -> Any:
    """Return what a selection says of the fields of one field: all of it, some, or nothing."""
    if isinstance(selection, Mapping):
        return selection.get(name)
    return True if name in selection else None


def _plain(value: Any, how: Dump) -> Any:
    if hasattr(value, "model_extra"):
        return dumped(value, how, None, ())
    if isinstance(value, dict):
        return {key: _plain(one, how) for key, one in value.items()}
    if isinstance(value, list | tuple):
        items = [_plain(one, how) for one in value]
        return items if how.is_json or isinstance(value, list) else tuple(items)
    return _json_value(value) if how.is_json else value


def _json_value(value: Any) -> Any:
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
