"""`orderBy` of every connection that has one."""

from collections.abc import Sequence
from typing import Any

ATTRIBUTES = {
    "CREATED_AT": "created_at",
    "UPDATED_AT": "updated_at",
    "NAME": "name",
    "TITLE": "title",
    "NUMBER": "number",
    "ALPHABETICAL": "name",
}


def ordered(records: Sequence[Any], order: dict[str, str] | None) -> Sequence[Any]:
    """Sort by what GitHub can sort by; lists without that property stay in the order of their making."""
    if order is None or not records:
        return records
    downwards = order["direction"] == "DESC"
    if order["field"] == "COMMENTS":
        return sorted(records, key=lambda record: len(record.comments), reverse=downwards)
    attribute = ATTRIBUTES.get(order["field"])
    if attribute is None or not hasattr(records[0], attribute):
        return list(reversed(records)) if downwards else records
    return sorted(records, key=lambda record: _key(record, attribute), reverse=downwards)


def _key(record: Any, attribute: str) -> Any:
    value = getattr(record, attribute)
    # Equal moments are common in a fast world: the later made counts as the later one.
    return value.lower() if isinstance(value, str) else (value, record.identity.number)
