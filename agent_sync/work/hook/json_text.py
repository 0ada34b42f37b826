"""The one text of a JSON value: sorted keys, no spaces, UTF-8; numbers of any kind, since the values are the user's."""

import json
from typing import Any


def json_text(value: Any) -> bytes:
    """Return a value's JSON, the same bytes for the same value; ValueError for what JSON cannot carry."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode()
