"""Tries whether a remote takes claim refs: makes, moves and deletes a scratch ref, and reports each step."""

from dataclasses import dataclass

from agent_sync.leases.identity import fresh_id
from agent_sync.leases.refs.objects import write_scratch
from agent_sync.leases.refs.remote import PROBES, RefUpdate, Verdict, push
from agent_sync.leases.refs.stores import RemoteStore


@dataclass(frozen=True)
class Step:
    """One step of a probe: whether it worked, and what git said if not."""

    name: str
    verdict: Verdict
    text: str = ""


@dataclass(frozen=True)
class Probe:
    """What a remote did with a scratch ref."""

    steps: tuple[Step, ...]

    @property
    def is_accepted(self) -> bool:
        """Whether every step worked."""
        return all(step.verdict is Verdict.LANDED for step in self.steps)

    @property
    def is_refused(self) -> bool:
        """Whether the remote was there and said no."""
        return any(step.verdict is Verdict.REJECTED for step in self.steps)


def probe(store: RemoteStore) -> Probe:
    """Make, move and delete a scratch ref; what follows a step that failed is not tried."""
    name = fresh_id()
    ref = f"{PROBES}{name}"
    # Not a child of the first: renewals need a remote that lets a ref move sideways.
    first, second = (write_scratch(store.git, f"Probe {name}, {word}\n") for word in ("made", "moved"))
    plan = (("create", "", first), ("move", first, second), ("delete", second, ""))
    steps: list[Step] = []
    for word, old, new in plan:
        pushed = push(store.git, store.address, [RefUpdate(ref, old, new)], limit_s=store.limit_s)
        steps.append(Step(word, pushed.verdict, "" if pushed.verdict is Verdict.LANDED else pushed.text))
        if pushed.verdict is not Verdict.LANDED:
            break
    return Probe(tuple(steps))
