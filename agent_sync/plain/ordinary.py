"""Reads values of the very types their fields have; whatever would need a conversion or a refusal is not ordinary."""

import dataclasses
import json
import math
import re
from collections.abc import Callable
from datetime import datetime
from enum import Enum, EnumType
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from agent_sync.lazy_patterns import pattern
from agent_sync.plain.fields import AfterValidator, Aware, BeforeValidator, Field, Missing

if TYPE_CHECKING:
    from agent_sync.plain.model import Model

M = TypeVar("M", bound="Model")
T = TypeVar("T")
# Takes a value and whether it came out of JSON, where strict reading allows what JSON cannot say otherwise.
Reader = Callable[[Any, bool], Any]
_DEEPEST = 50
_JSON = frozenset({str, int, float, bool, NoneType})
# As agent-sync writes it.
_MOMENT = pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{6})?Z")
# Whole numbers up to here are exact as floats.
_EXACT = 2**53
# What is no space here is none there either.
_SOMETHING = r"\S"
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "ge": lambda value, limit: value >= limit,
    "gt": lambda value, limit: value > limit,
    "le": lambda value, limit: value <= limit,
    "lt": lambda value, limit: value < limit,
    "min_length": lambda value, limit: len(value) >= limit,
    "max_length": lambda value, limit: len(value) <= limit,
    # pydantic's expressions differ from these in what a line end and a letter of other scripts match.
    "pattern": lambda value, limit: (
        (limit == _SOMETHING or (value.isascii() and "\n" not in value)) and re.search(limit, value) is not None
    ),
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
        if name in given:
            found[name] = reader(given[name], is_json)
            continue
        default = kind.model_fields[name].default
        _require(default is not Missing)
        found[name] = default.copy() if type(default) is dict else default
    extra = {key: value for key, value in given.items() if key not in kind.readers}
    _require(not extra or (kind.keeps_unknown and _is_json(extra)))
    return kind.made_of(found, extra)


def read_json(kind: type[T], content: bytes | str) -> T:
    """Return a model or dataclass as it is written here; what readers of JSON see differently is not ordinary."""
    try:
        text = content if isinstance(content, str) else content.decode()
        # Half characters.
        _require("\\ud" not in text and "\\uD" not in text)
        values = json.loads(text, object_pairs_hook=_without_twins, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise NotOrdinary from error
    found: T = reader_of(kind, is_strict=False)(values, True)
    return found


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    _require(len(found) == len(pairs))
    return found


def _no_number(_text: str) -> None:
    raise NotOrdinary


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
    if dataclasses.is_dataclass(declared):
        return _instance(declared)
    return lambda value, is_json: read(declared, value, is_json=is_json)


def _text(value: Any, _is_json: bool) -> Any:
    _require(type(value) is str and _is_text(value))
    return value


def _float(value: Any, _is_json: bool) -> Any:
    _require((type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) <= _EXACT))
    return float(value)


def _moment(value: Any, is_json: bool) -> Any:
    if is_json and type(value) is str and _MOMENT.fullmatch(value):
        try:
            return datetime.fromisoformat(value)
        except ValueError as error:
            raise NotOrdinary from error
    _require(type(value) is datetime and not is_json)
    return value


def _anything(value: Any, is_json: bool) -> Any:
    _require(not is_json or _is_json(value))
    return value


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
    datetime: _moment,
    Any: _anything,
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


def _instance(kind: Any) -> Reader:
    """Return what reads a dataclass that was written with all its fields."""
    readers = {one.name: reader_of(one.type, is_strict=False) for one in dataclasses.fields(kind)}

    def reader(value: Any, is_json: bool) -> Any:
        _require(type(value) is dict and value.keys() == readers.keys())
        return kind(**{name: one(value[name], is_json) for name, one in readers.items()})

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
    is_aware = any(isinstance(one, Aware) for one in metadata)
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
            _require(not is_aware or value.tzinfo is not None)
            _require(value is None or all(holds(value, limit) for holds, limit in limits))
            for function in after:
                value = function(value)
        except ValueError as error:
            raise NotOrdinary from error
        return value

    return reader
