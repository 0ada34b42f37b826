"""GraphQL errors in GitHub's shape."""

import re
from typing import Any

from graphql import GraphQLError

from agent_sync.emulator.world.refusal import Kind, Refused

# GitHub has no error types of its own for these two.
WORDS = {Kind.NOT_MERGEABLE: "UNPROCESSABLE", Kind.CONFLICT: "UNPROCESSABLE"}


def failure(kind: str, message: str) -> GraphQLError:
    """Make an error with one of GitHub's types."""
    return GraphQLError(message, extensions={"type": kind})


def rendered(error: GraphQLError) -> dict[str, Any]:
    """Put an error of a field into GitHub's words; a fault of our own is raised, never hidden."""
    original = error.original_error
    if isinstance(original, Refused):
        body = shaped(error, WORDS.get(original.kind, original.kind.value), original.message)
        return body | ({"extensions": dict(original.extensions)} if original.extensions else {})
    if isinstance(original, GraphQLError):
        return shaped(error, str((original.extensions or {}).get("type", "INTERNAL")), original.message)
    if original is not None:
        raise original
    return shaped(error, str((error.extensions or {}).get("type", "")), error.message)


def shaped(error: GraphQLError, kind: str, message: str) -> dict[str, Any]:
    """Return the body of one error; its keys are in GitHub's order."""
    body: dict[str, Any] = {"type": kind} if kind else {}
    if error.path is not None:
        body["path"] = list(error.path)
    body["locations"] = places(error)
    body["message"] = message
    return body


def invalid_document(error: GraphQLError) -> dict[str, Any]:
    """Put an error found before anything ran into GitHub's shape; it has a code instead of a type."""
    for pattern, read in INVALID:
        found = pattern.match(error.message)
        if found:
            extensions, message = read(found)
            return {"extensions": extensions, "locations": places(error), "message": message}
    return {"locations": places(error), "message": error.message}


def _undefined_field(found: re.Match[str]) -> tuple[dict[str, str], str]:
    name, kind = found["name"], found["kind"]
    message = f"Field '{name}' doesn't exist on type '{kind}'"
    return {"code": "undefinedField", "typeName": kind, "fieldName": name}, message


def _unknown_argument(found: re.Match[str]) -> tuple[dict[str, str], str]:
    name, field = found["name"], found["field"]
    message = f"Field '{field}' doesn't accept argument '{name}'"
    return {"code": "argumentNotAccepted", "typeName": "Field", "name": field, "argumentName": name}, message


# Clients tell an older server by these two, so they have GitHub's codes and words.
INVALID = (
    (re.compile(r"Cannot query field '(?P<name>\w+)' on type '(?P<kind>\w+)'"), _undefined_field),
    (re.compile(r"Unknown argument '(?P<name>\w+)' on field '\w+\.(?P<field>\w+)'"), _unknown_argument),
)


def places(error: GraphQLError) -> list[dict[str, int]]:
    """Return where in the document an error is."""
    return [{"line": place.line, "column": place.column} for place in error.locations or ()]
