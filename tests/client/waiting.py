"""Waits until something is so, and says what was there instead."""

import time
from collections.abc import Callable

import pytest

_PATIENCE_S = 90.0
_BETWEEN_S = 0.1


def until(is_so: Callable[[], object], what: str, instead: Callable[[], str] = str) -> None:
    """Return as soon as it is so; fail the test after a while."""
    if not soon(is_so, patience_s=_PATIENCE_S):
        pytest.fail(f"waited {_PATIENCE_S:.0f} s in vain for {what}; there was:\n{instead()}")


def soon(is_so: Callable[[], object], *, patience_s: float = 20.0) -> bool:
    """Tell whether it becomes so within `patience_s`."""
    end = time.monotonic() + patience_s
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(_BETWEEN_S)
    return True
