"""Merges our entries into the text of a `.claude/settings.json`, and takes them out of one."""

from collections.abc import Iterator
from typing import Any

from agent_sync.errors import BadConfig
from agent_sync.setup.install import entries
from agent_sync.setup.install.edits import Edit, inserted
from agent_sync.setup.install.insert import added, set_member
from agent_sync.setup.install.jsonc import BOM, Node, NotJson, read
from agent_sync.setup.install.remove import without

# Where our permission rules stand, and which they are.
RULES = ((("permissions", "allow"), entries.ALLOWED), (("permissions", "deny"), entries.DENIED))


def merged(text: str, *, file: str) -> list[Edit]:
    """Return the edits that bring everything of ours into a text that has nothing of it yet."""
    edits = [Edit(len(text), "{}\n")] if is_blank(text) else []
    text = inserted(text, edits)
    for path, item in _wanted():
        root = settings_in(text, file=file)
        if item in _list_at(root, path, file=file):
            continue
        text = _grown(text, added(text, root, path, item), edits)
    root = settings_in(text, file=file)
    if root.member("statusLine") is None:
        _grown(text, set_member(text, root, root, key="statusLine", value=entries.STATUS_LINE), edits)
    return edits


def is_complete(text: str, *, file: str) -> bool:
    """Tell whether all our entries are there as they should be, each once."""
    if is_blank(text):
        return False
    root = settings_in(text, file=file)
    has_all = all(item in _list_at(root, path, file=file) for path, item in _wanted())
    count = sum(1 for _ in our_handlers(root))
    line = root.member("statusLine")
    line_is_current = line is not None and (
        line.value == entries.STATUS_LINE or not entries.is_our_status_line(line.value)
    )
    return has_all and line_is_current and count == len(entries.HOOKS)


def cleared(text: str, *, file: str, with_rules: bool = True) -> str:
    """Return the text without our entries, recognised by what they run, and without what that leaves empty.

    A permission rule does not show who wrote it; where entries are only to be renewed, rules stay as they are.
    """
    while not is_blank(text):
        root = settings_in(text, file=file)
        found = _next_of_ours(root, with_rules=with_rules)
        if found is None:
            break
        text = _cut(text, root, found)
    return text


def is_blank(text: str) -> bool:
    """Tell whether a file holds nothing at all."""
    return not text.strip(BOM + " \t\r\n")


def settings_in(text: str, *, file: str) -> Node:
    """Return the settings as they stand in the text, or say what is wrong with the file."""
    try:
        root = read(text)
    except NotJson as error:
        raise BadConfig(f"{file} is not JSON ({error}). Nothing was written.", helps=f"correct {file}") from error
    if not isinstance(root.value, dict):
        raise BadConfig(f"{file} holds no JSON object. Nothing was written.", helps=f"correct {file}")
    return root


def our_handlers(root: Node) -> Iterator[tuple[str, int, int]]:
    """Return every handler that runs a hook of ours: its event, its group's place and its own."""
    hooks = root.member("hooks")
    for event in hooks.elements if hooks else ():
        if hooks is None or event.key is None or hooks.member(event.key) is not event.node:
            continue
        for group, entry in enumerate(event.node.elements):
            handlers = entry.node.member("hooks")
            for place, handler in enumerate(handlers.elements if handlers else ()):
                if entries.hook_of(handler.node.value):
                    yield event.key, group, place


def _grown(text: str, more: list[Edit], edits: list[Edit]) -> str:
    edits += more
    return inserted(text, more)


def _wanted() -> list[tuple[tuple[str, ...], Any]]:
    hooks = [(("hooks", event), group) for event, group in entries.HOOKS.items()]
    return [*hooks, *((path, rule) for path, rules in RULES for rule in rules)]


def _list_at(root: Node, path: tuple[str, ...], *, file: str) -> list[Any]:
    node: Node | None = root
    for depth, key in enumerate(path):
        node = node.member(key) if node else None
        wanted = list if depth == len(path) - 1 else dict
        if node is not None and not isinstance(node.value, wanted):
            shown = ".".join(path[: depth + 1])
            message = f"{file}: {shown} is not {'a list' if wanted is list else 'an object'}. Nothing was written."
            raise BadConfig(message, helps=f"correct {file}")
    return list(node.value) if node else []


def _next_of_ours(root: Node, *, with_rules: bool) -> tuple[str | int, ...] | None:
    """Return the path to the next entry of ours that is still there."""
    for event, group, place in our_handlers(root):
        return ("hooks", event, group, "hooks", place)
    for path, rules in RULES if with_rules else ():
        listed = (root.member(path[0]) or root).member(path[1])
        for place, rule in enumerate(listed.elements if listed else ()):
            if rule.node.value in rules:
                return (*path, place)
    line = root.member("statusLine")
    return ("statusLine",) if line and entries.is_our_status_line(line.value) else None


def _cut(text: str, root: Node, path: tuple[str | int, ...]) -> str:
    """Cut the entry at `path`, or the outermost thing around it that would be empty without it."""
    nodes, places = [root], []
    for step in path:
        place = step if isinstance(step, int) else _place_of(nodes[-1], step)
        places.append(place)
        nodes.append(nodes[-1].elements[place].node)
    depth = len(places) - 1
    while depth and _is_only_that(nodes[depth]):
        depth -= 1
    return without(text, nodes[depth], places[depth])


def _place_of(node: Node, key: str) -> int:
    return max(place for place, element in enumerate(node.elements) if element.key == key)


def _is_only_that(node: Node) -> bool:
    """Tell whether nothing of worth stays once its one entry is gone; a group's matcher is worth nothing alone."""
    if isinstance(node.value, dict) and set(node.value) == {"matcher", "hooks"}:
        return True
    return len(node.elements) == 1
