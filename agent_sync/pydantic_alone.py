"""Lets pydantic look for no plugins: it would read the metadata of every installed package, and run what it finds."""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_LOADER = "pydantic.plugin._loader"


class _NoPlugins(ModuleType):
    """Stands where pydantic looks for plugins, and knows of none."""

    @staticmethod
    def get_plugins() -> tuple[()]:
        """Return no plugins."""
        return ()

    def __getattr__(self, name: str) -> Any:
        """Give way to the real module, should a later pydantic want more of it; the import system wants no more."""
        if name.startswith("__"):
            raise AttributeError(name)
        del sys.modules[_LOADER]
        return getattr(import_module(_LOADER), name)


sys.modules.setdefault(_LOADER, _NoPlugins(_LOADER))
