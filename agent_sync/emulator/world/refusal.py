"""The one error of the world: what GitHub would refuse, before a view has put it into its own body."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

NONE: Mapping[str, Any] = MappingProxyType({})


class Kind(StrEnum):
    """Why an operation is refused; GraphQL uses most of these words as error types."""

    BAD_REQUEST = "BAD_REQUEST"
    UNAUTHORIZED = "UNAUTHORIZED"
    NOT_FOUND = "NOT_FOUND"
    FORBIDDEN = "FORBIDDEN"
    INSUFFICIENT_SCOPES = "INSUFFICIENT_SCOPES"
    UNPROCESSABLE = "UNPROCESSABLE"
    VALIDATION = "VALIDATION"
    NOT_MERGEABLE = "NOT_MERGEABLE"
    CONFLICT = "CONFLICT"


@dataclass(frozen=True)
class Problem:
    """One entry of a validation answer's `errors` list."""

    resource: str
    code: str
    field: str | None = None
    message: str | None = None
    value: object = None

    @classmethod
    def sentence(cls, message: str) -> "Problem":
        """Return a problem that REST lists as a bare sentence."""
        return cls(resource="", code="custom", message=message)


class Refused(Exception):
    """GitHub would not do this; `problems` are the details that REST lists, `extensions` those that GraphQL adds."""

    def __init__(
        self,
        kind: Kind,
        message: str,
        *problems: Problem,
        headers: Mapping[str, str] = NONE,
        extensions: Mapping[str, object] = NONE,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.problems = problems
        self.headers = headers
        self.extensions = extensions


def not_found(message: str = "Not Found") -> Refused:
    """Refuse because the thing does not exist, or is not visible."""
    return Refused(Kind.NOT_FOUND, message)


def invalid(resource: str, field: str, *, code: str = "invalid", message: str | None = None) -> Refused:
    """Refuse one field of a resource with one of GitHub's validation codes."""
    return Refused(
        Kind.UNPROCESSABLE,
        message or f"{field.capitalize()} is {code}",
        Problem(resource, code, field=field, message=message),
    )


def custom(resource: str, message: str) -> Refused:
    """Refuse with a sentence of its own, as GitHub does when no validation code fits."""
    return Refused(Kind.UNPROCESSABLE, message, Problem(resource, "custom", message=message))
