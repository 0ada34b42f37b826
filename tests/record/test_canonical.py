import json

import pytest
import rfc8785
from hypothesis import given, strategies as st

from agent_sync.plain.json_reading import NotCanonical, canonical
from agent_sync.record.receipts.signing import pae

LARGEST = (1 << 53) - 1
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
KEYS = st.text(st.characters(max_codepoint=127))
SCALARS = st.none() | st.booleans() | st.integers(-LARGEST, LARGEST) | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=20)


@given(VALUES)
def test_canonical_form_is_the_standard_one(value):
    """For every value we accept the bytes are those of RFC 8785, and they are read back as the same value."""
    assert canonical(value) == rfc8785.dumps(value)
    assert json.loads(canonical(value)) == value


FORMS = {
    "keys are sorted": ({"b": 1, "a": 2, "B": 3}, b'{"B":3,"a":2,"b":1}'),
    "no spaces": ({"a": [1, 2]}, b'{"a":[1,2]}'),
    "constants": ([None, True, False], b"[null,true,false]"),
    "characters stay": ("é✓😀", '"é✓😀"'.encode()),
    "controls are escaped": ('\x00\x1f\n\t"\\', b'"\\u0000\\u001f\\n\\t\\"\\\\"'),
    "delete stays": ("\x7f/", b'"\x7f/"'),
    "line separators stay": ("\u2028", '"\u2028"'.encode()),
    "negative": (-5, b"-5"),
    "largest": (LARGEST, b"9007199254740991"),
}  # fmt: skip


@pytest.mark.parametrize(("value", "written"), FORMS.values(), ids=FORMS)
def test_forms(value, written):
    """There is one way to write a value."""
    assert canonical(value) == written


REFUSED = {
    "float": (1.0, "float"),
    "float inside": ({"a": [{"b": 0.5}]}, r"b is a float"),
    "not a number": (float("nan"), "float"),
    "tuple": ((1,), "tuple"),
    "bytes": ({"a": b""}, "a is a bytes"),
    "number as key": ({1: 2}, "key 1"),
    "key beyond ASCII": ({"é": 1}, "not ASCII"),
    "large number": ([LARGEST + 1], "beyond"),
    "small number": (-LARGEST - 1, "beyond"),
    "half a character": ("\ud800", "half a character"),
}


@pytest.mark.parametrize(("value", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_canonical_form(value, reason):
    """A value that readers could see differently is refused."""
    with pytest.raises(NotCanonical, match=reason):
        canonical(value)


FRAMES = {
    "the published example": (
        "http://example.com/HelloWorld",
        b"hello world",
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world",
    ),
    "empty": ("", b"", b"DSSEv1 0  0 "),
    "lengths are those of bytes": ("é", "✓".encode(), "DSSEv1 2 é 3 ✓".encode()),
    "a percent sign is nothing special": ("%d", b"%s", b"DSSEv1 2 %d 2 %s"),
}


@pytest.mark.parametrize(("kind", "body", "frame"), FRAMES.values(), ids=FRAMES)
def test_frames(kind, body, frame):
    """What is signed names its type and the length of both parts."""
    assert pae(kind, body) == frame


PARTS = st.tuples(st.text(st.sampled_from("a 1"), max_size=4), st.binary(max_size=4))


@given(PARTS, PARTS)
def test_no_two_messages_share_a_frame(one, other):
    """Two different pairs of type and body never lead to the same bytes."""
    assert (pae(*one) == pae(*other)) == (one == other)
