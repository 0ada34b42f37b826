"""Decides which gate definitions apply to the work at hand, and what is to be said about them.

They are compared with the base before anything else is asked. On a branch that this clone made or claimed they apply
as they lie; on any other branch the base's apply in place of committed ones, file by file.
"""

import contextlib
import os
from dataclasses import replace
from pathlib import Path

from agent_sync import worktree as place
from agent_sync.context import Context
from agent_sync.gates.config.model import GateProject
from agent_sync.gates.config.project import CONFIG_NAME, find_project, load_project
from agent_sync.gates.definitions import definition_files
from agent_sync.gates.definitions.committed import Committed, tree_name
from agent_sync.gates.definitions.definition_files import DefinitionFiles
from agent_sync.gates.definitions.gate_base import GateBase, base_named, default_base, moved_base, possible_roots
from agent_sync.gates.definitions.made_here import is_own
from agent_sync.gates.memory import keeping
from agent_sync.gates.plan.repo import Repo
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import files, git_history, git_tree
from agent_sync.system.git_history import TreeEntry
from agent_sync.task.decision.outside_text import one_line
from agent_sync.worktree import GATE_DIR

MOST_LINES = 20
LONGEST = 200
KEPT = 5
_NEW = " new on this branch"
_COMPARED_BY_KEY = (f"{CONFIG_NAME}", "checks/", "reviews/")


@dataclass(frozen=True)
class GateDefinitions:
    """The project whose gates apply and where they are defined, and what a person should know about both."""

    root: Path | None
    # A copy of the base's definitions; None where those of the work tree apply.
    directory: Path | None = None
    changes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def news(self) -> tuple[str, ...]:
        """Everything a person should know."""
        listed = (f"gate definitions on this branch: {'; '.join(self.changes)}",) if self.changes else ()
        return (*listed, *self.remarks)

    @property
    def adds_only(self) -> bool:
        """Whether gates were added and none was changed, loosened or taken away."""
        return not self.remarks and all(line.startswith("added: ") or line.endswith(_NEW) for line in self.changes)


@dataclass(frozen=True)
class _Seen:
    """The repository as one look needs it: the base, the commit the work left it at, and HEAD."""

    context: Context
    committed: Committed
    base: GateBase
    left_at: str
    head: str

    def repo(self, root: Path) -> Repo:
        return Repo(self.context.git, self.context.place, root)

    def name(self, root: Path, commit: str) -> str:
        """Return the name of the definitions that a commit has."""
        return self.committed.name(commit, f"{self.repo(root).prefix}{GATE_DIR}")

    def at(self, root: Path, commit: str) -> DefinitionFiles:
        repo = self.repo(root)
        return definition_files.below(repo.prefix, definition_files.contents(repo, self.listed(root, commit)))

    def listed(self, root: Path, commit: str) -> dict[str, TreeEntry]:
        return definition_files.entries(self.repo(root), commit) if commit else {}


def gate_definitions(context: Context, start: str) -> GateDefinitions:
    """Look at the definitions for work in the directory `start`, and compare them with the base's."""
    top = Path(context.place.root).resolve()
    root = find_project(start or str(top), str(top))
    default = default_base(context.git)
    if default is None:
        return GateDefinitions(root)
    seen = _seen(context, root or top, default, possible_roots(start, top))
    base, repo = seen.base, seen.repo(top)
    theirs = next((one for one in possible_roots(start, top) if _config_name(seen, one)), None)
    if root is None and theirs is None:
        return GateDefinitions(None)
    roots = sorted({one for one in (root, theirs) if one}, key=lambda one: len(one.parts), reverse=True)
    remark = moved_base(context.git, base.ref)
    remarks = (remark,) if remark else ()
    if any(_has_other_commits(seen, one) for one in roots) and not is_own(context, repo, base):
        found = _of_base(seen, roots)
    else:
        lines = [line for one in roots for line in _changes_since(seen, one, seen.left_at)]
        found = GateDefinitions(root, changes=tuple(lines))
    settings = _settings(seen, top)
    return replace(found, changes=_shortened((*found.changes, *settings)), remarks=(*found.remarks, *remarks))


def _seen(context: Context, root: Path, default: GateBase, roots: list[Path]) -> _Seen:
    """Find the base and where the work left it; what commits have there is asked in one question."""
    git, top = context.git, Repo(context.git, context.place, Path(context.place.root).resolve())
    prefixes = dict.fromkeys(Repo(git, context.place, one).prefix for one in (root, *roots))
    paths = [f"{prefix}{name}" for prefix in prefixes for name in (GATE_DIR, place.GATE_CONFIG)]
    # The commits' own trees, at the empty path, are asked for later.
    committed = Committed(git, (*paths, place.SETTINGS_NAME, ""))
    head = top.head()
    committed.ask(default.commit, head, _left_at(top, default, head))
    prefix = Repo(git, context.place, root).prefix
    config = committed.content(default.commit, f"{prefix}{place.GATE_CONFIG}", root / place.GATE_CONFIG)
    base = base_named(git, default, config.decode(errors="surrogateescape"))
    return _Seen(context, committed, base, _left_at(top, base, head), head)


def _left_at(repo: Repo, base: GateBase, head: str) -> str:
    return (head and git_history.merge_base(repo.git, base.commit, head)) or base.commit


def _config_name(seen: _Seen, root: Path) -> str:
    return seen.committed.name(seen.base.commit, f"{seen.repo(root).prefix}{place.GATE_CONFIG}")


def _has_other_commits(seen: _Seen, root: Path) -> bool:
    """Tell whether what is committed here differs from the base's newest definitions."""
    return seen.name(root, seen.head) != seen.name(root, seen.base.commit)


def _changes_since(seen: _Seen, root: Path, commit: str) -> tuple[str, ...]:
    """Return how the definitions of the work tree differ from those of a commit."""
    directory = root / GATE_DIR
    now, name = definition_files.on_disk(directory), seen.name(root, commit)
    if name and not now.refused and tree_name(directory, now.contents, like=name) == name:
        return ()
    before = seen.at(root, commit)
    if not before.contents and CONFIG_NAME not in now.contents and seen.at(root, seen.base.commit).contents:
        # The work left the base before there were gates.
        return (f"{seen.base.name} has gates that this branch does not have",)
    if not now.refused and _plain(now) == _plain(before):
        return ()
    if not before.contents:
        where = seen.repo(root).prefix
        return (f"the gates{f' in {where}' if where else ''} are{_NEW}",)
    return _differences(seen, root, before, now)


def _differences(seen: _Seen, root: Path, before: DefinitionFiles, now: DefinitionFiles) -> tuple[str, ...]:
    from agent_sync.gates.definitions.compared import definition_changes

    old = load_project(root, _copy(seen.context, before))
    if CONFIG_NAME not in now.contents and not now.refused:
        lines = [line for line in definition_changes(old.project, GateProject(root)) if line.startswith("removed: ")]
        return (f"removed: {_path_from_top(seen, root, CONFIG_NAME)}, and with it every gate", *lines)
    new = load_project(root)
    if new.errors:
        return (f"the gate definitions cannot be used: {new.errors[0]}",)
    if old.errors:
        return (f"the gate definitions of {seen.base.name} cannot be used: {old.errors[0]}",)
    return (*definition_changes(old.project, new.project), *_other_files(seen, root, before, now))


def _other_files(seen: _Seen, root: Path, before: DefinitionFiles, now: DefinitionFiles) -> list[str]:
    """Return the files beside the definitions proper that differ, such as prompts and scripts."""
    old, new = _plain(before), _plain(now)
    names = sorted(
        name for name in {*old, *new} if not name.startswith(_COMPARED_BY_KEY) and old.get(name) != new.get(name)
    )
    return [f"changed: {_path_from_top(seen, root, name)}" for name in names]


def _path_from_top(seen: _Seen, root: Path, name: str) -> str:
    return f"{seen.repo(root).prefix}{GATE_DIR}/{name}"


def _plain(found: DefinitionFiles) -> dict[str, bytes]:
    """Return the contents with line ends as git keeps them."""
    return {name: content.replace(b"\r\n", b"\n") for name, content in found.contents.items()}


def _of_base(seen: _Seen, roots: list[Path]) -> GateDefinitions:
    """Return the base's definitions in place of committed ones that differ; what is edited here counts as it lies."""
    lines: list[str] = []
    chosen: GateDefinitions | None = None
    for root in roots:
        lines += _changes_since(seen, root, seen.base.commit)
        laid = _base_with_edits(seen, root)
        if chosen is None and CONFIG_NAME in laid.contents:
            chosen = GateDefinitions(root, _copy(seen.context, laid))
    remark = (
        f"this branch was not made or claimed in this clone, so the gate definitions of {seen.base.name} apply "
        "in place of those committed on it"
    )
    return replace(chosen or GateDefinitions(None), changes=tuple(lines), remarks=(remark,))


def _base_with_edits(seen: _Seen, root: Path) -> DefinitionFiles:
    """Lay what is edited or new here over the base's files."""
    prefix = f"{seen.repo(root).prefix}{GATE_DIR}/"
    committed = seen.listed(root, seen.head)
    edited = git_tree.edited_below(seen.context.git, prefix) if seen.head else frozenset()
    found = {f"{prefix}{name}": content for name, content in seen.at(root, seen.base.commit).contents.items()}
    for path in edited:
        found.pop(path, None)
    for name, content in definition_files.on_disk(root / GATE_DIR).contents.items():
        path = f"{prefix}{name}"
        if path in edited or not _is_committed(path, committed):
            found[path] = content
    return definition_files.below(seen.repo(root).prefix, found)


def _is_committed(path: str, committed: dict[str, TreeEntry]) -> bool:
    """Tell whether HEAD has a file, or something else in the place of one of its directories."""
    parts = path.split("/")
    return any("/".join(parts[:count]) in committed for count in range(1, len(parts) + 1))


def _copy(context: Context, definitions: DefinitionFiles) -> Path:
    """Keep definitions of a commit where they can be read like those of a work tree; return their `.gauntlet/`."""
    home = Path(context.place.state_dir).resolve() / place.GATE_DEFINITIONS
    target = home / definitions.digest[:32] / GATE_DIR
    files.private_directory(target)
    for name, content in definitions.contents.items():
        if not keeping.holds(target / name, content):
            files.private_directory((target / name).parent)
            files.write_atomic(target / name, content)
    with contextlib.suppress(OSError):
        os.utime(target.parent)
    keeping.prune(home, KEPT)
    return target


def _settings(seen: _Seen, top: Path) -> tuple[str, ...]:
    name = place.SETTINGS_NAME
    before = seen.committed.content(seen.left_at, name, top / name)
    try:
        now = files.read_plain(top / name) or b""
    except (files.NotPlain, OSError) as reason:
        return (f"{name} cannot be read: {reason}",)
    now = now.replace(b"\r\n", b"\n")
    if before == now:
        return ()
    from agent_sync.gates.definitions.gate_settings import settings_changes

    return settings_changes(before, now)


def _shortened(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines harmless and not too many: names in them come from the branch."""
    shown = [one_line(line, limit=LONGEST) for line in dict.fromkeys(lines)]
    more = [f"and {len(shown) - MOST_LINES} more"] if len(shown) > MOST_LINES else []
    return (*shown[:MOST_LINES], *more)
