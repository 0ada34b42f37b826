"""Explains what is wrong with a settings file: which file, which key, and the nearest key that is known."""

from collections.abc import Mapping

from agent_sync.errors import BadConfig
from agent_sync.plain.fields import Refused
from agent_sync.settings.tables import Settings, Template


def settings_error(error: Refused, sources: Mapping[str, str]) -> BadConfig:
    """Return the error with every problem by name; `sources` says which file or variable set a key."""
    found = []
    for detail in error.details:
        where = detail["loc"]
        key = ".".join(str(part) for part in where[:2])
        source = sources.get(key) or sources.get(str(where[0])) or next(iter(sources.values()), "settings")
        found.append((source, _problem(where, detail["msg"], detail["type"])))
    files = dict.fromkeys(source for source, _ in found)
    lines = [f"{file}: " + "; ".join(text for source, text in found if source == file) for file in files]
    return BadConfig("; ".join(lines) + ".", helps="agent-sync doctor")


def nearest(name: str, known: list[str]) -> str:
    """Return what was perhaps meant by a name that is not known."""
    import difflib

    close = difflib.get_close_matches(name[:200], known, n=1, cutoff=0.5)
    return f" Did you mean {close[0]}?" if close else f" Known: {', '.join(sorted(known))}."


def _problem(where: tuple[int | str, ...], message: str, kind: str) -> str:
    name = ".".join(str(part)[:60] for part in where)
    if kind != "extra_forbidden":
        return f"{name}: {message}"
    section = Settings.model_fields[str(where[0])].annotation if len(where) > 1 else Settings
    section = Template if where[0] == "templates" else section
    known = list(section.model_fields)
    return f"{name} is not a setting.{nearest(str(where[-1]), known)}"
