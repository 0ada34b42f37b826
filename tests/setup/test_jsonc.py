import contextlib
import json

import pytest
from hypothesis import given, strategies as st
from support.jsonc_files import ANY, untidy

from agent_sync.setup.install.jsonc import NotJson, read


@given(ANY)
def test_plain_json_is_read_as_json(value):
    """Plain JSON means what Python's own reader says."""
    assert read(json.dumps(value)).value == value


@given(untidy())
def test_comments_and_trailing_commas_mean_nothing(given_file):
    """Layout, comments and trailing commas do not change the value, and spans cover exactly their text."""
    value, text = given_file
    root = read(text)
    assert root.value == value
    for element in root.elements:
        assert read(text[element.node.start : element.node.end]).value == element.node.value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "line 1: it ends too early"),
        ("hello", "line 1: a value is missing"),
        ("{\n  a: 1}", "line 2: a key in quotation marks is missing"),
        ('{"a" 1}', "a colon is missing"),
        ('{"a": 1\n "b": 2}', "line 2: a comma or } is missing"),
        ("[1 2]", "a comma or ] is missing"),
        ("[,]", "a value is missing"),
        ('{"a": "\x01"}', "invalid control character"),
        ('{"a": "x', "unterminated string"),
        ("{} {}", "there is something after the end"),
        ("{ // no end", "it ends too early"),
        ("[" * 200, "it is nested too deeply"),
        ("NaN", "a value is missing"),
    ],
)
def test_what_is_wrong_is_said(text, reason):
    """A text that is not JSON is refused with the line and the reason."""
    with pytest.raises(NotJson, match=reason):
        read(text)


@given(st.text('{}[]",:/*ab1 \n\\', max_size=30))
def test_no_text_makes_it_stumble(text):
    """Any text is either read or refused."""
    with contextlib.suppress(NotJson):
        read(text)


def test_last_of_two_keys_counts():
    """Of two members with one key the client takes the last one, and so do we."""
    assert read('{"a": 1, "a": 2}').member("a").value == 2
    assert read("[1]").member("a") is None
