"""Holds REST requests and answers against GitHub's OpenAPI description."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

METHODS = {"get", "post", "put", "patch", "delete"}
FIRST_ERROR = 400
# Any operation may refuse in this shape, declared or not. Newer bodies have a key that not every
# description of an error has, so errors may say more than is described; good answers may not.
ERROR = {"$ref": "#/components/schemas/basic-error"}

formats = FormatChecker(())


@formats.checks("date-time", ValueError)
def is_moment(value: Any) -> bool:
    """Say whether a text is a moment with its zone."""
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


@formats.checks("uri")
def is_uri(value: Any) -> bool:
    """Say whether a text is a full address."""
    return not isinstance(value, str) or re.match(r"https?://\S+$", value) is not None


def json_schema(schema: Any, *, closed: bool = True) -> Any:
    """Turn OpenAPI 3.0 into JSON Schema 2020-12: null is a type, and only described keys may appear.

    The parts of an `allOf` each see the whole object, so only the sum of them can be closed.
    """
    if isinstance(schema, list):
        return [json_schema(entry, closed=closed) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: _part(key, value) for key, value in schema.items() if key != "nullable"}
    if closed and ("properties" in plain or "allOf" in plain) and "additionalProperties" not in plain:
        plain["unevaluatedProperties"] = False
    return _or_null(plain) if schema.get("nullable") else plain


def opened(schema: Any) -> Any:
    """Return a schema that allows keys it does not describe."""
    if isinstance(schema, dict):
        return {key: opened(entry) for key, entry in schema.items() if key != "unevaluatedProperties"}
    return [opened(entry) for entry in schema] if isinstance(schema, list) else schema


def _part(key: str, value: Any) -> Any:
    if key == "properties":
        return {name: json_schema(entry) for name, entry in value.items()}
    if key in {"enum", "required", "default", "example"}:
        return value
    return json_schema(value, closed=key != "allOf")


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    if "enum" in schema or not isinstance(schema.get("type"), str):
        return {"anyOf": [schema, {"type": "null"}]}
    return schema | {"type": [schema["type"], "null"]}


@dataclass(frozen=True)
class Operation:
    """One method on one path template."""

    id: str
    method: str
    path: str
    pattern: re.Pattern[str]
    body: dict[str, Any]

    @property
    def freedom(self) -> int:
        """Return how little of the path is fixed: of two templates that fit, the stricter is meant."""
        return -len(re.sub(r"\{\w+\}", "", self.path))


class Contract:
    """GitHub's REST interface as a set of operations and schemas."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.components = description["components"]
        self.schemas = {name: json_schema(entry) for name, entry in self.components["schemas"].items()}
        found = [
            Operation(entry["operationId"], method.upper(), path, self._pattern(path, entry), entry)
            for path, entries in description["paths"].items()
            for method, entry in entries.items()
            if method in METHODS
        ]
        self.operations = sorted(found, key=lambda entry: entry.freedom)

    def _pattern(self, path: str, operation: dict[str, Any]) -> re.Pattern[str]:
        parameters = [self._resolved(entry, "parameters") for entry in operation.get("parameters", [])]
        wide = {entry["name"] for entry in parameters if entry.get("x-multi-segment")}
        pieces = re.split(r"\{(\w+)\}", path)
        texts, names = pieces[0::2], pieces[1::2]
        groups = [r"(?:.+)" if name in wide else r"(?:[^/]+)" for name in names]
        return re.compile("".join(re.escape(text) + group for text, group in zip(texts, [*groups, ""], strict=True)))

    def _resolved(self, entry: dict[str, Any], kind: str) -> dict[str, Any]:
        return self.components[kind][entry["$ref"].rpartition("/")[2]] if "$ref" in entry else entry

    def operation(self, method: str, path: str) -> Operation | None:
        """Return the operation that a request means."""
        fitting = (entry for entry in self.operations if entry.method == method and entry.pattern.fullmatch(path))
        return next(fitting, None)

    def request_problems(self, operation: Operation, body: Any) -> list[str]:
        """Say what is wrong with a request's body."""
        content = operation.body.get("requestBody", {}).get("content", {}).get("application/json")
        if content is None or body is None:
            return []
        return self._problems(json_schema(content["schema"]), body, closed=False)

    def answer_problems(self, operation: Operation, status: int, body: Any) -> list[str]:
        """Say what is wrong with an answer."""
        declared = self._resolved(operation.body["responses"].get(str(status), {}), "responses")
        content = declared.get("content", {}).get("application/json")
        if status >= FIRST_ERROR:
            schema = json_schema(content["schema"]) if content else ERROR
            return self._problems(schema, body, closed=False)
        if str(status) not in operation.body["responses"]:
            return [f"status {status} is not declared"]
        if content is None:
            return [] if body is None else [f"status {status} has no body"]
        return self._problems(json_schema(content["schema"]), body)

    def _problems(self, schema: dict[str, Any], body: Any, *, closed: bool = True) -> list[str]:
        whole = {"components": {"schemas": self.schemas}, **schema}
        validator = Draft202012Validator(whole if closed else opened(whole), format_checker=formats)
        return [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(body)]
