"""The settings of one repository: what can be set, where it is read from, and who may decide it."""

import agent_sync.pydantic_alone  # noqa: F401  # before the first model is built
from agent_sync.settings.loading import (
    LoadedSettings,
    Origin,
    environment,
    load,
    own_environment,
    withdraw,
    without_proxy,
)
from agent_sync.settings.sources import variables
from agent_sync.settings.tables import Settings

__all__ = [
    "LoadedSettings",
    "Origin",
    "Settings",
    "environment",
    "load",
    "own_environment",
    "variables",
    "withdraw",
    "without_proxy",
]
