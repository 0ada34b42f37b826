"""Contents that nobody's program would write: for parsers, which must say so and do nothing else."""

import json
from collections.abc import Iterator

from hypothesis import strategies as st

# Deeper than any parser goes, and as deep as a file of a megabyte can be.
DEEP, DEEPEST = 3_000, 400_000
_NUMBERS = (
    "1e999",
    "-1e999",
    "NaN",
    "Infinity",
    "9" * 400,
    "-" + "9" * 400,
    "9" * 5000,
    "0." + "9" * 400,
    "1e308",
    "-1",
)
_TEXTS = (
    '"\\ud800"',
    '"\\u0000"',
    '"' + "x" * 5000 + '"',
    '"9999-12-31T23:59:59+14:00"',
    '"0001-01-01T00:00:00"',
    '""',
)
_NESTED = ("[" * DEEP + "]" * DEEP, "[" * DEEP, '{"a":' * DEEP + "1" + "}" * DEEP, '{"a":' * 150 + "1" + "}" * 150)
_OTHERS = ("null", "true", "0", "[]", "{}", "[null]", '[{"id": 1}]', '{"seq": 1e999}')
ODD = (*_NUMBERS, *_TEXTS, *_NESTED, *_OTHERS)

plain_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
# A value as its JSON, which may be of a kind that no JSON writer makes.
spelled = st.one_of(plain_values.map(json.dumps), st.sampled_from(ODD))


def documents(like: dict[str, object]) -> st.SearchStrategy[bytes]:
    """Return contents of every kind: noise, odd values, and objects like this one with some values replaced."""
    replaced = st.dictionaries(st.sampled_from(sorted(like)), spelled, min_size=1, max_size=3)
    return st.one_of(st.binary(max_size=200), spelled.map(_encoded), replaced.map(lambda odd: _object(like, odd)))


def every_odd(like: dict[str, object]) -> Iterator[bytes]:
    """Return every odd value alone, and in every place of an object and of the objects in it."""
    yield from map(_encoded, ("[" * DEEPEST + "]" * DEEPEST, '{"a":' * (DEEPEST // 3)))
    for value in ODD:
        yield _encoded(value)
        for key, inner in like.items():
            yield _object(like, {key: value})
            if isinstance(inner, dict) and inner:
                yield from (_object(like, {key: _object(inner, {name: value}).decode()}) for name in inner)


def _object(like: dict[str, object], odd: dict[str, str]) -> bytes:
    spelled_out = {key: json.dumps(value) for key, value in like.items()} | odd
    return _encoded("{" + ", ".join(f"{json.dumps(key)}: {value}" for key, value in spelled_out.items()) + "}")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
