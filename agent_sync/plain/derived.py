"""Makes the pydantic model of a declaration, which reads what is not ordinary and explains what it refuses."""

from collections.abc import Callable
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import pydantic

from agent_sync.plain.fields import AfterValidator, Aware, BeforeValidator, Field, Missing, Refused
from agent_sync.plain.model import Model

M = TypeVar("M", bound=Model)
# The pydantic model of each kind of value, and back.
_MADE: dict[type[Model], type[pydantic.BaseModel]] = {}
_STANDS_FOR: dict[type[pydantic.BaseModel], type[Model]] = {}


def validated(kind: type[M], values: object) -> M:
    """Return the value as pydantic reads it, or say in its words what is wrong."""
    return _read(kind, lambda model: model.model_validate(_as_given(values)))


def validated_json(kind: type[M], content: bytes | str) -> M:
    """Return the value as pydantic reads it in these bytes, or say in its words what is wrong."""
    return _read(kind, lambda model: model.model_validate_json(content))


def _read(kind: type[M], read: Callable[[type[pydantic.BaseModel]], pydantic.BaseModel]) -> M:
    try:
        found: M = _plain(read(pydantic_model(kind)))
    except pydantic.ValidationError as error:
        raise Refused(str(error), error.errors()) from error
    return found


def pydantic_model(kind: type[Model]) -> type[pydantic.BaseModel]:
    """Return the pydantic model with the fields of a declaration."""
    if kind not in _MADE:
        _MADE[kind] = _made(kind)
        _STANDS_FOR[_MADE[kind]] = kind
    return _MADE[kind]


def _made(kind: type[Model]) -> type[pydantic.BaseModel]:
    fields: dict[str, Any] = {
        _named(name): (
            Annotated[_translated(one.declared), pydantic.Field(alias=name)],
            ... if one.default is Missing else _as_model(one.default),
        )
        for name, one in kind.model_fields.items()
    }
    unknown: Literal["allow", "forbid"] = "allow" if kind.keeps_unknown else "forbid"
    # Only where there is something to say: what it returns is no JSON any more, and read more strictly.
    is_earlier_known = kind.as_now is not Model.as_now
    before: dict[str, Any] = (
        {"as_now": pydantic.model_validator(mode="before")(kind.as_now)} if is_earlier_known else {}
    )
    return pydantic.create_model(
        kind.__name__,
        __config__=pydantic.ConfigDict(frozen=True, extra=unknown, strict=kind.is_strict),
        __doc__=kind.__doc__,
        __module__=kind.__module__,
        __validators__=before,
        **fields,
    )


def _named(field: str) -> str:
    """Return what a field is called where pydantic has a use of its own for its name."""
    return f"{field}_" if hasattr(pydantic.BaseModel, field) else field


def _translated(declared: Any) -> Any:
    """Return an annotation in pydantic's words."""
    origin, arguments = get_origin(declared), get_args(declared)
    if origin is Annotated and any(isinstance(one, Aware) for one in arguments):
        rest = tuple(_translated(one) for one in arguments[1:] if not isinstance(one, Aware))
        return Annotated[(pydantic.AwareDatetime, *rest)] if rest else pydantic.AwareDatetime
    if origin is Annotated:
        return Annotated[tuple(_translated(one) for one in arguments)]
    if origin in {Union, UnionType}:
        return Union[tuple(_translated(one) for one in arguments)]  # noqa: UP007  # of a computed number
    if origin in {tuple, dict}:
        return origin[tuple(_translated(one) for one in arguments)]
    match declared:
        case Field():
            return pydantic.Field(**declared.said)
        case BeforeValidator():
            return pydantic.BeforeValidator(declared.func)
        case AfterValidator():
            return pydantic.AfterValidator(declared.func)
        case _:
            is_model = isinstance(declared, type) and issubclass(declared, Model)
            return pydantic_model(declared) if is_model else declared


def _as_model(default: Any) -> Any:
    """Return a default as pydantic knows it: a value that has only defaults of its own, too."""
    return pydantic_model(type(default))() if isinstance(default, Model) else default


def _as_given(values: Any) -> Any:
    """Return what was given with values of ours taken apart, which pydantic does not know."""
    if isinstance(values, Model):
        return values.model_dump()
    if type(values) is dict:
        return {key: _as_given(value) for key, value in values.items()}
    return type(values)(_as_given(one) for one in values) if type(values) in {list, tuple} else values


def _plain(found: Any) -> Any:
    """Return what pydantic has read as values of ours."""
    if isinstance(found, pydantic.BaseModel):
        kind = _STANDS_FOR[type(found)]
        fields = {name: _plain(getattr(found, _named(name))) for name in kind.model_fields}
        return kind.made_of(fields, dict(found.model_extra or {}))
    if type(found) is dict:
        return {key: _plain(value) for key, value in found.items()}
    return tuple(_plain(one) for one in found) if type(found) is tuple else found
