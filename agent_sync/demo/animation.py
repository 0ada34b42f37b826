"""When things change in the picture, as CSS animations that share one clock."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

SECONDS_A_SCENE = 2.0
SECONDS_AT_THE_END = 6.0
SECONDS_A_CHANGE = 0.4


@dataclass(frozen=True)
class Clock:
    """How long the whole picture takes, and when each moment begins."""

    moments: int

    @property
    def seconds(self) -> float:
        """Return the length of one round."""
        return self.moments * SECONDS_A_SCENE + SECONDS_AT_THE_END

    def percent(self, seconds: float) -> str:
        """Return a point in time as a keyframe."""
        return f"{seconds / self.seconds * 100:.2f}%".replace(".00%", "%")


def animation(clock: Clock, name: str, property_name: str, values: Sequence[str]) -> str:
    """Return the rule for class `name`, which has one value at each moment; at rest it has the last one."""
    rest = f".{name}{{{property_name}:{values[-1]}}}"
    if len(set(values)) == 1:
        return rest
    frames = [f"0%{{{property_name}:{values[0]}}}"]
    for index, (old, new) in enumerate(pairwise(values), start=1):
        if old != new:
            begins = index * SECONDS_A_SCENE
            frames.append(f"{clock.percent(begins)}{{{property_name}:{old}}}")
            frames.append(f"{clock.percent(begins + SECONDS_A_CHANGE)}{{{property_name}:{new}}}")
    frames.append(f"100%{{{property_name}:{values[-1]}}}")
    moves = f".{name}{{animation:{name} {clock.seconds:g}s infinite}}@keyframes {name}{{{''.join(frames)}}}"
    # Who asks for no motion, and a program that knows none, sees the end of the story.
    return f"{rest}@media (prefers-reduced-motion:no-preference){{{moves}}}"
