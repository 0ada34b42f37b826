"""A GraphQL answer: what it holds, and what is wrong with which part of it."""

from dataclasses import field
from typing import Any

from agent_sync.lazy_dataclasses import dataclass

Json = dict[str, Any]
Path = tuple[str, ...]

TOO_HEAVY = "RESOURCE_LIMITS_EXCEEDED"
# Said by servers that do not know a field or an argument yet.
_UNKNOWN_CODES = frozenset({"undefinedField", "undefinedType", "argumentNotAccepted"})
_UNKNOWN_WORDS = (
    "doesn't exist on type",
    "doesn't accept argument",
    "No such type",
    "Cannot query field",
    "Unknown argument",
    "Unknown type",
)


@dataclass(frozen=True)
class AnswerError:
    """One error of an answer, and the part of the document it is about."""

    kind: str
    message: str
    path: Path = ()
    code: str = ""
    # Where a token is let into an organisation that demands single sign-on, as the answer's header says it.
    sign_on: str = ""

    @property
    def is_unknown_to_server(self) -> bool:
        """Whether the server is too old for the document."""
        return self.code in _UNKNOWN_CODES or any(words in self.message for words in _UNKNOWN_WORDS)

    def is_within(self, *place: str) -> bool:
        """Tell whether it is about this place or something in it."""
        return self.path[: len(place)] == place


@dataclass(frozen=True)
class GraphQLAnswer:
    """Data and errors side by side: an answer with errors may still hold what was asked."""

    data: Json = field(default_factory=dict)
    parts: tuple[AnswerError, ...] = ()

    def at(self, *place: str) -> Any:
        """Return what is at a place; None where anything on the way is missing."""
        found: Any = self.data
        for step in place:
            if isinstance(found, list):
                found = found[int(step)] if step.isdecimal() and int(step) < len(found) else None
            else:
                found = found.get(step) if isinstance(found, dict) else None
        return found

    def nodes(self, *place: str) -> list[Json]:
        """Return the nodes of the connection at a place, without the ones that could not be seen."""
        return nodes_of(self.at(*place))

    def trouble_at(self, *place: str) -> AnswerError | None:
        """Return the first error about this place or something in it."""
        return next((part for part in self.parts if part.is_within(*place)), None)

    def trouble_outside(self, *optional: Path) -> AnswerError | None:
        """Return the first error that is not about one of the optional places, or has taken more than that along.

        What may not be null makes what it is in null: then more is missing than may be.
        """
        return next((part for part in self.parts if not any(self._is_only_at(part, place) for place in optional)), None)

    def _is_only_at(self, part: AnswerError, place: Path) -> bool:
        return part.is_within(*place) and (len(place) == 1 or self.at(*place[:-1]) is not None)

    @property
    def too_heavy(self) -> AnswerError | None:
        """The error that says that this was too much for one question, wherever it struck."""
        return next((part for part in self.parts if part.kind == TOO_HEAVY), None)

    @property
    def is_empty(self) -> bool:
        """Whether nothing of what was asked is there."""
        return not any(self.data.values())

    @property
    def lacks_scope(self) -> bool:
        """Whether nothing came because the token does not reach some part of the document."""
        return self.is_empty and any(part.kind == "INSUFFICIENT_SCOPES" for part in self.parts)

    @property
    def was_turned_away(self) -> bool:
        """Whether the document was refused for its scopes before any part of it ran."""
        return not self.data and self.lacks_scope

    @property
    def is_unknown_to_server(self) -> bool:
        """Whether the server is too old for the document."""
        return not self.data and any(part.is_unknown_to_server for part in self.parts)


def nodes_of(connection: Any) -> list[Json]:
    """Return the nodes of a connection that could be seen."""
    nodes = connection.get("nodes") if isinstance(connection, dict) else None
    return [node for node in nodes or () if isinstance(node, dict)]


def answer_of(data: Any, errors: Any, *, sign_on: str = "") -> GraphQLAnswer:
    """Read a GraphQL body's two halves, whatever an odd server puts there; `sign_on` is the header about that."""
    listed = errors if isinstance(errors, list) else []
    return GraphQLAnswer(data if isinstance(data, dict) else {}, tuple(_part(error, sign_on) for error in listed))


def _part(error: Any, sign_on: str) -> AnswerError:
    entry = error if isinstance(error, dict) else {"message": str(error)}
    extensions = entry.get("extensions")
    code = entry.get("code") or (extensions.get("code") if isinstance(extensions, dict) else "")
    path = entry.get("path")
    return AnswerError(
        kind=str(entry.get("type") or ""),
        message=str(entry.get("message") or "no reason given"),
        path=tuple(str(step) for step in path) if isinstance(path, list) else (),
        code=str(code or ""),
        sign_on=sign_on if isinstance(extensions, dict) and extensions.get("saml_failure") else "",
    )
