"""Where claim refs live: on the shared remote, or in this clone; each reads them and swaps them one way."""

from dataclasses import dataclass
from typing import Protocol

from agent_sync.errors import GitFailed
from agent_sync.leases.identity import fresh_id
from agent_sync.leases.model import Tip, Where
from agent_sync.leases.refs.objects import seen_at, tips_below
from agent_sync.leases.refs.remote import CLAIMS, PROBES, TRACKING, Pushed, RefUpdate, Verdict, fetch, push, said
from agent_sync.leases.results import Doubt, Seen, Unknown, Unreadable
from agent_sync.system.git import NETWORK_LIMIT, Git, Remote

Branch = tuple[str, str] | None


class Store(Protocol):
    """Claim refs that can be read, and moved from what they were to something new."""

    @property
    def git(self) -> Git:
        """The git of this clone."""

    @property
    def where(self) -> Where:
        """How far these refs are seen."""

    def known(self, issue: int) -> Seen:
        """Return what this clone last knew of a claim, without asking anybody."""

    def look(self, issue: int) -> Seen:
        """Return what a claim ref holds now."""

    def everything(self) -> tuple[Tip | Unreadable, ...] | Unknown:
        """Return what all claim refs hold now."""

    def swap(self, update: RefUpdate, branch: Branch) -> Pushed:
        """Move a claim ref, and a branch with it, if the ref still is what it was."""

    def refuses(self, commit: str) -> bool:
        """Tell whether no ref of ours can be made here at all."""


@dataclass(frozen=True)
class RemoteStore:
    """The claim refs of the shared remote; every look is one fetch and every swap one push."""

    git: Git
    remote: Remote
    limit_s: float = NETWORK_LIMIT
    where: Where = Where.REMOTE

    @property
    def address(self) -> str:
        """What git is told to talk to."""
        return self.remote.address

    @property
    def _tracking(self) -> str:
        return f"{TRACKING}{self.remote.name}/claims/"

    def known(self, issue: int) -> Seen:
        """Return what the last fetch or push of this clone left."""
        return seen_at(self.git, f"{self._tracking}{issue}", self.where)

    def look(self, issue: int) -> Seen:
        """Ask the remote for one claim."""
        trouble = self._fetched(issue)
        return Unknown(Doubt.UNREACHABLE, trouble) if trouble else self.known(issue)

    def everything(self) -> tuple[Tip | Unreadable, ...] | Unknown:
        """Ask the remote for all claims."""
        trouble = self._fetched(None)
        return Unknown(Doubt.UNREACHABLE, trouble) if trouble else tips_below(self.git, self._tracking, self.where)

    def _fetched(self, issue: int | None) -> str | None:
        return fetch(self.git, self.address, below=CLAIMS, tracking=self._tracking, issue=issue, limit_s=self.limit_s)

    def swap(self, update: RefUpdate, branch: Branch) -> Pushed:
        """Push the claim with its lease, and the branch in the same breath."""
        pushed = push(self.git, self.address, [update], branch, limit_s=self.limit_s)
        if pushed.verdict is Verdict.LANDED:
            # Only from what it was: a fetch that already knows better is not overwritten.
            tracking = update.ref.replace(CLAIMS, self._tracking, 1)
            self.git.ask("update-ref", "--no-deref", tracking, update.new, update.old or "0" * len(update.new))
        return pushed

    def refuses(self, commit: str) -> bool:
        """Try a scratch ref of ours: only a clear no to that too means that none are taken."""
        scratch = f"{PROBES}{fresh_id()}"
        made = push(self.git, self.address, [RefUpdate(scratch, "", commit)], limit_s=self.limit_s)
        if made.verdict is Verdict.LANDED:
            push(self.git, self.address, [RefUpdate(scratch, commit, "")], limit_s=self.limit_s)
        return made.verdict is Verdict.REJECTED


@dataclass(frozen=True)
class CloneStore:
    """The claim refs of this clone, shared by its worktrees and by nobody else."""

    git: Git
    remote: str
    where: Where = Where.CLONE

    def known(self, issue: int) -> Seen:
        """Return what the claim ref holds."""
        return self.look(issue)

    def look(self, issue: int) -> Seen:
        """Return what the claim ref holds."""
        return seen_at(self.git, f"{CLAIMS}{issue}", self.where)

    def everything(self) -> tuple[Tip | Unreadable, ...] | Unknown:
        """Return what all claim refs hold."""
        return tips_below(self.git, CLAIMS, self.where)

    def swap(self, update: RefUpdate, branch: Branch) -> Pushed:
        """Move the ref, and only then the branch on the remote, so that whoever lost the one cannot do the other."""
        if branch:
            self.git.must_have(self.remote)
        old = update.old or "0" * len(update.new)
        done = self.git.ask(
            "-c", "core.filesRefLockTimeout=5000", "update-ref", "--no-deref", update.ref, update.new, old
        )
        if done.status:
            return Pushed(Verdict.REJECTED, said(done))
        return self._pushed(branch) if branch else Pushed(Verdict.LANDED)

    def _pushed(self, branch: tuple[str, str]) -> Pushed:
        try:
            self.git.push(self.remote, *branch)
        except GitFailed as error:
            return Pushed(Verdict.BRANCH_REFUSED, str(error))
        return Pushed(Verdict.LANDED)

    def refuses(self, commit: str) -> bool:
        """A clone takes every ref."""
        return not commit
