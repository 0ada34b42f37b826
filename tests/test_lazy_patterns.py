"""A lazy pattern is a pattern that is compiled when it is first used."""

import enum
import gc
import importlib
import pkgutil
import re

import pytest

import agent_sync
from agent_sync.lazy_patterns import pattern


def test_pattern_does_what_a_compiled_one_does():
    """Methods and attributes are those of the compiled pattern, every time they are asked for."""
    lazy, compiled = pattern(r"(?P<word>[a-z]+)", re.IGNORECASE), re.compile(r"(?P<word>[a-z]+)", re.IGNORECASE)
    for _ in range(2):
        assert lazy.sub("x", "Ab 1 cd") == compiled.sub("x", "Ab 1 cd") == "x 1 x"
        assert lazy.fullmatch("Ab")["word"] == "Ab"
        assert (lazy.pattern, lazy.flags, lazy.groups) == (compiled.pattern, compiled.flags, compiled.groups)
    with pytest.raises(AttributeError):
        lazy.no_such_method  # noqa: B018


def test_pattern_is_compiled_when_used():
    """A mistake in a pattern shows at its first use, not before: enums and the like look at it and compile nothing."""

    class Kind(enum.Enum):
        WRONG = pattern("(")

    with pytest.raises(re.error):
        Kind.WRONG.value.search("x")


def test_every_pattern_of_ours_is_right():
    """No pattern waits with a mistake for its first use."""
    for module in pkgutil.walk_packages(agent_sync.__path__, "agent_sync."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    gc.collect()
    compiled = [re.compile(one.pattern, one.flags) for one in gc.get_objects() if type(one) is pattern]
    assert len(compiled) > 100
