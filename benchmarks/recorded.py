"""What the script and the rival took, as multiples recorded in `recorded.toml`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("recorded.toml")


@dataclass(frozen=True)
class Recorded:
    """One program that was measured once: what it is, when and how, and its multiples by name."""

    name: str
    when: str
    versions: str
    how: str
    multiples: dict[str, Any]

    def one(self, kind: str, name: str) -> float | None:
        """Return a multiple, if there is one."""
        found = self.multiples.get(kind, {}).get(name)
        return None if found is None else float(found)

    def series(self, kind: str, name: str, length: int) -> tuple[float | None, ...]:
        """Return multiples at several points, as many as were measured now."""
        found = self.multiples.get(kind, {}).get(name, ())
        return tuple(found[:length])

    def step(self, name: str, field: str) -> float | None:
        """Return one figure of a step."""
        found = self.multiples.get("steps", {}).get(name, {}).get(field)
        return None if found is None else float(found)


def _recorded(values: dict[str, Any]) -> Recorded:
    kinds = {name: table for name, table in values.items() if isinstance(table, dict)}
    return Recorded(values["name"], values["when"], values["with"], values["how"], kinds)


_READ = tomllib.loads(FILE.read_text(encoding="utf-8"))
SCRIPT, RIVAL = _recorded(_READ["script"]), _recorded(_READ["rival"])
