"""Looks at a check's command before it runs: can its first word be run at all?"""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

_WORD = re.compile(r"[A-Za-z0-9_./+-]+")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_PLAIN_BRANCH = re.compile(r"[A-Za-z0-9._/-]+")
# Words the shell itself understands.
_SHELL_WORDS = """
. : [ ! { ( if for while until case test cd echo printf true false exit export set unset eval exec trap ulimit umask
wait command type read readonly shift times source local return alias break continue pwd hash kill getopts jobs bg fg
function select time let declare typeset
"""
_SHELL = frozenset(_SHELL_WORDS.split())


def missing_program(command: str, directory: Path, environment: Mapping[str, str]) -> str:
    """Return the program a command begins with if it certainly cannot be run; nothing in any doubt."""
    word = _first_word(command)
    if not word or word in _SHELL or not _WORD.fullmatch(word):
        return ""
    if "/" in word:
        found = directory / word
        return "" if found.is_file() and os.access(found, os.X_OK) else word
    return "" if shutil.which(word, path=environment.get("PATH", os.defpath)) else word


def with_base(command: str, base: str) -> str:
    """Put the base branch in; a name that means something to the shell is left to the variable of that name."""
    return command.replace("${BASE_BRANCH}", base) if _PLAIN_BRANCH.fullmatch(base) else command


def _first_word(command: str) -> str:
    lines = [line.strip() for line in command.splitlines()]
    words = " ".join(line for line in lines if line and not line.startswith("#")).split()
    for word in words:
        if not _ASSIGNMENT.match(word):
            return word.rstrip(";")
        # A value in quotes may hold spaces: then the next word is not known.
        if "'" in word or '"' in word or "`" in word or "$" in word:
            return ""
    return ""
