"""The schema with its resolvers, built once per process."""

import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSchema,
    GraphQLUnionType,
    build_schema,
    get_named_type,
)

from agent_sync.emulator.graphql.connections import BOUNDS, check_bounds, page
from agent_sync.emulator.graphql.mutations import MUTATIONS
from agent_sync.emulator.graphql.ordering import ordered
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.resolvers import COMMON, RESOLVERS, SCALARS
from agent_sync.emulator.graphql.types import type_name
from agent_sync.emulator.operations.rights.access import require_writing_token
from agent_sync.emulator.operations.rights.permissions import mutation_areas, require_permission

Resolve = Callable[..., Any]
WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@cache
def schema() -> GraphQLSchema:
    """Build the schema and give every field its resolver."""
    built = build_schema((files("agent_sync.emulator") / "schema.graphql").read_text("utf-8"))
    for kind in built.type_map.values():
        if isinstance(kind, GraphQLInterfaceType | GraphQLUnionType):
            kind.resolve_type = lambda value, _info, _type: type_name(value)
        elif isinstance(kind, GraphQLObjectType) and not kind.name.startswith("__"):
            _bind(kind)
    for name, serialize in SCALARS.items():
        scalar: Any = built.type_map[name]
        scalar.serialize = scalar.coerce_output_value = serialize
    return built


def _bind(kind: GraphQLObjectType) -> None:
    for name, field in kind.fields.items():
        if kind.name == "Mutation":
            field.resolve = _mutation(MUTATIONS[name])
        else:
            field.resolve = _resolver(reader(kind.name, name), field)


def reader(kind: str, name: str) -> Resolve:
    """Return what reads a field: its own resolver, the common one of that name, or its attribute."""
    return RESOLVERS.get(kind, {}).get(name) or COMMON.get(name) or attribute(name)


def _mutation(perform: Resolve) -> Resolve:
    def resolve(_root: None, info: "GraphQLResolveInfo[Request]", *, input: dict[str, Any]) -> Any:  # noqa: A002 - GitHub's name
        require_writing_token(info.context.viewer)
        require_permission(info.context.viewer, mutation_areas(info.field_name), "write")
        return {"clientMutationId": input.get("clientMutationId")} | perform(info.context, **arguments(input))

    return resolve


def _resolver(read: Resolve, field: GraphQLField) -> Resolve:
    is_connection = get_named_type(field.type).name.endswith("Connection")

    def resolve(source: Any, info: "GraphQLResolveInfo[Request]", **given: Any) -> Any:
        return read(source, info.context, **arguments(given))

    def resolve_page(source: Any, info: "GraphQLResolveInfo[Request]", **given: Any) -> Any:
        bounds = {name: given.pop(name) for name in BOUNDS if name in given}
        check_bounds(bounds, info)
        order = given.pop("orderBy", None)
        found = read(source, info.context, **arguments(given))
        return None if found is None else page(ordered(found, order), bounds)

    return resolve_page if is_connection else resolve


def attribute(name: str) -> Resolve:
    """Return the resolver of a field that is simply an attribute, or an entry, of its object."""
    snake = snake_case(name)

    def read(source: Any, _request: Any) -> Any:
        return source[name] if isinstance(source, dict) else getattr(source, snake)

    return read


def arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Turn GraphQL's argument names into Python's, without the ones only echoed."""
    return {snake_case(name): value for name, value in given.items() if name != "clientMutationId"}


def snake_case(name: str) -> str:
    """Turn `isRequired` into `is_required`."""
    return WORD_START.sub("_", name).lower()
