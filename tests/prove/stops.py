"""The family of endless stops: a gate that always fails meets an agent that always stops again."""

import functools
import json
import random
import threading

from support.clients import Nursery
from support.stage import reply
from support.whole_task import BY_NAME, Play, Step, whole_task

from agent_sync.demo.stage import Played
from prove.case import Case, Ending, Family, Verdict
from prove.disturbing import kill_running

STOPS = 30
# More blocks than this one after the other are a loop that only a person can end.
MOST_BLOCKS = 6
SAYS: dict[str, dict[str, object]] = {
    "says-active": {"prompt_id": "p", "stop_hook_active": True},
    "never-says-active": {"prompt_id": "p"},
    "old-client": {"stop_hook_active": True},
    "no-ids": {},
}
WORK = ("unchanged", "edited", "committed", "killed")


def _endless(nursery: Nursery, says: str, work: str) -> Ending:
    """Stop again and again with work that fails, then mend it: the blocks end, and mended work passes."""
    with whole_task(nursery) as play:
        for step in ("sling", "session", "take"):
            play.run(BY_NAME[step])
        play.stage.commit("broken.py", "UNFINISHED\n", "Break")
        dice = random.Random(f"{says} {work}")  # noqa: S311  # a repeatable session, not a secret
        replies = [_stop(play, says, work, number, dice) for number in range(STOPS)]
        decisions = "".join("b" if one.get("decision") == "block" else "." for one in replies)
        blocks = max(map(len, decisions.split(".")))
        if not 0 < blocks <= MOST_BLOCKS:
            return Ending(Verdict.LOST, f"{blocks} stops were blocked one after the other: {decisions}", STOPS)
        return _mended(play, decisions)


def _stop(play: Play, says: str, work: str, number: int, dice: random.Random) -> dict[str, object]:
    match work:
        case "edited":
            (play.stage.root / "broken.py").write_text(f"UNFINISHED {number}\n")
        case "committed":
            play.stage.commit("broken.py", f"UNFINISHED {number}\n", f"Try {number}")
        case "killed" if dice.random() < 0.5:
            killer = threading.Timer(dice.random(), kill_running, [play.stage.client], {"wait_s": 0})
            killer.start()
            _fired(play, says)
            killer.cancel()
            killer.join()
    return _fired(play, says)


def _fired(play: Play, says: str) -> dict[str, object]:
    given: dict[str, object] = {"session_id": "s", "cwd": str(play.stage.root)} | SAYS[says]
    status, stdout, stderr = play.stage.run("on-stop", stdin=json.dumps(given))
    return reply(Played("on-stop", status, stdout.strip(), stderr, 0, 0))


def _mended(play: Play, decisions: str) -> Ending:
    play.stage.commit("broken.py", "finished\n", "Mend it")
    status = play.run(Step("handoff", ("handoff", "--later", "--summary", "-"), stdin="Mended"))
    play.run(BY_NAME["open"])
    pulls = len(play.theatre.pulls())
    if status or pulls != 1:
        return Ending(Verdict.LOST, f"mended work was not handed off: {play.told[-2:]}"[:800], STOPS)
    return Ending(Verdict.SURVIVED, decisions, STOPS)


def _case(name: str) -> Case:
    says, work = name.split("/")
    return Case(name, functools.partial(_endless, says=says, work=work), 25.0)


ENDLESS_STOPS = Family(
    "endless-stops",
    "an agent stops thirty times with work that fails its gate",
    # Where nothing tells one prompt from the next, changed work may be work for another one.
    lambda _: [
        f"{says}/{work}" for says in SAYS for work in WORK if says != "no-ids" or work in {"unchanged", "killed"}
    ],
    _case,
)
