"""Writes the first `.agent-sync.toml`: what was found out, and as comments what is left to fill in."""

import json

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.setup.install.detect import names_on
from agent_sync.setup.install.signature import with_signature
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import BoardShape

HEAD = "# Settings of agent-sync for this repository; `agent-sync doctor` checks them against GitHub.\n"
_DELETE = "\x7f"


@dataclass(frozen=True)
class Findings:
    """What is known of the board: the one to use, or those it could be."""

    owner: str
    board: BoardShape | None = None
    choices: tuple[BoardShape, ...] = ()


def starter(found: Findings) -> str:
    """Return the text of the file."""
    lines = ["", "[project]"]
    if found.board:
        lines += [f"# {_comment(found.board.title)}: {_comment(found.board.url)}"]
        lines += [
            f"owner = {_toml_string(found.board.owner)}",
            f"number = {found.board.number}",
            "",
            *_names(found.board),
        ]
    else:
        owner = _toml_string(found.owner or "OWNER")
        lines += ["# Fill in: who owns the board, and its number, as in its address.", *map(_choice, found.choices)]
        lines += [f"{'' if found.owner else '# '}owner = {owner}", "# number = 1"]
    return with_signature(HEAD + "\n".join(lines) + "\n", after=HEAD)


def _names(board: BoardShape) -> list[str]:
    names = names_on(board)
    lines = ["[board]", *(f"{key} = {_toml_string(name)}" for key, name in names.found.items())]
    for key, offered in names.absent.items():
        shown = ", ".join(_comment(name) for name in offered)
        lines.append(f'{key} = ""  # the board has no such status, so the card stays; it has: {shown}')
    for key, offered in names.missing.items():
        shown = ", ".join(_comment(name) for name in offered) or "nothing that fits"
        lines.append(f'# {key} = "…"  # fill in; the board has: {shown}')
    return lines


def _choice(board: BoardShape) -> str:
    return f"#   {board.number}: {_comment(board.title)} ({_comment(board.owner)})"


def _comment(text: str) -> str:
    return one_line(text, limit=200)


def _toml_string(text: str) -> str:
    """Return a TOML string; JSON's differ in nothing but one character."""
    return json.dumps(text, ensure_ascii=False).replace(_DELETE, "\\u007f")
