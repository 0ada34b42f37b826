"""One moment of the demo as a value: the scene that was played, how far the task is, and the board."""

from dataclasses import dataclass
from typing import Any

from agent_sync.demo.stage import Played, Stage
from agent_sync.demo.story import Scene
from agent_sync.task.claim.phases import Phase

COLUMNS = ("Todo", "In Progress", "In Review", "Done")
CLOSED = "closed"
# The phases of the claim file, in the words of people, and where the file is gone again.
STEPS = {
    Phase.CODING: "coding",
    Phase.READY_FOR_PR: "ready",
    Phase.PR_CREATED: "pull request",
    Phase.CHECKS_RUNNING: "CI",
    Phase.MERGED_DETECTED: "merged",
    Phase.DONE: "agreed",
}
TRACK = (*STEPS.values(), CLOSED)


@dataclass(frozen=True)
class Card:
    """An issue on the board."""

    number: int
    title: str
    column: str
    is_held: bool


@dataclass(frozen=True)
class Moment:
    """What there is to see after one scene; `step` is empty before the claim."""

    scene: Scene
    played: Played | None
    step: str
    cards: tuple[Card, ...]
    link: str = ""


def observe(scene: Scene, played: Played | None, stage: Stage, before: Moment | None) -> Moment:
    """Look at claim file and board after a scene."""
    claim = stage.claim()
    was_claimed = before is not None and before.step != ""
    step = STEPS[Phase(claim["phase"])] if claim else CLOSED if was_claimed else ""
    return Moment(scene, played, step, _cards(stage.world()), stage.url + scene.page if scene.page else "")


def cost(played: Played | None) -> str:
    """Return which command ran and what it cost; nothing for a scene without one."""
    if played is None:
        return ""
    requests = "1 request" if played.requests == 1 else f"{played.requests} requests"
    return f"agent-sync {played.command}: {requests}, {played.ms} ms"


def _cards(world: dict[str, Any]) -> tuple[Card, ...]:
    titles = {issue["number"]: issue["title"] for issue in world["issues"]}
    return tuple(_card(item["issue"], item["fields"], titles) for item in world["items"])


def _card(number: int, fields: dict[str, str], titles: dict[int, str]) -> Card:
    return Card(number, titles.get(number, ""), fields.get("Status", ""), bool(fields.get("Agent")))
