"""Values whose fields are declared as pydantic's models declare theirs, and read without pydantic where they can be.

Loading pydantic and building a model took a third of the time of a hook that asks GitHub one thing. What agent-sync
wrote itself, or what is written as documented, is read here by comparing types (`ordinary.py`). Anything else is given
to a pydantic model that is made from the same declaration (`derived.py`), for its value or its refusal.
"""

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, dataclass_transform

from agent_sync.plain import ordinary
from agent_sync.plain.dumping import Dump, Selection, dumped
from agent_sync.plain.fields import FieldInfo, Missing


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Model:
    """A frozen value; its methods are called as pydantic calls them, because some values still are pydantic's."""

    __slots__ = ("__dict__", "model_extra")

    # Whether unknown fields are kept or refused, and whether a value may be converted to the type of its field.
    keeps_unknown: ClassVar[bool] = True
    is_strict: ClassVar[bool] = False
    model_fields: ClassVar[Mapping[str, FieldInfo]] = {}
    # How each field is read; made when the first value is.
    readers: ClassVar[dict[str, Any] | None] = None
    model_extra: dict[str, Any]

    def __init_subclass__(cls, *, keeps_unknown: bool | None = None, is_strict: bool | None = None) -> None:
        """Note the fields."""
        cls.keeps_unknown = cls.keeps_unknown if keeps_unknown is None else keeps_unknown
        cls.is_strict = cls.is_strict if is_strict is None else is_strict
        # `inspect` would have to be loaded.
        own = cls.__dict__.get("__annotations__", {})  # noqa: RUF063
        named = {name: FieldInfo(kind, cls.__dict__.get(name, Missing)) for name, kind in own.items()}
        cls.model_fields = {**cls.model_fields, **named}
        cls.readers = None

    def __init__(self, **values: Any) -> None:
        """Make a value of named fields."""
        found = self.model_validate(values)
        _fill(self, found.__dict__, found.model_extra)

    @staticmethod
    def as_now(values: Any) -> Any:
        """Return what an earlier version wrote in the words of this one."""
        return values

    @classmethod
    def made_of(cls, fields: dict[str, Any], extra: dict[str, Any]) -> Self:
        """Return the value with these fields, which are not looked at again."""
        made = cls.__new__(cls)
        _fill(made, fields, extra)
        return made

    @classmethod
    def model_validate(cls, values: object) -> Self:
        """Return the value that these fields make, or raise `Refused`."""
        try:
            return ordinary.read(cls, values, is_json=False)
        except ordinary.NotOrdinary:
            from agent_sync.plain.derived import validated

            return validated(cls, values)

    @classmethod
    def model_validate_json(cls, content: bytes | str) -> Self:
        """Return the value that is written in these bytes, or raise `Refused`."""
        try:
            return ordinary.read_json(cls, content)
        except ordinary.NotOrdinary:
            from agent_sync.plain.derived import validated_json

            return validated_json(cls, content)

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of the fields."""
        from agent_sync.plain.derived import pydantic_model

        return pydantic_model(cls).model_json_schema()

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """Return the value with other fields, which are not looked at."""
        known = {key: value for key, value in update.items() if key in self.model_fields}
        others = {key: value for key, value in update.items() if key not in self.model_fields}
        return self.made_of({**self.__dict__, **known}, {**self.model_extra, **others})

    def model_dump(
        self,
        *,
        mode: Literal["python", "json"] = "python",
        include: Selection | None = None,
        exclude: Selection = (),
        exclude_defaults: bool = False,
    ) -> dict[str, Any]:
        """Return the fields, then the unknown ones; `include` and `exclude` say which of them, and which of theirs."""
        return dumped(self, Dump(mode == "json", exclude_defaults), include, exclude)

    def model_dump_json(self, *, indent: int | None = None) -> str:
        """Return the fields as JSON."""
        separators = (",", ":") if indent is None else None
        return json.dumps(self.model_dump(mode="json"), indent=indent, separators=separators, ensure_ascii=False)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse a change."""
        raise AttributeError(f"{type(self).__name__} is frozen: {name} stays {getattr(self, name, None)!r}")

    def __delattr__(self, name: str) -> None:
        """Refuse a change."""
        raise AttributeError(f"{type(self).__name__} is frozen: {name} stays")

    def __eq__(self, other: object) -> bool:
        """Compare kind and fields."""
        if type(other) is not type(self):
            return NotImplemented
        return self.__dict__ == other.__dict__ and self.model_extra == other.model_extra

    def __hash__(self) -> int:
        """Return the hash of the fields."""
        return hash((type(self), tuple(self.__dict__.values())))

    def __repr__(self) -> str:
        """Show the fields."""
        shown = {**self.__dict__, **self.model_extra}
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in shown.items())})"


def _fill(made: Model, fields: dict[str, Any], extra: dict[str, Any]) -> None:
    object.__setattr__(made, "__dict__", fields)
    object.__setattr__(made, "model_extra", extra)
