"""What a field is declared with: its type, default and limits, as pydantic would be told them."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, get_args, get_origin

# Stands for the default of a field that must be given.
Missing: Any = object()


class Refused(ValueError):
    """Fields that make no value: pydantic's words on it, and its details of every problem."""

    def __init__(self, text: str, details: list[Any]) -> None:
        super().__init__(text)
        self.details = details


class Field:
    """Limits of a field, how strictly it is read, and its description, by the names pydantic has for them."""

    __slots__ = ("said",)

    def __init__(self, **said: Any) -> None:
        self.said = said


class BeforeValidator:
    """A function that a value goes through before its type is looked at."""

    __slots__ = ("func",)

    def __init__(self, func: Callable[[Any], Any]) -> None:
        self.func = func


class AfterValidator:
    """A function that a value goes through when it has the right type."""

    __slots__ = ("func",)

    def __init__(self, func: Callable[[Any], Any]) -> None:
        self.func = func


class Aware:
    """Says of a moment that it names its distance from UTC."""

    __slots__ = ()


AwareDatetime = Annotated[datetime, Aware()]


class FieldInfo:
    """One field of a model."""

    __slots__ = ("declared", "default")

    def __init__(self, declared: Any, default: Any) -> None:
        self.declared = declared
        self.default = default

    @property
    def annotation(self) -> Any:
        """The type, without what is declared beside it."""
        return get_args(self.declared)[0] if get_origin(self.declared) is Annotated else self.declared

    @property
    def description(self) -> str | None:
        """What it means; the outermost word on it counts."""
        metadata = get_args(self.declared)[1:] if get_origin(self.declared) is Annotated else ()
        said = [one.said["description"] for one in metadata if isinstance(one, Field) and "description" in one.said]
        return said[-1] if said else None

    def is_required(self) -> bool:
        """Tell whether it must be given."""
        return self.default is Missing
