"""Tells from a reflog's words whether a commit was made, a push arrived, or something only moved."""

import re
from enum import Enum

from agent_sync.record.observe.reflogs import Entry


class Kind(Enum):
    """What an entry of a reflog is about."""

    COMMIT = "a commit was made"
    PUSH = "a push arrived"
    MOVE = "something that was there already is pointed at"
    # Tools may write words of their own: whether a commit was made is told from its time.
    UNKNOWN = "words that git does not use"


_PICKS = r"\((?:pick|reword|edit|fixup|squash|continue|merge|amend)\)"
_COMMIT = re.compile(
    r"commit(?: \([a-z-]+\))?: |(?:cherry-pick|revert|am)(?: -[^:]*)?: |merge .*: "
    rf"|pull\b[^:()]*: |(?:rebase|pull)\b[^:()]* {_PICKS}: |rebase(?: -i)?: "
)
_MOVE = re.compile(r"(?:checkout|reset|branch|clone|fetch|bisect|worktree|HEAD)\b|(?:rebase|pull)\b")
_FORWARD = re.compile(r".*: (?:fast-forward|Fast-forward|updating HEAD|returning to .*|checkout .*)")
_FINISHED = re.compile(r"(?:rebase|pull)\b[^:()]* \(finish\): refs/heads/.* onto ([0-9a-f]{40,64})")
_PUSHED = "update by push"


def kind_of(entry: Entry) -> Kind:
    """Return what an entry is about."""
    if entry.message == _PUSHED:
        return Kind.PUSH
    finished = _FINISHED.fullmatch(entry.message)
    if entry.old == entry.new or entry.new.strip("0") == "":
        return Kind.MOVE
    if finished:
        # A branch's own log tells of a whole rebase in one line; without commits of its own it only moves.
        return Kind.MOVE if finished[1] == entry.new else Kind.COMMIT
    return _by_action(entry.message)


def subject_in(entry: Entry) -> str:
    """Return what the entry itself says about its commit."""
    return entry.message.partition(": ")[2]


def _by_action(message: str) -> Kind:
    made = _COMMIT.match(message)
    # Only actions that can do either end in git's words for it: the subject of a commit may be any text.
    if made and not message.startswith("commit") and _FORWARD.fullmatch(message):
        return Kind.MOVE
    if made:
        return Kind.COMMIT
    return Kind.MOVE if _MOVE.match(message) else Kind.UNKNOWN
