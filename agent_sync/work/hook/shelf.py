"""Where work hooks and claims live: on the shared remote, or in this clone; one fetch and one atomic change each."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from agent_sync.context import Context
from agent_sync.errors import GitFailed
from agent_sync.leases.keeper import RemoteKeeper, keeper_for
from agent_sync.leases.model import Where
from agent_sync.leases.refs.refusals import Refusals
from agent_sync.leases.refs.remote import TRACKING, Pushed, RefUpdate, Verdict, fetch_refs, push, refspecs, said
from agent_sync.leases.refs.stores import Branch, RemoteStore
from agent_sync.system.git import NETWORK_LIMIT, Git
from agent_sync.work.hook.names import CLAIMS, HOOKS

OURS = "refs/agentsync/"


class Shelf(Protocol):
    """Hook and claim refs that can be brought up to date, read below a prefix, and changed all at once."""

    @property
    def git(self) -> Git:
        """The git they are read with."""

    @property
    def where(self) -> Where:
        """How far what is written here holds."""

    @property
    def allowance_s(self) -> float:
        """How much the clocks of those who share them may differ."""

    @property
    def prefix(self) -> str:
        """Below what the refs are found in this clone, in place of `refs/agentsync/`."""

    def update(self, issue: int | None, *, limit_s: float = NETWORK_LIMIT) -> str:
        """Bring all hooks, and one claim or all, up to date; return what went wrong."""

    def swap(self, updates: Sequence[RefUpdate], branch: Branch = None) -> Pushed:
        """Change all refs and a branch, or none of them."""


@dataclass(frozen=True)
class RemoteShelf:
    """The refs of the shared remote, as last fetched."""

    store: RemoteStore
    allowance_s: float
    where: Where = field(default=Where.REMOTE, init=False)

    @property
    def git(self) -> Git:
        """The git they are read with."""
        return self.store.git

    @property
    def prefix(self) -> str:
        """Where fetched refs are kept."""
        return f"{TRACKING}{self.store.remote.name}/"

    def update(self, issue: int | None, *, limit_s: float = NETWORK_LIMIT) -> str:
        """Fetch all hooks, and one claim or all, in one go."""
        hooks = refspecs(HOOKS, f"{self.prefix}hooks/")
        claims = refspecs(CLAIMS, f"{self.prefix}claims/", issue)
        return fetch_refs(self.git, self.store.address, [*hooks, *claims], limit_s=limit_s) or ""

    def swap(self, updates: Sequence[RefUpdate], branch: Branch = None) -> Pushed:
        """Push everything in one atomic push; what landed is known here at once."""
        pushed = push(self.git, self.store.address, updates, branch)
        if pushed.verdict is Verdict.LANDED:
            for update in updates:
                tracking = update.ref.replace(OURS, self.prefix, 1)
                self.git.ask("update-ref", "--no-deref", tracking, update.new, update.old or "0" * len(update.new))
        return pushed

    def refuses(self, commit: str) -> bool:
        """Tell whether the remote takes no refs of ours at all."""
        return self.store.refuses(commit)


@dataclass(frozen=True)
class CloneShelf:
    """The refs of this clone, shared by its worktrees and nobody else; `remote` may still take the branch."""

    git: Git
    allowance_s: float
    remote: str = ""
    where: Where = field(default=Where.CLONE, init=False)
    prefix: str = field(default=OURS, init=False)

    def update(self, issue: int | None, *, limit_s: float = NETWORK_LIMIT) -> str:  # noqa: ARG002
        """Nothing needs to be fetched."""
        return ""

    def swap(self, updates: Sequence[RefUpdate], branch: Branch = None) -> Pushed:
        """Change all refs in one transaction; then push the branch, where there is a remote to push to."""
        lines = [f"update {one.ref} {one.new} {one.old or '0' * len(one.new)}\n" for one in updates]
        orders = "".join(["start\n", *lines, "prepare\n", "commit\n"])
        done = self.git.ask("-c", "core.filesRefLockTimeout=5000", "update-ref", "--stdin", stdin=orders)
        if done.status:
            return Pushed(Verdict.REJECTED, said(done))
        return self._branch_pushed(branch)

    def _branch_pushed(self, branch: Branch) -> Pushed:
        if branch is None or not self.remote:
            return Pushed(Verdict.LANDED)
        try:
            self.git.push(self.remote, *branch)
        except GitFailed as error:
            return Pushed(Verdict.BRANCH_REFUSED, str(error))
        return Pushed(Verdict.LANDED)


def shelf_for(context: Context, now: datetime) -> RemoteShelf | CloneShelf:
    """Return where new work hangs: where the claims of this worktree are kept."""
    keeper = keeper_for(context.git, context.place, context.settings, now)
    allowance_s = context.settings.lease.allowance_s
    if isinstance(keeper, RemoteKeeper):
        return RemoteShelf(keeper.remote_store, allowance_s)
    remote = context.settings.git.remote
    return CloneShelf(context.git, allowance_s, remote if context.git.remote(remote) else "")


def clone_shelf_after_refusal(context: Context, shelf: RemoteShelf, now: datetime) -> CloneShelf:
    """Remember that the remote takes no refs of ours, and go on in this clone."""
    remote = shelf.store.remote
    Refusals(context.place).remember(remote.push_url, now)
    return CloneShelf(context.git, shelf.allowance_s, remote.name)
