"""What git has answered: kept while it holds, in this process, and across processes where files can prove it."""

import contextlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from agent_sync.lazy_patterns import pattern
from agent_sync.quiet.answer import state_of
from agent_sync.system import files
from agent_sync.system.disk import AfterPowerCut
from agent_sync.system.git_answers import UnclearRef, commit_at, has_replacements
from agent_sync.system.processes import FinishedProcess, Processes
from agent_sync.system.stamps import SETTLED_S
from agent_sync.worktree import GIT_ANSWERS, Place

# A question about objects alone, named in full, has one answer for ever.
_OBJECT = pattern(r"\^?[0-9a-f]{40}(?:[0-9a-f]{24})?(?:\^\{(?:tree|commit)\}|:.*)?", re.DOTALL)
_ABOUT_OBJECTS = frozenset({"ls-tree", "diff-tree", "cat-file", "merge-base", "rev-list", "rev-parse"})
# How many objects are named before the paths.
_BEFORE_PATHS = {"ls-tree": 1, "diff-tree": 2}
# What only looks, or stores objects that nothing points to: after anything else nothing but objects is as it was.
_LOOKING = frozenset({
    "cat-file", "check-ignore", "commit-tree", "diff", "diff-files", "diff-tree", "for-each-ref", "hash-object", "log",
    "ls-files", "ls-remote", "ls-tree", "merge-base", "mktree", "reflog", "rev-list", "rev-parse", "show", "status",
    "symbolic-ref", "version",
})  # fmt: skip
_FEW, _SMALL = 20, 1 << 20
_CONFIG_QUESTIONS = (("remote", "-v"), ("config", "--get"))
# A branch that is made, followed or deleted says nothing about remotes.
_BRANCH_SECTION = pattern(r"^[ \t]*\[branch [^\n]*\n(?:(?![ \t]*\[)[^\n]*\n)*", re.MULTILINE)
# Across processes: which files are tracked, what is in a commit, what has changed between two, and which tree it has.
_NOTED = frozenset({"ls-files", "ls-tree", "diff-tree", "rev-parse"})
_MOST_NOTED, _LONGEST_NOTED = 40, 4000
_Notes = dict[str, list[str]]


class GitMemory:
    """What git has answered, each answer with how the files it depends on lay on disk."""

    def __init__(self, *, leaves_notes: bool = True) -> None:
        self._leaves_notes = leaves_notes
        self._kept: dict[tuple[str, tuple[str, ...]], tuple[str, FinishedProcess]] = {}
        self._objects: dict[tuple[str, ...], bytes] = {}
        self._notes: dict[str, _Notes] = {}
        self._looks = 0
        # Where a remote says that the repository is now.
        self.moved_to = ""

    def answer(
        self, place: Place | None, arguments: Sequence[str], processes: Processes, ask: Callable[[], FinishedProcess]
    ) -> FinishedProcess:
        """Return the answer to a question, from git only where no earlier one holds."""
        sight = self._sight(place, arguments, processes.programs) if place else ""
        known = self._recall(place, arguments, sight) if place and sight else None
        if known:
            return known
        found = ask()
        # What changed while git looked may or may not be in its answer.
        if place and sight and not found.status and sight == self._sight(place, arguments, processes.programs):
            self._keep(place, arguments, sight, found)
        return found

    def _sight(self, place: Place, arguments: Sequence[str], programs: int) -> str:
        """Return what an answer depends on, as text; empty where that is not known, or may change unseen.

        `programs` counts those of others that we have run.
        """
        if self._looks and arguments[0] in _ABOUT_WORKING_TREE:
            return f"{_LOOK}{programs}"
        return _lasting_sight(place, arguments, programs)

    def _recall(self, place: Place, arguments: Sequence[str], sight: str) -> FinishedProcess | None:
        seen, answer = self._kept.get((place.root, tuple(arguments)), ("", None))
        if seen == sight or arguments[0] not in _NOTED:
            return answer if seen == sight else None
        noted, text = self._noted(place).get(_question(arguments), ("", ""))
        return FinishedProcess(0, text, "") if noted == sight and not has_replacements(place) else None

    def _keep(self, place: Place, arguments: Sequence[str], sight: str, answer: FinishedProcess) -> None:
        self._kept[place.root, tuple(arguments)] = (sight, answer)
        if arguments[0] in _NOTED and _is_about_content(arguments) and len(answer.stdout) <= _LONGEST_NOTED:
            self._note(place, arguments, sight, answer.stdout)

    def _noted(self, place: Place) -> _Notes:
        """Return what processes before this one have noted; a file in the least odd says nothing."""
        if place.state_dir not in self._notes:
            self._notes[place.state_dir] = _read_notes(Path(place.state_dir) / GIT_ANSWERS)
        return self._notes[place.state_dir]

    def _note(self, place: Place, arguments: Sequence[str], sight: str, text: str) -> None:
        # Only speed is lost without it; a clone that has no files of ours gets none for this.
        directory = Path(place.state_dir)
        if not self._leaves_notes or not directory.is_dir() or has_replacements(place):
            return
        others = {asked: note for asked, note in self._noted(place).items() if asked != _question(arguments)}
        newest = [*others.items(), (_question(arguments), [sight, text])][-_MOST_NOTED:]
        self._notes[place.state_dir] = dict(newest)
        with contextlib.suppress(OSError):
            files.write_atomic(directory / GIT_ANSWERS, json.dumps(dict(newest)).encode(), after_cut=AfterPowerCut.ANY)

    def objects(self, root: str, asked: tuple[str, ...], read: Callable[[], bytes]) -> bytes:
        """Return what is read of some objects, once for all where they are few and named in full."""
        key = (root, *asked)
        if key in self._objects:
            return self._objects[key]
        found = read()
        is_kept = len(asked) <= _FEW and len(found) <= _SMALL and all(map(_OBJECT.fullmatch, asked[1:]))
        # What is missing now may come with the next fetch.
        if is_kept and b" missing\n" not in found:
            self._objects[key] = found
        return found

    def forget_after(self, arguments: Sequence[str]) -> None:
        """Forget how the working tree was after an order that may have changed it."""
        if not _only_looks(arguments):
            self._forget_looks()

    @contextlib.contextmanager
    def one_look(self) -> Iterator[None]:
        """Let what is said of the working tree count until the end."""
        self._looks += 1
        try:
            yield
        finally:
            self._looks -= 1
            if not self._looks:
                self._forget_looks()

    def _forget_looks(self) -> None:
        self._kept = {key: kept for key, kept in self._kept.items() if not kept[0].startswith(_LOOK)}


_FOR_EVER, _LOOK = "for ever", "look "
_ABOUT_WORKING_TREE = frozenset({"status", "diff"})


def _only_looks(arguments: Sequence[str]) -> bool:
    words = _without_options(arguments)
    return words[0] in _LOOKING or tuple(words[:2]) in {*_CONFIG_QUESTIONS, ("worktree", "list")}


def _without_options(arguments: Sequence[str]) -> list[str]:
    """Return the words of a command without the settings that come before its name."""
    words = list(arguments)
    while words[:1] == ["-c"]:
        words = words[2:]
    return words


def _lasting_sight(place: Place, arguments: Sequence[str], programs: int) -> str:
    if arguments[0] in _ABOUT_OBJECTS:
        asked = [word for word in arguments[1:] if not word.startswith("-") and word != "blob"]
        revisions = asked[: _BEFORE_PATHS.get(arguments[0])]
        return _FOR_EVER if revisions and all(map(_OBJECT.fullmatch, revisions)) else ""
    if arguments[0] == "ls-files":
        # With these two it is known which files are tracked.
        index, head = f"{place.git_dir}/index", _head(place)
        return f"{head}\0{state_of(index)}" if head and _is_settled(index) else ""
    if tuple(arguments[:2]) in _CONFIG_QUESTIONS:
        texts = map(_text_of, (f"{place.common_dir}/config", f"{place.git_dir}/config.worktree"))
        is_whole = arguments[0] == "config"
        return "\0".join([str(programs), *(text if is_whole else _BRANCH_SECTION.sub("", text) for text in texts)])
    return ""


def _text_of(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "surrogateescape")
    except OSError:
        return state_of(path)


def _head(place: Place) -> str:
    try:
        return commit_at(place, "HEAD") or ""
    except UnclearRef:
        return ""


def _is_settled(path: str) -> bool:
    """Tell whether a file is not so new that its next change might not show."""
    return not os.path.lexists(path) or os.lstat(path).st_mtime <= time.time() - SETTLED_S


def _question(arguments: Sequence[str]) -> str:
    return "\0".join(arguments)


def _is_about_content(arguments: Sequence[str]) -> bool:
    """Tell whether an answer is more than that an object is here, which the next `git gc` may change."""
    return arguments[0] != "rev-parse" or arguments[-1].endswith("^{tree}")


def _read_notes(path: Path) -> _Notes:
    try:
        found = json.loads(files.read_own(path) or b"{}").items()
    except (files.NotPlain, ValueError, RecursionError, AttributeError):
        return {}
    return {asked: note for asked, note in found if isinstance(note, list) and list(map(type, note)) == [str, str]}
