"""The story: what happens, scene by scene, and what must be true in the end."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from agent_sync.demo.stage import Played, Stage
from agent_sync.errors import AgentSyncError

ISSUE = 42
PULL = 45
# How Claude Code marks what it runs.
SESSION = {"CLAUDECODE": "1"}


@dataclass(frozen=True)
class Scene:
    """One step of the story and what it needs to have said."""

    title: str
    play: Callable[[Stage], Played | None]
    expects: str = ""


def story() -> Iterator[Scene]:
    """Tell the story from claim to close."""
    yield Scene("A session starts: it is told the board", _hook("session-start", "SessionStart"), "Ready to claim")
    yield Scene("The agent claims issue #42", _command("claim", str(ISSUE)), "Claimed issue #42")
    yield Scene("The agent writes code", _commit("cache.py", "LOCK = None  # UNFINISHED\n", "Add a lock"))
    yield Scene("The turn ends: a gate sends the agent back", _hook("on-stop", "Stop"), '"decision": "block"')
    yield Scene("The agent mends it", _commit("cache.py", "LOCK = None\n", "Finish the lock"))
    yield Scene("The turn ends: the gates pass", _hook("on-stop", "Stop"), '"status": "passed"')
    yield Scene("The next turn ends: nothing to do", _hook("on-stop", "Stop"), '"decision": "approve"')
    yield Scene("The one after it: answered from the stamp", _hook("on-stop", "Stop"), '"decision": "approve"')
    yield Scene("The agent hands off", _handoff("Fix race condition in cache"), "Handed off")
    yield Scene("The turn ends: the PR is opened", _hook("on-stop", "Stop"), f"PR #{PULL} created")
    yield Scene("CI fails on GitHub", _check("test", "failure"))
    yield Scene("The idle session is woken", _hook("on-idle --rewake", "Notification"), "1 FAILED")
    yield Scene(
        "The agent fixes it", _commit("cache.py", "import threading\n\nLOCK = threading.Lock()\n", "Make it a lock")
    )
    yield Scene("The agent pushes", _command("push"), "Pushed")
    yield Scene("CI passes on the new commit", _check("test", "success"))
    yield Scene("The idle session is woken", _hook("on-idle --rewake", "Notification"), "CI passed! All 1 checks green")
    yield Scene("A human merges the PR", _merge)
    yield Scene("The idle session is woken", _hook("on-idle --rewake", "Notification"), "Should I close issue #42?")
    yield Scene("The human says yes", _command("done"), "Consent recorded")
    yield Scene("The turn ends: closed and cleaned up", _hook("on-stop", "Stop"), "Issue #42 closed. Board → Done.")


def check(scene: Scene, played: Played | None) -> None:
    """Stop the demo where a scene did not say what it should."""
    said = f"{played.stdout} {played.stderr}" if played else ""
    if scene.expects not in said:
        raise AgentSyncError(f"{scene.title}: expected {scene.expects!r}, got {said!r}.", attempted="playing the demo")


def check_end(stage: Stage) -> str:
    """Assert the final world and return it in a sentence."""
    world = stage.world()
    issue = next(issue for issue in world["issues"] if issue["number"] == ISSUE)
    card = next(item for item in world["items"] if item["issue"] == ISSUE)
    truths = {
        "one pull request": [pull["number"] for pull in world["pulls"]] == [PULL],
        "merged": world["pulls"][0]["merged"],
        "one comment": sum(comment["issue"] == ISSUE for comment in world["comments"]) == 1,
        "issue closed as completed": (issue["state"], issue["state_reason"]) == ("closed", "completed"),
        "card in Done": card["fields"].get("Status") == "Done",
        "Agent field empty": not card["fields"].get("Agent"),
        "claim file gone": stage.claim() is None,
    }
    wrong = [name for name, is_true in truths.items() if not is_true]
    if wrong:
        raise AgentSyncError(
            f"The world is not as it should be: not {', not '.join(wrong)}.", attempted="ending the demo"
        )
    return ", ".join(truths)


def _hook(command: str, event: str) -> Callable[[Stage], Played]:
    return lambda stage: stage.hook(*command.split(), event=event)


def _command(*arguments: str, stdin: str = "") -> Callable[[Stage], Played]:
    """Play a command inside the session: what it leaves is done when the turn ends."""
    return lambda stage: replace(stage, environment=stage.environment | SESSION).command(*arguments, stdin=stdin)


def _handoff(summary: str) -> Callable[[Stage], Played]:
    return _command("handoff", "--summary", "-", stdin=summary)


def _commit(name: str, text: str, message: str) -> Callable[[Stage], None]:
    return lambda stage: stage.commit(name, text, message)


def _check(name: str, conclusion: str) -> Callable[[Stage], None]:
    return lambda stage: stage.act("add_check", pull=PULL, name=name, status="completed", conclusion=conclusion)


def _merge(stage: Stage) -> None:
    stage.act("merge_pull", pull=PULL, method="squash")
