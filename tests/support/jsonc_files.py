"""Settings files in every shape people leave them in."""

import json
from typing import Any

from hypothesis import strategies as st

OWN = "command -v agent-sync >/dev/null 2>&1 || exit 0; exec agent-sync on-stop"
NAMES = st.text('abcxyz "\\\u00e4\u2028/*#{}[],:', max_size=6)
SCALARS = st.one_of(NAMES, st.integers(-99, 99), st.booleans(), st.none(), st.sampled_from([1.5, "// no", "/* no */"]))
ANY = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)
HANDLERS = st.fixed_dictionaries(
    {"type": st.just("command"), "command": st.sampled_from(["make lint", "echo agent-sync", "./x on-stop"])},
    optional={"timeout": st.integers(1, 100)},
)
GROUPS = st.fixed_dictionaries({"hooks": st.lists(HANDLERS, max_size=2)}, optional={"matcher": NAMES})
HOOKS = st.dictionaries(
    st.sampled_from(["Stop", "SessionStart", "PreToolUse", "Notification"]), st.lists(GROUPS, max_size=2), max_size=3
)
RULES = st.lists(st.sampled_from(["Bash(ls)", "Read", "Bash(agent-sync claim *)"]), max_size=2, unique=True)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "model": ANY,
        "hooks": HOOKS,
        "permissions": st.fixed_dictionaries({}, optional={"allow": RULES, "deny": RULES, "ask": ANY}),
        "statusLine": st.just({"type": "command", "command": "date"}),
        "other": ANY,
    },
)
BLANKS = ["", "", " ", "\n", "\n  ", "\r\n\t", " // note\n", "/* note */", " /* two\nlines */ ", "\n\n    "]


def _tokens(value: Any, *, trailing: bool) -> list[str]:
    """Return the tokens of a value; a comma may stand after the last element."""
    match value:
        case dict():
            parts = [[json.dumps(key), ":", *_tokens(inner, trailing=trailing)] for key, inner in value.items()]
            opening, closing = "{", "}"
        case list():
            parts = [_tokens(inner, trailing=trailing) for inner in value]
            opening, closing = "[", "]"
        case _:
            return [json.dumps(value, ensure_ascii=False)]
    inside = [token for part in parts for token in [*part, ","]]
    return [opening, *(inside if trailing else inside[:-1]), closing]


@st.composite
def untidy(draw: Any) -> tuple[dict[str, Any], str]:
    """Return settings and a text that says them in any layout, with comments, trailing commas and a BOM."""
    value = draw(SETTINGS)
    tokens = _tokens(value, trailing=draw(st.booleans()))
    blanks = draw(st.lists(st.sampled_from(BLANKS), min_size=len(tokens) + 1, max_size=len(tokens) + 1))
    text = "".join(blank + token for blank, token in zip(blanks, [*tokens, ""], strict=True))
    return value, draw(st.sampled_from(["", "\ufeff"])) + text


@st.composite
def tidy(draw: Any) -> tuple[dict[str, Any], str]:
    """Return settings and a text as an editor or a formatter leaves it."""
    value = {"model": "x"} | draw(SETTINGS)
    text = json.dumps(value, indent=draw(st.sampled_from([2, 4, "\t", 1])), ensure_ascii=draw(st.booleans()))
    text += draw(st.sampled_from(["\n", ""]))
    return value, text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
