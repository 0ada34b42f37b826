"""The engine that changes refs, against refs in memory: it needs nothing but the interface of a transport."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from agent_sync.leases.refs.compare_and_swap import RefChange, RefOrder, Swapped, SwapPlan, Tried, compare_and_swap
from agent_sync.leases.refs.values import (
    CLAIMS,
    Blob,
    BranchHead,
    FileAt,
    FoundRef,
    NewCommit,
    PastCommit,
    Pushed,
    PushResult,
    RefTransport,
    RefUpdate,
    Where,
)

REF = f"{CLAIMS}7"


@dataclass
class MemoryRefs:
    """Refs in a dictionary; `answers` spoils what the next swaps say, `rival` is written before the next one."""

    refs: dict[str, str] = field(default_factory=dict)
    commits: dict[str, NewCommit] = field(default_factory=dict)
    answers: list[PushResult] = field(default_factory=list)
    rival: str = ""
    swaps: int = 0
    where: Where = Where.REMOTE
    reason: str = ""
    url: str = "memory:"

    def fetch(self, names: Sequence[str]) -> str:  # noqa: ARG002
        """Nothing needs to be fetched."""
        return ""

    def known(self, name: str, *, with_kinds: bool = False) -> tuple[FoundRef, ...]:  # noqa: ARG002
        """Return the refs below a name."""
        return tuple(FoundRef(ref, sha) for ref, sha in self.refs.items() if ref.startswith(name))

    def read(self, files: Sequence[FileAt], *, largest: int) -> list[Blob]:  # noqa: ARG002
        """Return files of commits that were written here."""
        return [self.commits[one.commit].files.get(one.path) for one in files]

    def history(self, tips: Sequence[str]) -> dict[str, PastCommit]:
        """Nobody asks here."""
        raise NotImplementedError

    def write(self, commit: NewCommit) -> str:
        """Keep a commit under a made-up sha."""
        sha = f"{len(self.commits) + 1:040x}"
        self.commits[sha] = commit
        return sha

    def swap(self, updates: Sequence[RefUpdate], branch: BranchHead | None = None) -> Pushed:  # noqa: ARG002
        """Move all refs or none."""
        self.swaps += 1
        if self.rival:
            self.refs[REF], self.rival = self.rival, ""
        is_free = all(self.refs.get(one.ref, "") == one.old for one in updates)
        if is_free:
            self.refs |= {one.ref: one.new for one in updates}
        result = PushResult.LANDED if is_free else PushResult.REJECTED
        return Pushed(self.answers.pop(0) if self.answers else result)


def test_memory_is_a_transport():
    """The interface is all there is to a transport."""
    transport: RefTransport = MemoryRefs()
    assert transport.where is Where.REMOTE


@dataclass(frozen=True)
class Append(RefOrder[str, str, str]):
    """Puts one more commit on a ref, at most `most` times; what is there already counts."""

    most: int = 3
    intents: list[str] = field(default_factory=list)

    def look(self, transport: RefTransport) -> str:
        """Return the commit of the ref."""
        return next((ref.sha for ref in transport.known(REF)), "")

    def decide(self, seen: str, tried: Tried[str] | None) -> SwapPlan[str] | str:
        """Put a commit on what is there."""
        if tried and seen == tried.updates[0].new:
            return "found to be there"
        if tried and tried.number == self.most:
            return f"gave up after {tried.number}, sent: {tried.was_sent}"
        return SwapPlan(f"on {seen or 'nothing'}", (RefChange(REF, seen, NewCommit("x", parents=(seen,))),))

    def before_swap(self, plan: SwapPlan[str], updates: Sequence[RefUpdate]) -> None:
        """Note what is about to be swapped."""
        self.intents.append(f"{plan.value}: {updates[0].new}")


def test_first_swap_lands():
    """One look, one decision, one swap; the intent is written before it."""
    refs, order = MemoryRefs(), Append()
    done = compare_and_swap(refs, order)
    assert isinstance(done, Swapped)
    assert (done.value, refs.refs[REF], refs.swaps) == ("on nothing", done.updates[0].new, 1)
    assert order.intents == [f"on nothing: {done.updates[0].new}"]


def test_loser_of_a_race_decides_again():
    """Whoever loses reads the ref and decides anew from what is there then."""
    refs = MemoryRefs(rival="f" * 40)
    done = compare_and_swap(refs, Append())
    assert isinstance(done, Swapped)
    assert (done.value, refs.swaps) == (f"on {'f' * 40}", 2)


def test_lost_answer_is_read_from_the_ref():
    """A swap that landed without saying so is not repeated."""
    refs = MemoryRefs(answers=[PushResult.SILENT])
    assert compare_and_swap(refs, Append()) == "found to be there"
    assert refs.swaps == 1


def test_order_decides_when_it_ends():
    """A ref that never takes the swap ends with the order's own answer."""

    class Refusing(MemoryRefs):
        def swap(self, updates: Sequence[RefUpdate], branch: BranchHead | None = None) -> Pushed:
            return replace(super().swap([replace(one, old="0" * 40) for one in updates], branch), was_sent=False)

    refs = Refusing()
    assert compare_and_swap(refs, Append(most=2)) == "gave up after 2, sent: False"
    assert (refs.swaps, refs.refs) == (2, {})


@pytest.mark.parametrize("result", [PushResult.LANDED, PushResult.BRANCH_REFUSED])
def test_settled_swap_is_not_looked_at_again(result):
    """Refs that have moved are not read again, whatever became of the branch."""
    refs = MemoryRefs(answers=[result])
    done = compare_and_swap(refs, Append())
    assert isinstance(done, Swapped)
    assert (done.pushed.result, refs.swaps) == (result, 1)


def test_order_may_go_on_elsewhere():
    """After a failure an order can leave for another transport, and looks there."""
    there, here = MemoryRefs(answers=[PushResult.REJECTED], refs={REF: "a" * 40}), MemoryRefs(refs={REF: "b" * 40})

    class Leaving(Append):
        def after_failure(self, transport: RefTransport, tried: Tried[str]) -> RefTransport:  # noqa: ARG002
            return here

    done = compare_and_swap(there, Leaving())
    assert isinstance(done, Swapped)
    assert (done.value, here.swaps) == (f"on {'b' * 40}", 1)
