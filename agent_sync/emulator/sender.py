"""Tells requests of programs on this machine from those that a web page has a browser send."""

import re
from collections.abc import Mapping

# A name that resolves here by somebody else's name server still stands in the header as what it is.
_LOOPBACK = re.compile(r"(?:127(?:\.\d{1,3}){3}|\[::1\]|(?:[a-z0-9-]+\.)*localhost)(?::\d{1,5})?", re.IGNORECASE)
# What browsers call requests of the page itself, or of a person who typed the address.
_OWN = frozenset({"", "none", "same-origin"})
# A page sends these to another site without asking it first, and no client of the interface uses them.
_PAGE_FORMS = frozenset({"text/plain", "multipart/form-data"})


def is_loopback(host: str) -> bool:
    """Tell whether a Host header names this machine."""
    return _LOOPBACK.fullmatch(host) is not None


def is_cross_site(headers: Mapping[str, str]) -> bool:
    """Tell whether a page of another site or port has made a browser send this; programs send neither header."""
    origin = headers.get("origin", "")
    is_own_origin = not origin or origin == f"http://{headers.get('host', '')}"
    return not is_own_origin or headers.get("sec-fetch-site", "").lower() not in _OWN


def is_page_form(headers: Mapping[str, str]) -> bool:
    """Tell whether the body has a type that only a form or script of a page gives it; `curl -d` has another."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() in _PAGE_FORMS
