"""Decides what `init` and `uninstall` change, before anything is changed."""

from collections.abc import Callable
from typing import Protocol

from agent_sync.errors import BadConfig
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.setup.install import claude, claude_md, ignore
from agent_sync.setup.install.claude_md import CLAUDE_MD
from agent_sync.setup.install.edits import Edit, apply_edits, undone
from agent_sync.setup.install.pages import FORMER, pages
from agent_sync.setup.install.record import InstallRecord, Written, digest
from agent_sync.setup.install.signature import is_signed, is_unchanged
from agent_sync.task.claim import exclude
from agent_sync.worktree import SETTINGS_NAME

CLAUDE_SETTINGS = ".claude/settings.json"
IGNORE = ".gitignore"
EXCLUDE = ".git/info/exclude"
Read = Callable[[str], bytes | None]


class Block(Protocol):
    """Some lines of ours in a text file of the user's."""

    def missing_edits(self, text: str) -> list[Edit]:
        """Return the edits that bring the lines in."""

    def without_ours(self, text: str) -> str:
        """Return the text without the lines."""


@dataclass(frozen=True)
class FileChange:
    """One file before and after; None where it is not there."""

    path: str
    before: bytes | None
    after: bytes | None
    written: Written | None = None


@dataclass(frozen=True)
class InstallPlan:
    """Every change, and what is worth saying besides."""

    changes: tuple[FileChange, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Choice:
    """What is asked for: hooks and pages unless the plugin has them, settings, a section of CLAUDE.md.

    Records that are kept elsewhere get rules of their own.
    """

    with_hooks: bool = True
    with_settings: bool = True
    with_claude_md: bool = False
    atlas_home: str = ""


EVERYTHING = Choice()


def installation(
    read: Read, record: InstallRecord, starter: Callable[[], str], choice: Choice = EVERYTHING
) -> InstallPlan:
    """Return what is missing; `starter` makes the settings file and is asked only where there is none.

    Without hooks, no hook and no page is added; those that are there stay.
    """
    changes = [_settings(read, record, choice), _lines(IGNORE, ignore, read, record)]
    notes = []
    if choice.with_claude_md:
        changes.append(_lines(CLAUDE_MD, claude_md, read, record))
    for path, wanted in pages().items():
        found = read(path)
        if found is None and not choice.with_hooks:
            continue
        if found is None or is_unchanged(found):
            changes.append(_whole(path, found, wanted))
        else:
            notes.append(f"{path} is yours and stays as it is; ours would not replace it.")
    changes += [FileChange(path, found, None) for path in FORMER if (found := read(path)) and is_unchanged(found)]
    if choice.with_settings and read(SETTINGS_NAME) is None:
        changes.append(_whole(SETTINGS_NAME, None, starter().encode()))
    return InstallPlan(tuple(change for change in changes if change.before != change.after), tuple(notes))


def removal(read: Read, record: InstallRecord, *, atlas_home: str = "") -> InstallPlan:
    """Return what takes everything of ours out again."""
    changes = [
        FileChange(
            CLAUDE_SETTINGS,
            found := read(CLAUDE_SETTINGS),
            _settings_base(found, record, with_rules=True, atlas_home=atlas_home),
        ),
        FileChange(IGNORE, found := read(IGNORE), _lines_base(IGNORE, ignore, found, record)),
        FileChange(CLAUDE_MD, found := read(CLAUDE_MD), _lines_base(CLAUDE_MD, claude_md, found, record)),
    ]
    excluded, notes = _exclusion(read)
    changes += excluded
    for path in (*pages(), *FORMER, SETTINGS_NAME):
        found = read(path)
        if found is not None and is_unchanged(found):
            changes.append(FileChange(path, found, None))
        elif found is not None and (is_signed(found) or path == SETTINGS_NAME):
            notes.append(f"{path} has been changed since it was written and stays; delete it if you do not need it.")
    return InstallPlan(tuple(change for change in changes if change.before != change.after), tuple(notes))


def _exclusion(read: Read) -> tuple[list[FileChange], list[str]]:
    """Return what takes out the line that `claim` wrote; `claim` writes through no link, so none is in the way."""
    try:
        found = read(EXCLUDE) or b""
    except BadConfig as error:
        return [], [f"{EXCLUDE} stays as it is: {error.happened}"]
    return [FileChange(EXCLUDE, found, exclude.without_line(found) or None)] if found else [], []


def _settings(read: Read, record: InstallRecord, choice: Choice) -> FileChange:
    found, home = read(CLAUDE_SETTINGS), choice.atlas_home
    hooks = choice.with_hooks or claude.has_hooks(_text(found), file=CLAUDE_SETTINGS)
    if claude.is_complete(_text(found), file=CLAUDE_SETTINGS, atlas_home=home, with_hooks=hooks):
        return FileChange(CLAUDE_SETTINGS, found, found)
    base = _settings_base(found, record, with_rules=record.knows(CLAUDE_SETTINGS), atlas_home=home)
    edits = claude.missing_edits(_text(base), file=CLAUDE_SETTINGS, atlas_home=home, with_hooks=hooks)
    return _edited_file(CLAUDE_SETTINGS, found, base, edits)


def _lines(path: str, block: Block, read: Read, record: InstallRecord) -> FileChange:
    found = read(path)
    if not block.missing_edits(_lenient(found)):
        return FileChange(path, found, found)
    base = _lines_base(path, block, found, record)
    return _edited_file(path, found, base, block.missing_edits(_lenient(base)))


def _settings_base(found: bytes | None, record: InstallRecord, *, with_rules: bool, atlas_home: str) -> bytes | None:
    """Return the settings as they were without us."""
    written = record.of(CLAUDE_SETTINGS, found) if found is not None else None
    if found is None or written:
        return found if written is None else _unwritten(_text(found), written)
    text = claude.without_ours(_text(found), file=CLAUDE_SETTINGS, with_rules=with_rules, atlas_home=atlas_home)
    is_gone = text != _text(found) and not "".join(text.split()).strip("{}\ufeff")
    return None if is_gone else text.encode()


def _lines_base(path: str, block: Block, found: bytes | None, record: InstallRecord) -> bytes | None:
    """Return a text file as it was without our block."""
    written = record.of(path, found) if found is not None else None
    if found is None or written:
        return found if written is None else _unwritten(_lenient(found), written)
    text = block.without_ours(_lenient(found))
    return None if found and not text else text.encode("utf-8", errors="surrogateescape")


def _unwritten(text: str, written: Written) -> bytes | None:
    if written.before is None:
        return None
    return undone(text, written.edits).encode("utf-8", errors="surrogateescape")


def _edited_file(path: str, found: bytes | None, base: bytes | None, edits: list[Edit]) -> FileChange:
    after = apply_edits(_lenient(base), edits).encode("utf-8", errors="surrogateescape")
    before = None if base is None else digest(base)
    return FileChange(path, found, after, Written(path, before, digest(after), tuple(edits)))


def _whole(path: str, found: bytes | None, wanted: bytes) -> FileChange:
    # A checkout may have converted the line endings; that is no difference.
    if found is not None and found.replace(b"\r\n", b"\n") == wanted:
        return FileChange(path, found, found)
    return FileChange(path, found, wanted, Written(path, None, digest(wanted)))


def _text(content: bytes | None) -> str:
    try:
        return (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"{CLAUDE_SETTINGS} is not UTF-8 text. Nothing was written."
        raise BadConfig(message, helps=f"correct {CLAUDE_SETTINGS}") from error


def _lenient(content: bytes | None) -> str:
    return (content or b"").decode("utf-8", errors="surrogateescape")
