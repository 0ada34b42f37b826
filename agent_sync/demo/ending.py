"""What the demo says when it is over, and how it waits for people who want to look around."""

import signal
import threading

from agent_sync.demo.stage import Stage
from agent_sync.demo.story import ISSUE, PULL

PAGES = {
    "pull request": f"/octo/demo/pull/{PULL}",
    "issue": f"/octo/demo/issues/{ISSUE}",
    "board": "/users/octo/projects/1",
    "everything": "/",
}
OWN_REPOSITORY = """\
Now in your own repository:
  pipx install agent-sync-github
  cd YOUR-REPOSITORY
  gh auth login --scopes repo,project
  agent-sync init        # shows every change before it asks
  agent-sync doctor      # checks token, board and hooks
Then, in Claude Code, /claim takes the next issue that is ready; in a terminal: agent-sync claim --next"""
LOOK_INTO_IT = "To open the pages that it linked to, run: agent-sync demo --serve"


def visiting_hours(stage: Stage) -> str:
    """Return what can be opened while the local GitHub runs on."""
    rows = [f"  {name:<12}  {stage.url}{path}" for name, path in PAGES.items()]
    clone = f"  {'clone':<12}  {stage.root}"
    return "\n".join(["The local GitHub runs on until you press Ctrl-C. Open:", *rows, clone])


def wait_until_stopped() -> None:
    """Wait for Ctrl-C, or for a request to end."""
    stop = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: stop.set()) for number in numbers]
    try:
        stop.wait()
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
