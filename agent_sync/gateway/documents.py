"""Asks a server which of our documents it understands, in one request: for the types alone that they use."""

from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_sync.gateway.many_cards import cards_operation
from agent_sync.gateway.pulls.claim_polls import claims_operation
from agent_sync.gateway.transport.answer import Json
from agent_sync.gateway.transport.line import Call, Line, document, with_fragments
from agent_sync.task.decision.claims_seen import ClaimAsked

if TYPE_CHECKING:
    from graphql import GraphQLSchema

# A claim whose pull request is known, and one that is looked for by its branch.
_CLAIMS = (ClaimAsked(1, 2), ClaimAsked(3, branch="x"))
# What is asked instead where a server does not know all of a document, in this order.
PLAINER = {
    "task": ("task_plain",),
    "poll": ("poll_plain",),
    "claims": ("claims_plain",),
    "board": ("board_filtered", "board_page_plain"),
    "board_filtered": ("board_page_plain",),
    "board_columns": ("board_page", "board_page_plain"),
    "board_page": ("board_page_plain",),
}
_BOOLEAN = {"kind": "NON_NULL", "name": None, "ofType": {"kind": "SCALAR", "name": "Boolean"}}
_PLACES = ["FIELD", "FRAGMENT_SPREAD", "INLINE_FRAGMENT"]
# Every server has these two, by GraphQL's own rules.
_DIRECTIVES = [
    {"name": name, "locations": _PLACES, "args": [{"name": "if", "type": _BOOLEAN, "defaultValue": None}]}
    for name in ("include", "skip")
]


class UnknownDocument(NamedTuple):
    """A document that a server does not understand, and what in it."""

    name: str
    reasons: tuple[str, ...]


def unknown_documents(line: Line) -> tuple[UnknownDocument, ...] | None:
    """Return the documents that a server does not understand; None where it does not tell."""
    call = Call("", {}, "asking what the server understands", operation=types_operation())
    types = [found for found in line.send(call).data.values() if isinstance(found, dict)]
    return unknown_in(types) if any(found.get("name") == "Query" for found in types) else None


def unknown_in(types: Sequence[Json]) -> tuple[UnknownDocument, ...]:
    """Return the documents that do not fit the types of a server."""
    from graphql import parse, validate

    schema = _schema(types)
    errors = {name: validate(schema, parse(text)) for name, text in documents().items()}
    return tuple(
        UnknownDocument(name, tuple(dict.fromkeys(_reason(error.message) for error in found)))
        for name, found in errors.items()
        if found
    )


def documents() -> dict[str, str]:
    """Return the text of every document that is sent, those included that are made for one call."""
    folder = files("agent_sync.gateway") / "queries"
    names = sorted(entry.name.removesuffix(".graphql") for entry in folder.iterdir() if entry.is_file())
    made = {
        "claims": claims_operation(_CLAIMS),
        "claims_plain": claims_operation(_CLAIMS, "ClaimedPullPlainly"),
        "cards": cards_operation([1]),
    }
    return {name: document(name) for name in names} | {name: with_fragments(text) for name, text in made.items()}


def types_operation() -> str:
    """Return the question for every type that a document uses."""
    names = (files("agent_sync.gateway") / "document_types.txt").read_text("utf-8").split()
    fields = "\n".join(f'  {name}: __type(name: "{name}") {{ ...KnownType }}' for name in names)
    return f"query Types {{\n{fields}\n}}\n"


def _schema(types: Sequence[Json]) -> "GraphQLSchema":
    """Return as much of the server's schema as was asked for; a field of any other type is none of ours."""
    from graphql import build_client_schema

    known = frozenset(str(found["name"]) for found in types)
    values: Any = {
        "queryType": {"name": "Query"},
        "mutationType": {"name": "Mutation"} if "Mutation" in known else None,
        "types": [_within(found, known) for found in types],
        "directives": _DIRECTIVES,
    }
    return build_client_schema({"__schema": values}, assume_valid=True)


def _within(found: Json, known: frozenset[str]) -> Json:
    fields = [field | {"args": _of_types(field.get("args"), known)} for field in _of_types(found.get("fields"), known)]
    kinds = {key: [one for one in found.get(key) or () if one["name"] in known] for key in _KINDS}
    return found | kinds | {"fields": fields, "inputFields": _of_types(found.get("inputFields"), known)}


_KINDS = ("interfaces", "possibleTypes")


def _of_types(fields: Iterable[Json] | None, known: frozenset[str]) -> list[Json]:
    return [field for field in fields or () if _named(field["type"]) in known]


def _named(kind: Json) -> str:
    """Return the name of a type without its lists and exclamation marks."""
    while kind.get("ofType"):
        kind = kind["ofType"]
    return str(kind.get("name"))


def _reason(message: str) -> str:
    return message.partition(" Did you mean")[0].rstrip(".")
