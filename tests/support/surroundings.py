"""An environment that says nothing of the machine and of the person who runs the tests."""

import os
from collections.abc import Iterable
from pathlib import Path

_FOREIGN = ("AGENT_SYNC_", "MOLTNET_", "CLAUDE", "GIT_", "GH_", "GITHUB_", "XDG_", "ATLAS_")


def foreign_names(names: Iterable[str]) -> list[str]:
    """Return the variables that a test must not see."""
    # In a CI the gate looks at other changes, and some tests run in one.
    return [name for name in names if name.startswith(_FOREIGN) or name == "CI"]


def plain_values(home: Path) -> dict[str, str]:
    """Return the variables that a test has in their place."""
    people = {f"GIT_{role}_NAME": "Tester" for role in ("AUTHOR", "COMMITTER")}
    people |= {f"GIT_{role}_EMAIL": "tester@example.invalid" for role in ("AUTHOR", "COMMITTER")}
    return people | {"HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
