"""The story: who does what, scene by scene, and what must be true in the end."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from agent_sync.demo.stage import Played, Stage
from agent_sync.errors import AgentSyncError

ISSUE = 42
PULL = 45
# How Claude Code marks what it runs.
SESSION = {"CLAUDECODE": "1"}


class Actor(StrEnum):
    """Who acts in a scene."""

    AGENT = "agent"
    AGENT_SYNC = "agent-sync"
    HUMAN = "human"
    GITHUB = "GitHub"


@dataclass(frozen=True)
class Scene:
    """One step of the story: who does what, what comes of it, and what the command needs to have said."""

    actor: Actor
    does: str
    outcome: str
    play: Callable[[Stage], Played | None]
    expects: str = ""
    page: str = ""


def story() -> Iterator[Scene]:
    """Tell the story from claim to close."""
    yield from _until_the_pull_request()
    yield from _until_the_merge()
    yield from _until_the_close()


def _until_the_pull_request() -> Iterator[Scene]:
    agent, agent_sync, turn_ends = Actor.AGENT, Actor.AGENT_SYNC, _hook("on-stop", "Stop")
    board = "Three issues to do, one in progress, one done."
    tells = "tells a new session what is on the board"
    yield Scene(agent_sync, tells, board, _hook("session-start", "SessionStart"), "Ready to claim")
    alone = "It is this agent's alone. Branch made, card moved."
    claim = _command("claim", str(ISSUE))
    yield Scene(agent, f"claims issue #{ISSUE}: agent-sync claim {ISSUE}", alone, claim, f"Claimed issue #{ISSUE}")
    unfinished = _commit("LOCK = None  # UNFINISHED\n", "Add a lock")
    yield Scene(agent, "writes code and commits it", "One line is still marked UNFINISHED.", unfinished)
    sent_back = "One fails, so the agent is sent back to work."
    yield Scene(agent_sync, "runs the quality gates as the turn ends", sent_back, turn_ends, '"decision": "block"')
    yield Scene(agent, "finishes the line", "", _commit("LOCK = None\n", "Finish the lock"))
    yield Scene(agent_sync, "runs the gates again", "They pass.", turn_ends, '"status": "passed"')
    at_rest = "Nothing changed: no gate runs, GitHub is not asked."
    yield Scene(agent_sync, "has nothing to do after the next turn", at_rest, turn_ends, '"decision": "approve"')
    handoff = _command("handoff", "--summary", "-", stdin="Fix race condition in cache")
    yield Scene(agent, "says that it is ready: agent-sync handoff", "The branch is pushed.", handoff, "Handed off")
    opens, moved = f"opens pull request #{PULL} as the turn ends", "The card moves to In Review."
    yield Scene(agent_sync, opens, moved, turn_ends, f"PR #{PULL} created", page=f"/octo/demo/pull/{PULL}")


def _until_the_merge() -> Iterator[Scene]:
    agent, agent_sync, looks = Actor.AGENT, Actor.AGENT_SYNC, _hook("on-idle --rewake", "Notification")
    yield Scene(Actor.GITHUB, "runs CI", "The check “test” fails.", _check("test", "failure"))
    yield Scene(agent_sync, "sees it and wakes the idle agent", "It says which check failed.", looks, "1 FAILED")
    yield Scene(agent, "fixes the code", "", _commit("import threading\n\nLOCK = threading.Lock()\n", "Make it a lock"))
    yield Scene(agent, "pushes the fix: agent-sync push", "", _command("push"), "Pushed")
    yield Scene(Actor.GITHUB, "runs CI again", "The check “test” passes.", _check("test", "success"))
    ready, idle = f"Pull request #{PULL} is ready to merge.", _hook("on-idle", "Notification")
    yield Scene(agent_sync, "sees that CI has passed, and wakes nobody", ready, idle, "CI passed!")
    yield Scene(Actor.HUMAN, f"merges pull request #{PULL}", "", _merge)


def _until_the_close() -> Iterator[Scene]:
    looks, asks = _hook("on-idle --rewake", "Notification"), f"Should I close issue #{ISSUE}?"
    yield Scene(Actor.AGENT_SYNC, "sees the merge and asks", f"“{asks}”", looks, asks)
    consent = _command("done")
    yield Scene(Actor.HUMAN, "says yes: agent-sync done", "Nothing is closed without it.", consent, "Consent recorded")
    closed, turn_ends = f"Issue #{ISSUE} closed. Board → Done.", _hook("on-stop", "Stop")
    does, free = f"closes issue #{ISSUE} and cleans up", "Card in Done, agent free for the next issue."
    yield Scene(Actor.AGENT_SYNC, does, free, turn_ends, closed, page=f"/octo/demo/issues/{ISSUE}")


def check(scene: Scene, played: Played | None) -> None:
    """Stop the demo where a scene did not say what it should."""
    said = f"{played.stdout} {played.stderr}" if played else ""
    if scene.expects not in said:
        raise AgentSyncError(
            f"{scene.actor} {scene.does}: expected {scene.expects!r}, got {said!r}.", attempted="playing the demo"
        )


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
    """Play a hook of ours as Claude Code runs it at an event."""
    return lambda stage: stage.hook(*command.split(), event=event)


def _command(*arguments: str, stdin: str = "") -> Callable[[Stage], Played]:
    """Play a command inside the session: what it leaves is done when the turn ends."""
    return lambda stage: replace(stage, environment=stage.environment | SESSION).command(*arguments, stdin=stdin)


def _commit(text: str, message: str) -> Callable[[Stage], None]:
    return lambda stage: stage.commit("cache.py", text, message)


def _check(name: str, conclusion: str) -> Callable[[Stage], None]:
    return lambda stage: stage.act("add_check", pull=PULL, name=name, status="completed", conclusion=conclusion)


def _merge(stage: Stage) -> None:
    stage.act("merge_pull", pull=PULL, method="squash")
