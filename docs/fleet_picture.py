"""Takes the pictures of the fleet page that docs/fleet.md shows, in a real browser: `make pictures`."""

import base64
import sys
import time
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "tests"))

from support.browser import Tab, tab  # noqa: E402
from support.fleet_page import fleet_page  # noqa: E402

from agent_sync.demo.stage import Stage, stage  # noqa: E402

PATIENCE_S = 60
LIVE = "document.getElementById('freshness')?.textContent.startsWith('Live')"
TASK = "document.querySelectorAll('.timeline li').length > 1"


def play(scene: Stage) -> None:
    """Bring one task to a review, let one wait for CI, and leave some ready."""
    for number in ("42", "43"):
        scene.command("claim", number, "--worktree")
    scene.act("add_issue", title="Add metrics", status="Todo")
    first = Stage(scene.url, scene.root.with_name(f"{scene.root.name}-42"), scene.environment)
    first.commit("cache.py", "LOCK = 'per key'\n", "Lock the cache per key")
    first.command("handoff", "--summary", "Fix the race: one lock per key")
    scene.act("add_check", pull=46, name="test", status="completed", conclusion="success")
    thread = {"path": "cache.py", "line": 1, "body": "Why a string?"}
    scene.act("review", pull=46, by="mona", state="COMMENTED", body="One question.", threads=[thread])
    first.command("sync")


def shoot(page: Tab, address: str, sign: str, file: Path) -> None:
    """Open a page, wait for its sign and write what it looks like."""
    page.open(address, width=1100)
    limit = time.monotonic() + PATIENCE_S
    while not _holds(page, sign):
        if time.monotonic() > limit:
            sys.exit(f"{file.name}: the page never showed what was waited for")
        time.sleep(0.1)
    height = page.value("document.documentElement.scrollHeight")
    page.ask("Emulation.setDeviceMetricsOverride", width=1100, height=height, deviceScaleFactor=1, mobile=False)
    file.write_bytes(base64.b64decode(page.ask("Page.captureScreenshot", format="png")["data"]))


def _holds(page: Tab, sign: str) -> bool:
    try:
        return bool(page.value(sign))
    except AssertionError:
        # On its way from one page to the next.
        return False


def main() -> None:
    """Take both pictures."""
    with stage() as scene:
        play(scene)
        with fleet_page(scene) as served, tab() as page:
            shoot(page, served.link, LIVE, DOCS / "fleet.png")
            place = page.value("location.href")
            shoot(page, f"{place}task/42", TASK, DOCS / "fleet-task.png")


if __name__ == "__main__":
    main()
