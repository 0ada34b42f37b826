"""Puts a block of ours into a hook of git beside what is there, and takes exactly that out again."""

import contextlib
from pathlib import Path

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.setup.githooks import file as githook_file, text as texts
from agent_sync.setup.githooks.file import GitHook
from agent_sync.setup.githooks.place import HookPlace, HooksKeptBy, hook_place, instructions
from agent_sync.setup.githooks.text import KINDS, POST_COMMIT, HookKind
from agent_sync.setup.install import record as records
from agent_sync.setup.install.edits import apply_edits, undone
from agent_sync.setup.install.record import InstallRecord, Written, digest
from agent_sync.system import files
from agent_sync.system.git import Git
from agent_sync.worktree import Place

LOCK_WAIT_S = 5.0
_DIRECTORY = "directory"


@dataclass(frozen=True)
class Installed:
    """The block was put in."""

    file: Path
    was_there: bool


@dataclass(frozen=True)
class Unchanged:
    """Nothing was to be done: the block is in already, or was never there."""

    file: Path


@dataclass(frozen=True)
class Removed:
    """The block was taken out; where nothing else was in it, with the file."""

    files: tuple[Path, ...]


@dataclass(frozen=True)
class InstallRefused:
    """Nothing was written, because it could break something; `instructions` say what to do by hand."""

    file: Path
    reason: str
    instructions: str


def install(git: Git, place: Place, kind: HookKind = POST_COMMIT) -> Installed | Unchanged | InstallRefused:
    """Put the block into a hook, or say what to do where that is not ours to do."""
    where = hook_place(git, place, kind)
    if where.keeper is HooksKeptBy.OFF:
        return InstallRefused(where.file, _kept_by(where), instructions(where))
    with files.locked(Path(place.shared_dir, "install.lock"), wait=LOCK_WAIT_S, doing="installing the git hook"):
        try:
            hook = githook_file.read(where.edited)
            refusal = _refusal(where, hook)
            is_there = texts.carries(hook.text, kind) or (
                where.keeper is not HooksKeptBy.GIT and texts.calls(hook.text, kind)
            )
            if is_there and (refusal is None or where.keeper is not HooksKeptBy.GIT):
                return Unchanged(where.edited)
            return refusal or _put_in(where, hook, _memory(place))
        except (OSError, files.NotPlain) as error:
            return _by_hand(where, f"{where.edited} cannot be used: {error}.")


def uninstall(git: Git, place: Place) -> Removed | Unchanged | InstallRefused:
    """Take the block out wherever it was put; a hook that nobody has changed since is what it was, to the byte."""
    places, memory = [hook_place(git, place, kind) for kind in KINDS], _memory(place)
    where = places[0]
    with files.locked(Path(place.shared_dir, "install.lock"), wait=LOCK_WAIT_S, doing="taking the git hook out"):
        try:
            by_hand = next(filter(None, map(_left_to_people, places)), None)
            own = [one.file for one in places if one.keeper is HooksKeptBy.GIT]
            recorded = [Path(entry.path) for entry in records.load(memory).entries if entry.edits]
            removed = tuple(file for file in dict.fromkeys([*own, *recorded]) if _take_out(file, memory))
            return by_hand or (Removed(removed) if removed else Unchanged(where.edited))
        except (OSError, files.NotPlain) as error:
            return InstallRefused(where.edited, f"A hook cannot be used: {error}.", "correct that, then try again")


def _left_to_people(where: HookPlace) -> InstallRefused | None:
    if where.keeper in {HooksKeptBy.GIT, HooksKeptBy.OFF} or not texts.calls(
        githook_file.read(where.edited).text, where.kind
    ):
        return None
    return InstallRefused(where.edited, _kept_by(where), f"take the lines with agent-sync out of {where.edited}")


def _refusal(where: HookPlace, hook: GitHook) -> InstallRefused | None:
    if where.keeper is not HooksKeptBy.GIT:
        return InstallRefused(where.edited, _kept_by(where), instructions(where))
    if hook.content is None:
        return None
    if not texts.is_shell(hook.text):
        return _by_hand(where, f"{where.file} is no shell script.")
    if not hook.is_executable:
        reason = f"{where.file} is not executable, so git does not run it."
        return InstallRefused(
            where.file, reason, f"chmod +x {where.file}  # if it is to run; then: agent-sync record install"
        )
    return None


def _kept_by(where: HookPlace) -> str:
    return f"The hooks of this repository are kept by {where.keeper.value} ({where.file.parent})."


def _by_hand(where: HookPlace, reason: str) -> InstallRefused:
    by_hand = f"have {where.edited} call this:\n{where.kind.command}"
    return InstallRefused(where.edited, reason, instructions(where) or by_hand)


def _put_in(where: HookPlace, hook: GitHook, memory: Path) -> Installed:
    """Write the memory first: of a file that a crash kept from being written it says nothing."""
    file = where.file
    record = records.load(memory)
    base = _base(file, hook, record)
    start = texts.SHEBANG if base is None else base
    edit = texts.addition(start, where.kind)
    after = apply_edits(start, [edit])
    new = [Written(str(file), None if base is None else _digest(base), _digest(after), (edit,))]
    if not file.parent.exists():
        new.append(Written(str(file.parent), None, _DIRECTORY))
    records.save(memory, record.with_entries(tuple(new)))
    file.parent.mkdir(parents=True, exist_ok=True)
    githook_file.write(file, after, hook)
    return Installed(file, was_there=base is not None)


def _take_out(file: Path, memory: Path) -> bool:
    record, hook = records.load(memory), githook_file.read(file)
    base = _base(file, hook, record)
    is_changed = hook.content is not None and base != hook.text
    if is_changed and base is not None:
        githook_file.write(file, base, hook)
    elif is_changed:
        files.delete(file)
        if record.knows(str(file.parent)):
            with contextlib.suppress(OSError):
                file.parent.rmdir()
    _forget(file, record, memory)
    return is_changed


def _forget(file: Path, record: InstallRecord, memory: Path) -> None:
    gone = {str(file), str(file.parent)}
    kept = tuple(entry for entry in record.entries if entry.path not in gone)
    if kept:
        records.save(memory, InstallRecord(kept))
    else:
        records.forget(memory)


def _base(file: Path, hook: GitHook, record: InstallRecord) -> str | None:
    """Return the hook as it was without us."""
    if hook.content is None:
        return None
    written = record.of(str(file), hook.content)
    if written:
        return None if written.before is None else undone(hook.text, written.edits)
    text = texts.without_our_lines(hook.text)
    return None if text != hook.text and text == texts.SHEBANG else text


def _digest(text: str) -> str:
    return digest(text.encode("utf-8", errors="surrogateescape"))


def _memory(place: Place) -> Path:
    """Return where it is remembered what was put in: apart from what `init` put into the worktree."""
    return Path(place.shared_dir, "githooks")
