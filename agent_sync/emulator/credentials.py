"""Who signs in: tokens out of Authorization headers, for the interface and for git."""

import base64
import binascii
from collections.abc import Mapping


def token_of(headers: Mapping[str, str]) -> str | None:
    """Return the token a request carries, in any of the three forms clients use."""
    scheme, _, value = headers.get("authorization", "").strip().partition(" ")
    match scheme.lower():
        case "token" | "bearer":
            return value.strip() or None
        case "basic":
            return _password(value.strip())
        case _:
            return None


def _password(encoded: str) -> str | None:
    try:
        user, _, password = base64.b64decode(encoded).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    # A token may stand in either place: `x-access-token:TOKEN` and `TOKEN:x-oauth-basic` are both in use.
    return user if password in {"", "x-oauth-basic"} else password
