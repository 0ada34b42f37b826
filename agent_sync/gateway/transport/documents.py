"""Finds the GraphQL documents that are sent, each in a file of its own, with the fragments they spread."""

import re
from functools import cache
from importlib.resources import files

_SPREAD = re.compile(r"\.\.\.([A-Z]\w*)")


@cache
def document(name: str) -> str:
    """Return one operation and every fragment it spreads, directly or through another one."""
    folder = files("agent_sync.gateway") / "queries"
    texts = [(folder / f"{name}.graphql").read_text("utf-8")]
    known: set[str] = set()
    for text in texts:
        for fragment in dict.fromkeys(_SPREAD.findall(text)):
            if fragment not in known:
                known.add(fragment)
                texts.append((folder / "fragments" / f"{fragment}.graphql").read_text("utf-8"))
    return "\n".join(texts)
