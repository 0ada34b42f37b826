"""Runs a command and counts which functions of ours it calls."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

# Counts calls of functions, not class bodies and not what runs while a module is loaded. What stands in for a library
# (dataclasses, pydantic, an HTTP client) is not counted either, as the library would not be.
_TRACER = """
import collections, json, os, sys, threading
calls, loading = collections.Counter(), 0
OURS, FUNCTION = os.sep + "agent_sync" + os.sep, 1
LIBRARIES = ("lazy_dataclasses.py", "lazy_patterns.py", OURS + "plain" + os.sep, "http_client.py")
def note(frame, event, _):
    global loading
    code = frame.f_code
    if OURS in code.co_filename and not any(part in code.co_filename for part in LIBRARIES):
        if code.co_name == "<module>":
            loading += (event == "call") - (event == "return")
        elif event == "call" and not loading and code.co_flags & FUNCTION:
            calls[code.co_filename.split(OURS)[-1], code.co_qualname] += 1
leave = os._exit
def write(status):
    sys.setprofile(None)
    with open(os.environ["CALLS_FILE"], "w") as file:
        json.dump([[module, name, count] for (module, name), count in calls.items()], file)
    leave(status)
os._exit = write
from agent_sync.__main__ import main
threading.setprofile(note)
sys.setprofile(note)
main()
"""


def calls_of(*arguments: str, cwd: Path, environment: Mapping[str, str], file: Path) -> Counter[tuple[str, str]]:
    """Run a hook with an empty event; return how often it called each function, by module and name."""
    subprocess.run(
        [sys.executable, "-c", _TRACER, *arguments],
        cwd=cwd,
        env={**environment, "CALLS_FILE": str(file)},
        input=b"{}",
        capture_output=True,
        check=True,
    )
    return Counter({(module, name): count for module, name, count in json.loads(file.read_text())})
