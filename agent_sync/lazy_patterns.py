"""Patterns that are compiled when they are first used: a short command loads fifty and uses three.

Compiling them all at import took a fifth of its time.
"""

from typing import TYPE_CHECKING

__all__ = ["pattern"]

if TYPE_CHECKING:
    from re import compile as pattern
else:
    import re

    class pattern:  # noqa: N801  # stands for a function, re.compile
        """A pattern as `re.compile` would return it, whose methods appear when one is asked for."""

        def __init__(self, text, flags=0):
            self._given = (text, flags)

        def __getattr__(self, name):
            if name.startswith("_"):
                # Asked by what looks at objects of any kind, such as an enum at its values.
                raise AttributeError(name)
            method = getattr(re.compile(*self._given), name)
            # Found here the next time; `re` remembers what it has compiled.
            self.__dict__[name] = method
            return method
