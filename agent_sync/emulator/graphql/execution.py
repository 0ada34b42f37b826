"""Runs one GraphQL request against the world."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLError,
    OperationDefinitionNode,
    OverlappingFieldsCanBeMergedRule,
    execute_sync,
    get_operation_ast,
    parse,
    specified_rules,
    validate,
    value_from_ast_untyped,
)

from agent_sync.emulator.graphql.cost import Cost, cost_of
from agent_sync.emulator.graphql.failures import invalid_document, rendered
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.schema import schema
from agent_sync.emulator.graphql.scopes import missing_scopes
from agent_sync.emulator.graphql.selection import Selected, Walk
from agent_sync.emulator.world.people import Viewer
from agent_sync.emulator.world.world import World

Answer = dict[str, Any]

# GitHub does not apply this rule: its own command line sends documents that break it.
RULES = tuple(rule for rule in specified_rules if rule is not OverlappingFieldsCanBeMergedRule)


@dataclass(frozen=True)
class Call:
    """A checked document, the operation of it that is to run, and its variables."""

    document: DocumentNode
    operation: OperationDefinitionNode
    variables: dict[str, Any]

    def fields(self) -> list[Selected]:
        """Return every field that will run."""
        defaults = {
            entry.variable.name.value: value_from_ast_untyped(entry.default_value)
            for entry in self.operation.variable_definitions or ()
            if entry.default_value is not None
        }
        return list(Walk(schema(), self.document, defaults | self.variables).fields(self.operation))


class UnanswerableError(Exception):
    """Nothing of the request will run; `answer` says why."""

    def __init__(self, *errors: dict[str, Any], **more: Any) -> None:
        super().__init__(errors)
        self.answer: Answer = more | {"errors": list(errors)}


def execute(world: World, viewer: Viewer, body: dict[str, Any], base_url: str) -> Answer:
    """Answer a request body; `base_url` is the root under which GitHub's pages would be read."""
    try:
        call = called(body)
        cost = allowed(call, viewer, world.most_nodes)
    except UnanswerableError as problem:
        return problem.answer
    return _answer(call, Request(world, viewer, base_url, cost.points, cost.nodes))


def called(body: dict[str, Any]) -> Call:
    """Read a request body, or refuse it."""
    text, variables = body.get("query"), body.get("variables") or {}
    if not isinstance(text, str) or not text.strip():
        raise UnanswerableError({"message": "A query attribute must be specified and must be a string."})
    if not isinstance(variables, dict):
        raise UnanswerableError({"message": "Variables are invalid JSON."})
    document, errors = checked(text)
    if document is None:
        raise UnanswerableError(*map(invalid_document, errors))
    operation = get_operation_ast(document, body.get("operationName") or None)
    if operation is None:
        raise UnanswerableError({"message": "An operation name is required"})
    return Call(document, operation, variables)


def allowed(call: Call, viewer: Viewer, most_nodes: int | None) -> Cost:
    """Return what a request costs, or refuse one that asks for too much or for what the token may not see."""
    fields = call.fields()
    try:
        cost = cost_of(fields, most_nodes)
    except GraphQLError as error:
        raise UnanswerableError(rendered(error), data=None) from error
    refused = missing_scopes(fields, viewer)
    if refused:
        raise UnanswerableError(*refused, data=None)
    return cost


@lru_cache(maxsize=256)
def checked(text: str) -> tuple[DocumentNode | None, tuple[GraphQLError, ...]]:
    """Parse and validate a document; the same text is checked once per process."""
    try:
        document = parse(text)
    except GraphQLError as error:
        return None, (error,)
    errors = tuple(validate(schema(), document, RULES))
    return (None, errors) if errors else (document, ())


def _answer(call: Call, request: Request) -> Answer:
    name = call.operation.name.value if call.operation.name else None
    with request.world.lock:
        result = execute_sync(
            schema(),
            call.document,
            variable_values=call.variables,
            operation_name=name,
            context_value=request,
        )
    errors = result.errors or []
    if result.data is None and all(error.path is None for error in errors):
        return {"errors": [invalid_document(error) for error in errors]}
    answer: Answer = {"data": result.data}
    return answer | {"errors": [rendered(error) for error in errors]} if errors else answer
