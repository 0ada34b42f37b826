"""GraphQL errors in GitHub's shape."""

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
        return shaped(error, WORDS.get(original.kind, original.kind.value), original.message)
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
    """Put an error found before anything ran into GitHub's shape; it has no type."""
    return {"locations": places(error), "message": error.message}


def places(error: GraphQLError) -> list[dict[str, int]]:
    """Return where in the document an error is."""
    return [{"line": place.line, "column": place.column} for place in error.locations or ()]
