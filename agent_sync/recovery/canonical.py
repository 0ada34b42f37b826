"""Canonical JSON: one byte sequence for one value, so that hashes and signatures mean what was said."""

import json
from typing import Any


def canonical_json(value: Any) -> bytes:
    """Return `value` as canonical JSON; it holds text, whole numbers, truth values, lists and objects only."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
