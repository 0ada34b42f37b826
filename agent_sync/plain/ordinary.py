"""Reads values of the very types their fields have; whatever would need a conversion or a refusal is not ordinary."""

import math
import re
from collections.abc import Callable
from datetime import datetime
from enum import Enum, EnumType
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from agent_sync.plain.fields import AfterValidator, BeforeValidator, Field, Missing

if TYPE_CHECKING:
    from agent_sync.plain.model import Model

M = TypeVar("M", bound="Model")
# Takes a value and whether it came out of JSON, where strict reading allows what JSON cannot say otherwise.
Reader = Callable[[Any, bool], Any]
_DEEPEST = 50
_JSON = frozenset({str, int, float, bool, NoneType})
# Whole numbers up to here are exact as floats.
_EXACT = 2**53
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "ge": lambda value, limit: value >= limit,
    "gt": lambda value, limit: value > limit,
    "le": lambda value, limit: value <= limit,
    "lt": lambda value, limit: value < limit,
    "min_length": lambda value, limit: len(value) >= limit,
    "max_length": lambda value, limit: len(value) <= limit,
    # pydantic's expressions differ from these in what a line end and a letter of other scripts match.
    "pattern": lambda value, limit: value.isascii() and "\n" not in value and re.search(limit, value) is not None,
}


class NotOrdinary(Exception):  # no error: pydantic reads it instead
    """The value is left to pydantic."""


def read(kind: type[M], values: Any, *, is_json: bool) -> M:
    """Return the value that these fields make, if each is as declared."""
    if type(values) is kind:
        return values
    given = kind.as_now(values)
    _require(type(given) is dict)
    if kind.readers is None:
        kind.readers = {name: reader_of(one.declared, kind.is_strict) for name, one in kind.model_fields.items()}
    found = {}
    for name, reader in kind.readers.items():
        default = kind.model_fields[name].default
        _require(name in given or default is not Missing)
        found[name] = reader(given[name], is_json) if name in given else default
    extra = {key: value for key, value in given.items() if key not in kind.readers}
    _require(not extra or (kind.keeps_unknown and _is_json(extra)))
    return kind.made_of(found, extra)


def _require(is_ordinary: bool) -> None:
    if not is_ordinary:
        raise NotOrdinary


def _is_text(value: str) -> bool:
    """Tell whether every character is a whole one."""
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)


def _is_json(value: Any, depth: int = 0) -> bool:
    """Tell whether a value of any kind is as JSON has it, and no deeper than people nest."""
    if type(value) is dict and depth < _DEEPEST:
        return all(type(key) is str and _is_text(key) and _is_json(one, depth + 1) for key, one in value.items())
    if type(value) is list and depth < _DEEPEST:
        return all(_is_json(one, depth + 1) for one in value)
    return type(value) in _JSON and (type(value) is not str or _is_text(value))


def reader_of(declared: Any, is_strict: bool) -> Reader:
    """Return what reads a field that is declared so."""
    if declared in _SIMPLE:
        return _SIMPLE[declared]
    origin, arguments = get_origin(declared), get_args(declared)
    if origin is Annotated:
        return _limited(arguments[0], arguments[1:], is_strict)
    if origin is Literal:
        return _literal(arguments)
    if origin in {Union, UnionType}:
        return _any_of([reader_of(one, is_strict) for one in arguments])
    if origin is tuple:
        return _items(reader_of(arguments[0], is_strict), is_strict)
    if origin is dict:
        return _entries(reader_of(arguments[0], is_strict), reader_of(arguments[1], is_strict))
    if isinstance(declared, EnumType):
        return _member(cast("type[Enum]", declared), is_strict)
    return lambda value, is_json: read(declared, value, is_json=is_json)


def _text(value: Any, _is_json: bool) -> Any:
    _require(type(value) is str and _is_text(value))
    return value


def _float(value: Any, _is_json: bool) -> Any:
    _require((type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) <= _EXACT))
    return float(value)


def _exactly(kind: type) -> Reader:
    def reader(value: Any, _is_json: bool) -> Any:
        _require(type(value) is kind)
        return value

    return reader


_SIMPLE: dict[Any, Reader] = {
    str: _text,
    float: _float,
    int: _exactly(int),
    bool: _exactly(bool),
    NoneType: _exactly(NoneType),
    datetime: _exactly(datetime),
}


def _literal(known: tuple[Any, ...]) -> Reader:
    def reader(value: Any, _is_json: bool) -> Any:
        _require(any(type(value) is type(one) and value == one for one in known))
        return value

    return reader


def _any_of(readers: list[Reader]) -> Reader:
    """Return what reads a value of the first kind that it is of."""

    def reader(value: Any, is_json: bool) -> Any:
        for one in readers:
            try:
                return one(value, is_json)
            except NotOrdinary:
                continue
        raise NotOrdinary

    return reader


def _items(item: Reader, is_strict: bool) -> Reader:
    def reader(value: Any, is_json: bool) -> Any:
        _require(type(value) is tuple or (type(value) is list and (is_json or not is_strict)))
        return tuple(item(one, is_json) for one in value)

    return reader


def _entries(key: Reader, entry: Reader) -> Reader:
    def reader(value: Any, is_json: bool) -> Any:
        _require(type(value) is dict)
        return {key(name, is_json): entry(one, is_json) for name, one in value.items()}

    return reader


def _member(kind: type[Enum], is_strict: bool) -> Reader:
    members: dict[Any, Any] = {one.value: one for one in kind}

    def reader(value: Any, is_json: bool) -> Any:
        if isinstance(value, kind):
            return value
        _require(type(value) is str and value in members and (is_json or not is_strict))
        return members[value]

    return reader


def _limited(kind: Any, metadata: tuple[Any, ...], is_strict: bool) -> Reader:
    """Return what reads a type within limits; functions before it run from the last to the first, as in pydantic."""
    said = {key: value for one in metadata if isinstance(one, Field) for key, value in one.said.items()}
    inner = reader_of(kind, said.get("strict", is_strict))
    before = [one.func for one in reversed(metadata) if isinstance(one, BeforeValidator)]
    after = [one.func for one in metadata if isinstance(one, AfterValidator)]
    limits = [
        (_COMPARED[key], value)
        for one in metadata
        if isinstance(one, Field)
        for key, value in one.said.items()
        if key in _COMPARED
    ]

    def reader(value: Any, is_json: bool) -> Any:
        try:
            for function in before:
                value = function(value)
            value = inner(value, is_json)
            _require(value is None or all(holds(value, limit) for holds, limit in limits))
            for function in after:
                value = function(value)
        except ValueError as error:
            raise NotOrdinary from error
        return value

    return reader
