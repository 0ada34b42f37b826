"""Keeps leases, for everybody who shares the remote or for this clone only, behind one set of orders."""

from datetime import datetime
from typing import Protocol

from agent_sync.leases.identity import worktree_id
from agent_sync.leases.model import Mine, State, Tip, Where
from agent_sync.leases.refs import beginning, holding
from agent_sync.leases.refs.bench import Bench
from agent_sync.leases.refs.intents import Intents
from agent_sync.leases.refs.probe import Probe, probe
from agent_sync.leases.refs.refusals import Refusals
from agent_sync.leases.refs.stores import CloneStore, RemoteStore, Store
from agent_sync.leases.results import BranchRefused, Change, Listing, Outcome, Request, Seen, Unknown, Unreadable
from agent_sync.settings import Settings
from agent_sync.system.git import NETWORK_LIMIT, Git, Remote, no_remote
from agent_sync.worktree import Place


class Keeper(Protocol):
    """Whoever keeps leases; won, lost and unknown are told by reading the ref, never by an error's text."""

    @property
    def where(self) -> Where:
        """How far its leases hold."""

    def acquire(self, issue: int, request: Request) -> Outcome:
        """Take an issue that nobody holds."""

    def take_over(self, seen: Tip, request: Request) -> Outcome:
        """Take an issue from its holder, if its ref still is what was judged by the rules."""

    def confirm(self, mine: Mine) -> None:
        """Forget how a lease was got, once its holder has saved that it has it."""

    def renew(self, mine: Mine, change: Change) -> Outcome:
        """Let a lease run anew."""

    def release(self, mine: Mine, change: Change) -> Outcome:
        """Give an issue back."""

    def finish(self, mine: Mine, change: Change) -> Outcome:
        """Mark an issue's work as done."""

    def push_branch(self, branch: str, sha: str, mine: Mine, change: Change) -> Outcome | BranchRefused:
        """Push a branch forward together with a renewal."""

    def read(self, issue: int) -> Seen:
        """Return what an issue's ref holds now; None means that nobody ever claimed it."""

    def list(self) -> Listing | Unknown:
        """Return what all claim refs hold now."""


class RefKeeper(Keeper):
    """Keeps leases in a store of refs."""

    def __init__(self, store: Store, place: Place) -> None:
        self._bench = Bench(store, Intents(place, worktree_id(place)))

    @property
    def where(self) -> Where:
        """How far its leases hold."""
        return self._bench.store.where

    def acquire(self, issue: int, request: Request) -> Outcome:
        """Take an issue that nobody holds."""
        return beginning.acquire(self._bench, issue, request)

    def take_over(self, seen: Tip, request: Request) -> Outcome:
        """Take an issue from its holder, if its ref still is what was judged by the rules."""
        return beginning.take_over(self._bench, seen, request)

    def confirm(self, mine: Mine) -> None:
        """Forget how a lease was got, once its holder has saved that it has it."""
        pending = self._bench.begun(mine.issue)
        if pending and pending.nonce == mine.nonce:
            self._bench.intents.settle(mine.issue)

    def renew(self, mine: Mine, change: Change) -> Outcome:
        """Let a lease run anew."""
        return holding.renew(self._bench, mine, change)

    def release(self, mine: Mine, change: Change) -> Outcome:
        """Give an issue back."""
        return holding.end(self._bench, mine, change, State.RELEASED)

    def finish(self, mine: Mine, change: Change) -> Outcome:
        """Mark an issue's work as done."""
        return holding.end(self._bench, mine, change, State.DONE)

    def push_branch(self, branch: str, sha: str, mine: Mine, change: Change) -> Outcome | BranchRefused:
        """Push a branch forward together with a renewal."""
        return holding.push_branch(self._bench, mine, change, (branch, sha))

    def read(self, issue: int) -> Seen:
        """Return what an issue's ref holds now."""
        return self._bench.store.look(issue)

    def list(self) -> Listing | Unknown:
        """Return what all claim refs hold now."""
        found = self._bench.store.everything()
        if isinstance(found, Unknown):
            return found
        tips = tuple(one for one in found if isinstance(one, Tip))
        return Listing(tips, tuple(one for one in found if isinstance(one, Unreadable)))


class RemoteKeeper(RefKeeper):
    """Keeps leases on the shared remote, by compare-and-swap in a push; only a configured remote has one."""

    def __init__(self, git: Git, place: Place, remote: str | Remote, *, limit_s: float = NETWORK_LIMIT) -> None:
        found = git.must_have(remote) if isinstance(remote, str) else remote
        self._url = found.push_url
        self._store = RemoteStore(git, found, limit_s)
        self._refusals = Refusals(place)
        super().__init__(self._store, place)

    @property
    def address(self) -> str:
        """What git is told to talk to."""
        return self._store.address

    @property
    def remote_store(self) -> RemoteStore:
        """The refs of the remote, for whoever moves others together with claims."""
        return self._store

    def acquire(self, issue: int, request: Request) -> Outcome:
        """Take an issue that nobody holds; a remote that takes no claim refs is remembered as such."""
        outcome = super().acquire(issue, request)
        if isinstance(outcome, Unknown) and outcome.refused:
            self._refusals.remember(self._url, request.now)
        return outcome

    def probe(self, now: datetime) -> Probe:
        """Try what the remote takes, and remember the answer."""
        found = probe(self._store)
        if found.is_accepted:
            self._refusals.forget(self._url)
        elif found.is_refused:
            self._refusals.remember(self._url, now)
        return found


class CloneKeeper(RefKeeper):
    """Keeps leases in this clone; `reason` says why not on the remote."""

    def __init__(self, git: Git, place: Place, remote: str, reason: str = "") -> None:
        super().__init__(CloneStore(git, remote), place)
        self.reason = reason


def keeper_for(  # noqa: PLR0913  # a worktree, its settings, and what the caller knows
    git: Git,
    place: Place,
    settings: Settings,
    now: datetime,
    *,
    where: Where | None = None,
    limit_s: float = NETWORK_LIMIT,
) -> RemoteKeeper | CloneKeeper:
    """Return the keeper for new leases, or the one that keeps a lease got earlier, whose `where` is given.

    A clone without any remote keeps leases itself; one that lacks the remote it is told to use does not guess.
    """
    remote = settings.git.remote
    if where is Where.REMOTE:
        return RemoteKeeper(git, place, remote, limit_s=limit_s)
    if where is Where.CLONE:
        return CloneKeeper(git, place, remote, "the claim was made so")
    if settings.lease.where == "clone":
        return CloneKeeper(git, place, remote, "the settings say so")
    found = git.remote(remote)
    if found is None:
        if others := git.remotes():
            raise no_remote(remote, others)
        return CloneKeeper(git, place, remote, f"there is no remote {remote}")
    if since := Refusals(place).since(found.push_url, now):
        return CloneKeeper(git, place, remote, f"{remote} refused claim refs on {since:%Y-%m-%d %H:%M} UTC")
    return RemoteKeeper(git, place, found, limit_s=limit_s)
