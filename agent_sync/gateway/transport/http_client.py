"""The HTTP client: httpx without the command line that it offers wherever click and rich are installed."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx
else:
    # What is None here counts as not installed.
    sys.modules.setdefault("httpx._main", None)
    import httpx

    if sys.modules["httpx._main"] is None:
        del sys.modules["httpx._main"]

__all__ = ["httpx"]
