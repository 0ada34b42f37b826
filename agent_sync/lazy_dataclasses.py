"""Dataclasses whose methods are made when the first instance is: a hook loads hundreds of classes and uses some dozens.

`dataclasses` compiles six functions for every class at import, which took a third of a hook's time. Here a class is
finished by its first instance, by `fields` and the like, or by a finished class that inherits from it. The fields are
those of `dataclasses`, so `replace`, `asdict` and `match` work as they do there.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from _thread import RLock

    class _InspectLater(ModuleType):
        """Stands for `inspect` in `dataclasses`, which loads it for the sake of classes that have no docstring."""

        def get_annotations(self, cls):
            """Return what a class itself says of its fields; newer versions of Python ask here."""
            return dict(cls.__dict__.get("__annotations__", {}))  # noqa: RUF063  # this is to stand for that

        def __getattr__(self, name):
            _take_away(self)
            import inspect

            return getattr(inspect, name)

    def _take_away(stand_in):
        if sys.modules.get("inspect") is stand_in:
            del sys.modules["inspect"]

    _STAND_IN = _InspectLater("inspect")
    sys.modules.setdefault("inspect", _STAND_IN)
    import dataclasses

    _take_away(_STAND_IN)

    # Threads may meet at an unfinished class, and finishing one can finish another.
    _FINISHING = RLock()

    def dataclass(cls=None, /, *, frozen=False):
        """Make a dataclass; it knows the one option that is used here."""
        if cls is None:
            return lambda given: dataclass(given, frozen=frozen)
        unfinished = _Unfinished(cls)
        cls.__dataclass_fields__ = unfinished
        cls.__init__ = unfinished.first_init()
        for name, method in _shared_methods(cls, frozen=frozen).items():
            if name not in cls.__dict__:
                setattr(cls, name, method)
        return cls

    class _Unfinished:
        """Stands where the fields will be: whoever looks at them has the class finished first."""

        def __init__(self, cls):
            self.cls = cls

        def __get__(self, _instance, _owner):
            self.finish()
            return self.cls.__dataclass_fields__

        def first_init(self):
            """Return what stands for `__init__` until the first instance is made."""

            def __init__(instance, *args, **kwargs):  # noqa: N807
                self.finish()
                self.cls.__init__(instance, *args, **kwargs)

            return __init__

        def finish(self):
            """Find the fields and compile the one function that depends on them."""
            with _FINISHING:
                if self.cls.__dict__.get("__dataclass_fields__") is self:
                    dataclasses.dataclass(init=False, repr=False, eq=False)(self.cls)
                    self.cls.__compared__ = tuple(one.name for one in dataclasses.fields(self.cls) if one.compare)
                    self.cls.__init__ = _compiled_init(self.cls)

    def _compiled_init(cls):
        """Compile `__init__` with the fields as its parameters, as a dataclass has it."""
        parameters, steps, known = ["self"], [], {"_set": object.__setattr__, "_unset": dataclasses.MISSING}
        for field in dataclasses.fields(cls):
            name, value = field.name, field.name
            has_factory = field.default_factory is not dataclasses.MISSING
            if has_factory:
                known[f"_make_{name}"] = field.default_factory
                made = f"_make_{name}()"
                value = f"{made} if {name} is _unset else {name}" if field.init else made
            elif not field.init:
                continue
            if field.init:
                is_optional = has_factory or field.default is not dataclasses.MISSING
                known[f"_default_{name}"] = dataclasses.MISSING if has_factory else field.default
                parameters.append(f"{name}=_default_{name}" if is_optional else name)
            steps.append(f"_set(self, {name!r}, {value})")
        if hasattr(cls, "__post_init__"):
            steps.append("self.__post_init__()")
        text = f"def __init__({', '.join(parameters)}):\n  " + "\n  ".join(steps or ["pass"])
        exec(text, known)  # noqa: S102  # names of our own fields, as in dataclasses
        known["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
        return known["__init__"]

    def _shared_methods(cls, *, frozen):
        """Return the methods that need no compiling."""
        methods = {"__repr__": _repr, "__eq__": _eq, "__hash__": _hash if frozen else None}
        if not frozen:
            return methods

        def __setattr__(self, name, value):  # noqa: N807
            if type(self) is cls or name in cls.__dataclass_fields__:
                raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
            super(cls, self).__setattr__(name, value)

        def __delattr__(self, name):  # noqa: N807
            if type(self) is cls or name in cls.__dataclass_fields__:
                raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
            super(cls, self).__delattr__(name)

        return methods | {"__setattr__": __setattr__, "__delattr__": __delattr__}

    def _compared(self):
        return tuple(getattr(self, name) for name in self.__compared__)

    def _eq(self, other):
        if other.__class__ is not self.__class__:
            return NotImplemented
        return _compared(self) == _compared(other)

    def _hash(self):
        return hash(_compared(self))

    def _repr(self):
        shown = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"
