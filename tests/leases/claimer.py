"""A claimer as a process of its own, with a clock that may be wrong, for races and kills."""

import json
import os
import random
import sys
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from agent_sync.leases import rules
from agent_sync.leases.identity import holder_here
from agent_sync.leases.keeper import RemoteKeeper
from agent_sync.leases.model import Mine, Tip, mine_of
from agent_sync.leases.results import Change, Lost, Outcome, Request, Unknown, Won
from agent_sync.system import clock
from agent_sync.system.git import Git
from agent_sync.system.processes import Processes
from agent_sync.worktree import worktree

# Short enough that a clock ten minutes ahead sees a live lease as expired.
TTL_S = 300.0


@dataclass
class Claimer:
    """One worktree, one clock, one log of what it was told."""

    root: Path
    skew_s: float = 0.0

    def __post_init__(self) -> None:
        place = worktree(str(self.root))
        assert place
        self.place = place
        self.keeper = RemoteKeeper(Git(str(self.root), Processes(), dict(os.environ)), place, "origin")

    def now(self):
        """Return what this claimer believes the time to be."""
        return clock.now() + timedelta(seconds=self.skew_s)

    def request(self) -> Request:
        """Return what this claimer asks for."""
        return Request(holder_here(self.place, agent=self.root.name), self.now(), TTL_S)

    def wanted(self, issue: int) -> Outcome:
        """Acquire an issue, or take it over if its lease seems to have expired."""
        outcome = self.keeper.acquire(issue, self.request())
        if isinstance(outcome, Lost) and self._may_take(outcome.tip):
            return self.keeper.take_over(outcome.tip, self.request())
        return outcome

    def _may_take(self, tip: Tip) -> bool:
        facts = {"branch_moved": False, "has_open_pull": False, "consent": False}
        return rules.objection_to_taking_over(tip.lease, self.now(), **facts) is None

    def once(self, issue: int, order: str) -> Outcome:
        """Give one order."""
        seen = self.keeper.read(issue)
        match order:
            case "acquire":
                return self.keeper.acquire(issue, self.request())
            case "take-over":
                assert isinstance(seen, Tip)
                return self.keeper.take_over(seen, self.request())
            case _:
                assert isinstance(seen, Tip)
                return self.keeper.release(mine_of(seen.lease), Change(self.now()))

    def round(self, issues: list[int], dice: random.Random) -> None:
        """Go for every issue in some order: get it, perhaps renew it, give it back or keep it."""
        for issue in dice.sample(issues, len(issues)):
            outcome = self.wanted(issue)
            told(issue, "wanted", outcome)
            if isinstance(outcome, Won):
                mine = mine_of(outcome.tip.lease)
                self.keeper.confirm(mine)
                self._hold(mine, dice)

    def _hold(self, mine: Mine, dice: random.Random) -> None:
        if dice.random() < 0.5:
            told(mine.issue, "renew", self.keeper.renew(mine, Change(self.now())))
        time.sleep(dice.random() * 0.05)
        if dice.random() < 0.8:
            told(mine.issue, "release", self.keeper.release(mine, Change(self.now())))


def told(issue: int, order: str, outcome: Outcome) -> None:
    """Print what a claimer was told, so that it can be held against the history."""
    line: dict[str, Any] = {"issue": issue, "order": order, "outcome": type(outcome).__name__}
    if isinstance(outcome, Unknown):
        line["doubt"] = outcome.doubt
    else:
        lease = outcome.tip.lease
        line |= {"sha": outcome.tip.sha, "epoch": lease.epoch, "nonce": lease.nonce, "holder": lease.holder.agent}
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> None:
    """Run `once ROOT ISSUE ORDER`, or `race ROOT ISSUES ROUNDS SEED SKEW`."""
    word, root, *more = arguments
    if word == "once":
        claimer = Claimer(Path(root))
        told(int(more[0]), more[1], claimer.once(int(more[0]), more[1]))
        return
    count, rounds, seed, skew = more
    claimer, dice = Claimer(Path(root), float(skew)), random.Random(int(seed))  # noqa: S311  # a repeatable race, not a secret
    for _ in range(int(rounds)):
        claimer.round(list(range(1, int(count) + 1)), dice)


if __name__ == "__main__":
    main(sys.argv[1:])
