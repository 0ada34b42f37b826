"""Merges our entries into the text of a `.claude/settings.json`, and takes them out of one."""

from collections.abc import Iterator
from typing import Any

from agent_sync.errors import BadConfig
from agent_sync.setup.install import entries
from agent_sync.setup.install.edits import Edit, apply_edits
from agent_sync.setup.install.insert import append_edits, set_member
from agent_sync.setup.install.jsonc import BOM, JsonNode, NotJson, read
from agent_sync.setup.install.remove import without


def missing_edits(text: str, *, file: str, atlas_home: str = "", with_hooks: bool = True) -> list[Edit]:
    """Return the edits that bring everything of ours into a text that has nothing of it yet."""
    edits = [Edit(len(text), "{}\n")] if is_blank(text) else []
    text = apply_edits(text, edits)
    for path, item in _wanted_entries(atlas_home, with_hooks=with_hooks):
        root = settings_in(text, file=file)
        if item in _list_at(root, path, file=file):
            continue
        text = _grown(text, append_edits(text, root, path, item), edits)
    root = settings_in(text, file=file)
    if root.member("statusLine") is None:
        _grown(text, set_member(text, root, root, key="statusLine", value=entries.STATUS_LINE), edits)
    return edits


def is_complete(text: str, *, file: str, atlas_home: str = "", with_hooks: bool = True) -> bool:
    """Tell whether all our entries are there as they should be, each once."""
    if is_blank(text):
        return False
    root = settings_in(text, file=file)
    wanted = _wanted_entries(atlas_home, with_hooks=with_hooks)
    has_all = all(item in _list_at(root, path, file=file) for path, item in wanted)
    count = sum(1 for _ in our_handlers(root))
    line = root.member("statusLine")
    line_is_current = line is not None and (
        line.value == entries.STATUS_LINE or not entries.is_our_status_line(line.value)
    )
    return has_all and line_is_current and count == (len(entries.HOOKS) if with_hooks else 0)


def has_hooks(text: str, *, file: str) -> bool:
    """Tell whether any hook of ours is there."""
    return not is_blank(text) and any(our_handlers(settings_in(text, file=file)))


def without_ours(text: str, *, file: str, with_rules: bool = True, atlas_home: str = "") -> str:
    """Return the text without our entries, recognised by what they run, and without what that leaves empty.

    A permission rule does not show who wrote it; where entries are only to be renewed, rules stay as they are.
    """
    while not is_blank(text):
        root = settings_in(text, file=file)
        found = _next_of_ours(root, entries.rules(atlas_home) if with_rules else ())
        if found is None:
            break
        text = _cut_entry(text, root, found)
    return text


def is_blank(text: str) -> bool:
    """Tell whether a file holds nothing at all."""
    return not text.strip(BOM + " \t\r\n")


def settings_in(text: str, *, file: str) -> JsonNode:
    """Return the settings as they stand in the text, or say what is wrong with the file."""
    try:
        root = read(text)
    except NotJson as error:
        raise BadConfig(f"{file} is not JSON ({error}). Nothing was written.", helps=f"correct {file}") from error
    if not isinstance(root.value, dict):
        raise BadConfig(f"{file} holds no JSON object. Nothing was written.", helps=f"correct {file}")
    return root


def our_handlers(root: JsonNode) -> Iterator[tuple[str, int, int]]:
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
    return apply_edits(text, more)


def _wanted_entries(atlas_home: str, *, with_hooks: bool) -> list[tuple[tuple[str, ...], Any]]:
    hooks = [(("hooks", event), group) for event, group in entries.HOOKS.items()] if with_hooks else []
    return [*hooks, *((path, rule) for path, listed in entries.rules(atlas_home) for rule in listed)]


def _list_at(root: JsonNode, path: tuple[str, ...], *, file: str) -> list[Any]:
    node: JsonNode | None = root
    for depth, key in enumerate(path):
        node = node.member(key) if node else None
        wanted = list if depth == len(path) - 1 else dict
        if node is not None and not isinstance(node.value, wanted):
            shown = ".".join(path[: depth + 1])
            message = f"{file}: {shown} is not {'a list' if wanted is list else 'an object'}. Nothing was written."
            raise BadConfig(message, helps=f"correct {file}")
    return list(node.value) if node else []


def _next_of_ours(
    root: JsonNode, ours: tuple[tuple[tuple[str, str], tuple[str, ...]], ...]
) -> tuple[str | int, ...] | None:
    """Return the path to the next entry of ours that is still there."""
    for event, group, place in our_handlers(root):
        return ("hooks", event, group, "hooks", place)
    for path, rules in ours:
        listed = (root.member(path[0]) or root).member(path[1])
        for place, rule in enumerate(listed.elements if listed else ()):
            if rule.node.value in rules:
                return (*path, place)
    line = root.member("statusLine")
    return ("statusLine",) if line and entries.is_our_status_line(line.value) else None


def _cut_entry(text: str, root: JsonNode, path: tuple[str | int, ...]) -> str:
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


def _place_of(node: JsonNode, key: str) -> int:
    return max(place for place, element in enumerate(node.elements) if element.key == key)


def _is_only_that(node: JsonNode) -> bool:
    """Tell whether nothing of worth stays once its one entry is gone; a group's matcher is worth nothing alone."""
    if isinstance(node.value, dict) and set(node.value) == {"matcher", "hooks"}:
        return True
    return len(node.elements) == 1
