"""pydantic looks for no plugins when agent-sync uses it."""

import json
import subprocess
import sys

PROGRAM = """
import json, sys
from agent_sync.settings import Settings
Settings.model_json_schema()
built = "importlib.metadata" in sys.modules
import pydantic.plugin._loader as loader
print(json.dumps([built, loader.PYDANTIC_ENTRY_POINT_GROUP]))
"""


def test_no_plugins_are_looked_for():
    """A model is built without the metadata of installed packages; the rest of pydantic's loader is still there."""
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(ended.stdout) == [False, "pydantic"]
