"""A lazy dataclass is a dataclass: the same classes made by both behave alike, and ours are made when first used."""

import dataclasses
import subprocess
import sys
import threading
from dataclasses import FrozenInstanceError, asdict, field, fields, is_dataclass, replace

import pytest

from agent_sync import lazy_dataclasses


def _classes(dataclass):
    @dataclass(frozen=True)
    class Point:
        x: int
        y: int = 2
        tags: list[str] = field(default_factory=list)
        note: str = field(default="", repr=False, compare=False)

    @dataclass(frozen=True)
    class Named(Point):
        name: str = "n"

    @dataclass
    class Counter:
        start: int
        count: int = field(default=0, init=False)
        seen: list[int] = field(default_factory=list, init=False)

        def __post_init__(self):
            self.seen.append(self.start)

    class Plain(Counter):
        pass

    return Point, Named, Counter, Plain


OURS = _classes(lazy_dataclasses.dataclass)
THEIRS = _classes(dataclasses.dataclass)


def _refusal(action):
    with pytest.raises((TypeError, FrozenInstanceError)) as caught:
        action()
    return caught.type


BEHAVIOURS = {
    "positions, names and defaults": lambda point, named, counter, plain: [
        repr(point(1)),
        repr(point(1, y=3, tags=["a"])),
        repr(named(1, name="z")),
        repr(counter(4)),
        repr(plain(4)),
    ],
    "a default list is one's own": lambda point, *_: point(1).tags is point(1).tags,
    "equality": lambda point, named, *_: [
        point(1) == point(1),
        point(1) == point(2),
        point(1, note="a") == point(1, note="b"),
        point(1) == named(1),
        point(1) == 1,
    ],
    "hashes": lambda point, named, counter, _: [
        hash(named(1, tags=())) == hash(named(1, tags=())),
        _refusal(lambda: hash(counter(1))),
        _refusal(lambda: hash(point(1))),
    ],
    "frozen": lambda point, named, counter, _: [
        _refusal(lambda: setattr(point(1), "x", 2)),
        _refusal(lambda: setattr(named(1), "other", 2)),
        _refusal(lambda: delattr(point(1), "x")),
        setattr(counter(1), "start", 2),
    ],
    "missing and unknown arguments": lambda point, _named, counter, _: [
        _refusal(point),
        _refusal(lambda: point(1, z=1)),
        _refusal(lambda: counter(1, count=2)),
    ],
    "fields": lambda *classes: [[one.name for one in fields(kind)] for kind in classes],
    "copies and dictionaries": lambda point, named, *_: [
        repr(replace(named(1), y=9, name="m")),
        asdict(point(1, tags=["a"])),
        is_dataclass(named),
    ],
}


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_it_behaves_as_a_dataclass(name):
    """What can be done with a dataclass gives the same with ours."""
    assert BEHAVIOURS[name](*OURS) == BEHAVIOURS[name](*THEIRS)


def test_positional_patterns_match():
    """A match takes the fields in their order."""
    point, named, *_ = OURS
    match named(1, 5):
        case point(x, y):
            assert (x, y) == (1, 5)
        case _:
            pytest.fail("no pattern matched")


def test_a_class_is_finished_by_its_first_use():
    """Loading a module compiles nothing; the first instance does, for this class and the one it inherits from."""
    point, named, counter, _ = _classes(lazy_dataclasses.dataclass)
    named(1)
    unfinished = [kind.__name__ for kind in (point, named, counter) if "__match_args__" not in kind.__dict__]
    assert unfinished == ["Counter"]


def test_threads_may_meet_at_an_unfinished_class():
    """Whoever comes while another thread finishes a class gets a whole instance all the same."""
    for _ in range(50):
        point = _classes(lazy_dataclasses.dataclass)[1]
        made = []
        start = threading.Barrier(4)

        def make(kind=point, made=made, start=start):
            start.wait()
            made.append(repr(kind(1, 2)))

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(made) == 4


WITHOUT_INSPECT = """
import sys
from agent_sync.lazy_dataclasses import dataclass
import dataclasses

@dataclass(frozen=True)
class Point:
    "A point."
    x: int

assert dataclasses.replace(Point(1), x=2) == Point(2)
assert "inspect" not in sys.modules, "it was loaded for nothing"
@dataclasses.dataclass
class Undocumented:
    x: int

import inspect
assert Undocumented.__doc__ == "Undocumented(x: int)", Undocumented.__doc__
assert inspect.isclass(Point) and inspect.__file__
"""


def test_inspect_is_loaded_for_whoever_needs_it_alone():
    """A class of ours does not load `inspect`; one that has to be described by its signature does, and it is whole."""
    done = subprocess.run([sys.executable, "-c", WITHOUT_INSPECT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
