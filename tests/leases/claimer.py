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

from agent_sync.context import context_at
from agent_sync.leases import rules
from agent_sync.leases.claim_refs import transport_at
from agent_sync.leases.identity import holder_here
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.model import LeaseProof, Tip, proof_of
from agent_sync.leases.refs.api_transport import api_of
from agent_sync.leases.refs.transports import RemoteTransport
from agent_sync.leases.refs.values import RefTransport, Where
from agent_sync.leases.results import LeaseChange, LeaseOutcome, LeaseRequest, NotHeld, Unknown, Won
from agent_sync.system import clock
from agent_sync.system.git import Git
from agent_sync.system.processes import Processes
from agent_sync.worktree import Place, worktree

# Short enough that a clock ten minutes ahead sees a live lease as expired.
TTL_S = 300.0
# By how much a clock may be wrong in a race; it jumps between two rounds.
SKEWS = (0.0, 0.0, 600.0, -600.0)


@dataclass
class Claimer:
    """One worktree, one clock, one log of what it was told."""

    root: Path
    skew_s: float = 0.0

    def __post_init__(self) -> None:
        place = worktree(str(self.root))
        assert place
        self.place = place
        self.keeper = LeaseKeeper(self._transport(place), place)

    def _transport(self, place: Place) -> RefTransport:
        """Return the shared refs, by git or through the interface, as the race wants it."""
        by_git = transport_at(Where.REMOTE, Git(str(self.root), Processes(), dict(os.environ)), "origin")
        if "CLAIMER_BY_API" not in os.environ or not isinstance(by_git, RemoteTransport):
            return by_git
        github = context_at(place, dict(os.environ)).gateway
        return api_of(by_git, lambda: github)

    def now(self):
        """Return what this claimer believes the time to be."""
        return clock.now() + timedelta(seconds=self.skew_s)

    def request(self) -> LeaseRequest:
        """Return what this claimer asks for."""
        return LeaseRequest(holder_here(self.place, agent=self.root.name), self.now(), TTL_S)

    def wanted(self, issue: int) -> LeaseOutcome:
        """Acquire an issue, or take it over if its lease seems to have expired."""
        outcome = self.keeper.acquire(issue, self.request())
        if isinstance(outcome, NotHeld) and self._may_take(outcome.tip):
            return self.keeper.take_over(outcome.tip, self.request())
        return outcome

    def _may_take(self, tip: Tip) -> bool:
        facts = {"branch_moved": False, "has_open_pull": False, "consent": False}
        return rules.objection_to_taking_over(tip.lease, self.now(), **facts) is None

    def once(self, issue: int, order: str) -> LeaseOutcome:
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
                return self.keeper.release(proof_of(seen.lease), LeaseChange(self.now()))

    def round(self, issues: list[int], dice: random.Random) -> None:
        """Go for every issue in some order: get it, perhaps renew it, give it back or keep it."""
        for issue in dice.sample(issues, len(issues)):
            outcome = self.wanted(issue)
            told(issue, "wanted", outcome)
            if isinstance(outcome, Won):
                mine = proof_of(outcome.tip.lease)
                self.keeper.confirm(mine)
                self._hold(mine, dice)

    def _hold(self, mine: LeaseProof, dice: random.Random) -> None:
        if dice.random() < 0.5:
            told(mine.issue, "renew", self.keeper.renew(mine, LeaseChange(self.now())))
        time.sleep(dice.random() * 0.05)
        if dice.random() < 0.8:
            told(mine.issue, "release", self.keeper.release(mine, LeaseChange(self.now())))


def told(issue: int, order: str, outcome: LeaseOutcome) -> None:
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
    """Run `once ROOT ISSUE ORDER`, or `race ROOT ISSUES ROUNDS SEED`."""
    word, root, *more = arguments
    if word == "once":
        claimer = Claimer(Path(root))
        told(int(more[0]), more[1], claimer.once(int(more[0]), more[1]))
        return
    count, rounds, seed = more
    claimer, dice = Claimer(Path(root)), random.Random(int(seed))  # noqa: S311  # a repeatable race, not a secret
    for _ in range(int(rounds)):
        claimer.skew_s = dice.choice(SKEWS)
        claimer.round(list(range(1, int(count) + 1)), dice)


if __name__ == "__main__":
    main(sys.argv[1:])
