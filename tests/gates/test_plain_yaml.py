import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from support.gauntlet import GATE_CHECK, GATE_CONFIG, ONE_CHECK

from agent_sync.demo.stage import GATE
from agent_sync.gates.config import plain_yaml, yaml12
from agent_sync.gates.config.document import Document
from agent_sync.gates.config.yaml_values import BadYaml, NotOrdinary

GUIDE = Path(__file__).parents[2] / "docs" / "gauntlet.md"
ORDINARY = {
    "nothing": "",
    "comments": "# a\n\n  # b\n",
    "command": "command: python -m pytest -q tests/  # all\n",
    "address": "command: curl http://localhost:80/#top\n",
    "quoted": "command: '! grep -n \"it''s\" *.py'\nmodel: \"a \\\"b\\\" \\\\ c\"\n",
    "list below": "entry_points:\n- path: .\n  checks:\n  - lint\n  - 'test'\n- path: src\n",
    "list in": "cli:\n    default_preference: [ claude, 'codex' ]  # two\n    adapters: {a: 1, b: 'c'}\n    none: []\n",
    "numbers": "a: 0\nb: 15\nc: 1.50\nd: true\ne: null\nf:\n",
    "script": "command: |\n  set -e\n\n  make: all  # said\n    more\n\nrerun_command: |-\n  make\n# end\n",
    "letters": "# Prüft – alles…\ncommand: echo “größer”\n",
}  # fmt: skip
NOT_ORDINARY = {
    "anchor": "a: &x b\n",
    "alias": "a: *x\n",
    "tag": "a: !!str 1\n",
    "two lines": "a: b\n  c\n",
    "tab": "a:\tb\n",
    "carriage return": "a: b\r\n",
    "twice": "a: 1\na: 2\n",
    "documents": "a: 1\n---\nb: 2\n",
    "escape": 'a: "\\x41"\n',
    "another version's word": "a: yes\n",
    "another spelling": "a: True\n",
    "octal": "a: 0o17\n",
    "negative": "a: -1\n",
    "exponent": "a: 1e3\n",
    "time": "a: 2001-01-01\n",
    "home": "a: ~\n",
    "folded": "a: >\n  b\n",
    "nested flow": "a: [[b]]\n",
    "key in quotes": "'a': b\n",
    "no space": "a:b\n",
    "colon in text": "a: b: c\n",
    "list of lists": "a:\n- - b\n",
    "list": "- a\n",
    "indented": "  a: b\n",
    "line separator": "a: b\u2028c: d\n",
    "very deep": "".join(f"{' ' * depth}a:\n" for depth in range(50)),
    "very long": "# long\n" * 3000,
}
SCALARS = [
    *("a b", "true", "True", "null", "yes", "No", "y", "1", "01", "1.5", "1.", ".5", "1e3", "-1", "+1", "1_0", "0x1f", "0o7"),
    *(".", "./x", ".x", "..", ".inf", ".NaN", "~", "<<", "=", "2001-01-01", "12:30", "x:y", "x: y", "x #c", "x#c", "x:", "*x"),
    *("'q'", "'q''r'", "'q' r", "'q'#c", "'q' #c", '"d"', '"d\\n"', '"d\\x41"', '"d\\"', "a'b", "a, b", "a]b", "a\\b", "é – “q”"),
    *("[]", "[ ]", "[a, b]", "[a,b]", "[a, ]", "['x', \"y\", 1]", "[a #b]", "[a -b]", "[[a]]", "[a: b]", "[yes]", "[a] b", "[a"),
    *("{}", "{a: 1}", "{a:1}", "{a: 1, a: 2}", "{a: b c, d: 'e'}", "{a: [b]}", "{a}", "|", "|-", "|+", ">", "| x", "&a b", "!t b"),
    *("- a", "-", "---", "...", "? a", "%x", "@x", "`x", "#", "# c", "", " ", "$x", "(x)", "_1", "/x"),
]  # fmt: skip
LINE = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "", " ", "  ", "  ", "    ", "      "]),
    st.sampled_from(["", "- ", "-   ", "# "]),
    st.sampled_from(["a: ", "b: ", "c: ", "d: ", "e:", "f-g:  ", "true: ", "'q': ", ""]),
    st.sampled_from(SCALARS),
)
TEXT = st.builds("{}{}".format, st.lists(LINE, max_size=8).map("\n".join), st.sampled_from(["\n", "", "\n\n", " "]))


def typed(value):
    """Return a value in which what is equal and of another type, such as 1 and true, is different."""
    match value:
        case dict():
            return [(key, typed(below)) for key, below in value.items()]
        case tuple():
            return tuple(map(typed, value))
        case _:
            return type(value).__name__, value


def assert_same_as_library(text):
    try:
        found = plain_yaml.read(text)
    except NotOrdinary:
        return
    assert typed(found) == typed(yaml12.load(text).values)


@st.composite
def blocks(draw, indent=0, depth=0):
    """Return the lines of a mapping that is nearly always well-formed."""
    lines = []
    for key in draw(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=3, unique=True)):
        head, wider = f"{' ' * indent}{key}:", indent + draw(st.integers(1, 3))
        match draw(st.integers(0, 4 if depth < 3 else 1)):
            case 0 | 1:
                lines.append(f"{head} {draw(st.sampled_from(SCALARS))}{draw(st.sampled_from(['', ' ', ' # c']))}")
            case 2:
                lines += [f"{head}{draw(st.sampled_from(['', ' ', ' # c']))}", *draw(blocks(wider, depth + 1))]
            case 3:
                at = draw(st.sampled_from([indent, wider]))
                first, *others = draw(blocks(at + 2, depth + 1))
                lines += [head, f"{' ' * at}- {first.lstrip()}", *others]
            case _:
                text = st.sampled_from(["", "x", "  y", "# n", "a: b", "- c", " "])
                lines += [f"{head} |", *(" " * wider * bool(line) + line for line in draw(st.lists(text, max_size=4)))]
        lines += draw(st.lists(st.sampled_from(["", "  ", "# c", "    # c"]), max_size=1))
    return lines


@pytest.mark.parametrize("text", ORDINARY.values(), ids=ORDINARY)
def test_ordinary_texts(text):
    """What gate files ordinarily hold is read, and as the library reads it."""
    assert typed(plain_yaml.read(text)) == typed(yaml12.load(text).values)


@pytest.mark.parametrize("text", NOT_ORDINARY.values(), ids=NOT_ORDINARY)
def test_texts_that_are_left_to_the_library(text):
    """What could mean something else, or nothing, is not read."""
    with pytest.raises(NotOrdinary):
        plain_yaml.read(text)


def test_every_gate_file_that_people_copy_is_ordinary():
    """The guide's examples and the gates of the demo and of the tests need no library."""
    examples = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) >= 2
    for text in [*examples, *GATE.values(), GATE_CONFIG, GATE_CHECK, ONE_CHECK]:
        assert typed(plain_yaml.read(text)) == typed(yaml12.load(text).values)


@given(text=TEXT)
def test_hostile_lines_mean_the_same(text):
    """Whatever lines follow each other: where the plain reader answers, the library answers the same."""
    assert_same_as_library(text)


@given(lines=blocks(), at=st.integers(0, 200), sign=st.sampled_from(["", *"\n :#-'\"[]{},|>&*\\x1.\t"]))
def test_nearly_valid_texts_mean_the_same(lines, at, sign):
    """So it is for whole documents, also with a character too many in them."""
    text = "\n".join(lines) + "\n"
    assert_same_as_library(text[:at] + sign + text[at:])


def test_lines_are_known_all_the_same():
    """A document that was read without the library tells the lines of its keys."""
    document = Document("a: 1\n\nb:\n  - c: 2\n    d: 3\n")
    assert [document.line_of(path) for path in ((), ("a",), ("b", 0, "d"), ("b", 1))] == [1, 1, 5, 3]
    with pytest.raises(BadYaml):
        Document("a: [\n")
