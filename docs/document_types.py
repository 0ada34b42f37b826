"""Lists the types of GitHub's GraphQL interface that our documents use, as the local GitHub's schema knows them."""

from importlib.resources import files
from typing import Any

from graphql import TypeInfo, TypeInfoVisitor, Visitor, build_schema, get_named_type, parse, visit

from agent_sync.gateway.documents import documents


class _Types(Visitor):
    """Collects the names of all types that a visit comes by."""

    def __init__(self, info: TypeInfo) -> None:
        super().__init__()
        self.info = info
        self.names: set[str] = set()

    def enter(self, *_: Any) -> None:
        """Note the types at one place."""
        met = (self.info.get_type(), self.info.get_parent_type(), self.info.get_input_type())
        self.names |= {get_named_type(one).name for one in met if one}


def document_types() -> str:
    """Return the names of all types, one a line."""
    schema = build_schema((files("agent_sync.emulator") / "schema.graphql").read_text("utf-8"))
    names: set[str] = set()
    for text in documents().values():
        info = TypeInfo(schema)
        types = _Types(info)
        visit(parse(text), TypeInfoVisitor(info, types))
        names |= types.names
    return "".join(f"{name}\n" for name in sorted(names))
