"""Plays the story on a stage, scene by scene, before a view."""

from agent_sync.demo.moments import Moment, observe
from agent_sync.demo.stage import Stage
from agent_sync.demo.story import check, story
from agent_sync.demo.view import View


def play(stage: Stage, shown: View) -> tuple[Moment, ...]:
    """Play every scene, stop where one does not say what it should, and return what was seen."""
    moments: list[Moment] = []
    with shown:
        for scene in story():
            played = scene.play(stage)
            check(scene, played)
            moments.append(observe(scene, played, stage, moments[-1] if moments else None))
            shown.show(moments[-1])
    return tuple(moments)
