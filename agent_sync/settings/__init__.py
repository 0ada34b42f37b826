"""The settings of one repository: what can be set, where it is read from, and who may decide it."""

from agent_sync.settings.loading import Loaded, Origin, environment, load, own_environment, withdraw
from agent_sync.settings.tables import Settings
from agent_sync.settings.variables import variables

__all__ = ["Loaded", "Origin", "Settings", "environment", "load", "own_environment", "variables", "withdraw"]
