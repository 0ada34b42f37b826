"""Where refs of ours are kept: on the shared remote, changed by git push, or in this clone."""

from collections.abc import Sequence
from dataclasses import field, replace

from agent_sync.errors import GitFailed
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.leases.refs import git_pushes, git_refs
from agent_sync.leases.refs.values import (
    OURS,
    PROBES,
    RESCUE,
    TRACKING,
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
    names_above,
)
from agent_sync.system import git_branches
from agent_sync.system.git import NETWORK_LIMIT, Git, Remote
from agent_sync.system.git_refusals import PushRule, push_rule, refs_allowed

# What can stand in the name of a setting as it is.
_PLAIN_NAME = pattern(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class _GitRefs:
    """What both transports do alike: refs and objects that this clone has."""

    git: Git

    @property
    def prefix(self) -> str:
        """Below what the refs are stored in this clone, in place of `refs/agentsync/`."""
        return OURS

    def known(self, name: str, *, with_kinds: bool = False) -> tuple[FoundRef, ...]:
        """Return a ref and all below it as this clone has them."""
        found = git_refs.list_refs(self.git, self._stored(name), with_kinds=with_kinds)
        return tuple(FoundRef(ref.name.replace(self.prefix, OURS, 1), ref.sha, ref.kind) for ref in found)

    def read(self, files: Sequence[FileAt], *, largest: int) -> list[Blob]:
        """Return files of commits that this clone has."""
        return git_refs.read_files(self.git, files, largest=largest)

    def history(self, tips: Sequence[str], *, most: int) -> dict[str, PastCommit]:
        """Return the commits behind some tips, at most so many of each."""
        return git_refs.read_log(self.git, tips, most=most)

    def write(self, commit: NewCommit) -> str:
        """Store a commit in this clone."""
        return git_refs.write_commit(self.git, commit)

    def keep(self, tree: str, commit: NewCommit) -> str:
        """Store a commit of a tree in this clone."""
        return git_refs.commit_tree(self.git, tree, commit)

    def above(self, name: str) -> str:
        """Return a ref of this clone that is in the way of another."""
        names = names_above(name)
        found = {ref.name for one in names for ref in git_refs.list_refs(self.git, one)}
        return next((one for one in names if one in found), "")

    def _stored(self, name: str) -> str:
        return name.replace(OURS, self.prefix, 1)


@dataclass(frozen=True)
class RemoteTransport(_GitRefs):
    """The refs of the shared remote: a look is one fetch, a swap is one push."""

    remote: Remote
    limit_s: float = NETWORK_LIMIT
    # The remote that takes branches, where it is another one, such as a fork.
    branches: str = ""
    where: Where = field(default=Where.REMOTE, init=False)
    reason: str = field(default="", init=False)

    @property
    def url(self) -> str:
        """Which remote it writes to."""
        return self.remote.push_url

    @property
    def prefix(self) -> str:
        """Where fetched refs are stored."""
        return f"{TRACKING}{self.remote.name}/"

    def fetch(self, names: Sequence[str]) -> str:
        """Fetch refs of all names in one go."""
        specs = [spec for name in names for spec in git_refs.refspecs(name, self._stored(name))]
        # A rescue is a child of the code's commits: saying which of them are here saves bringing all.
        is_code = any(name.startswith(RESCUE) for name in names)
        limit_s = self.limit_s
        trouble = git_refs.fetch(self.git, self.remote.address, specs, url=self.url, limit_s=limit_s, is_code=is_code)
        for name in names:
            if name.endswith("/"):
                git_refs.pack_if_many(self.git, self._stored(name))
        return trouble

    def above(self, name: str) -> str:
        """Return a ref of the remote that is in the way of another; a remote that does not answer has none."""
        names = names_above(name)
        found = git_refs.names_there(self.git, self.remote.address, names, url=self.url, limit_s=self.limit_s)
        return next((one for one in names if one in found), "")

    def swap(self, updates: Sequence[RefUpdate], branch: BranchHead | None = None) -> Pushed:
        """Push everything in one atomic push; what landed is known here at once.

        A branch that goes to another remote follows once the refs have moved: whoever lost them cannot push it.
        """
        if branch and self._takes_branches_elsewhere:
            moved = self.swap(updates)
            return self._push_branch(branch) if moved.result is PushResult.LANDED else moved
        pushed = self._push(updates, branch)
        if push_rule(pushed.text) is PushRule.POLICY and pushed.result is PushResult.REJECTED:
            pushed = self._push_in_two(updates, branch, pushed)
        if pushed.result is PushResult.LANDED:
            self._note(updates)
        return pushed

    def swap_each(self, updates: Sequence[RefUpdate]) -> tuple[Pushed, ...]:
        """Push everything in one push that is not atomic; where that is too much for the server, in several."""
        by_ref = self._push_each(updates)
        refused = [one for one in updates if push_rule(by_ref[one.ref].text) is PushRule.POLICY]
        most = min((refs_allowed(by_ref[one.ref].text) for one in refused), default=0)
        if 0 < most < len(refused):
            for start in range(0, len(refused), most):
                by_ref |= self._push_each(refused[start : start + most])
        self._note([one for one in updates if by_ref[one.ref].result is PushResult.LANDED])
        return tuple(by_ref[one.ref] for one in updates)

    def _push_each(self, updates: Sequence[RefUpdate]) -> dict[str, Pushed]:
        limit_s, noted = self.limit_s, self._noted(updates)
        pushed = git_pushes.push_each(
            self.git, self.remote.address, updates, url=self.url, limit_s=limit_s, noted=noted
        )
        return {update.ref: one for update, one in zip(updates, pushed, strict=True)}

    @property
    def _takes_branches_elsewhere(self) -> bool:
        return self.branches not in {"", self.remote.name} or not self.remote.has_name

    def _push_branch(self, branch: BranchHead) -> Pushed:
        return push_branch(self.git, self.branches or self.remote.name, branch)

    def _push(self, updates: Sequence[RefUpdate], branch: BranchHead | None = None) -> Pushed:
        limit_s, noted = self.limit_s, self._noted(updates)
        return git_pushes.push(
            self.git, self.remote.address, updates, branch, url=self.url, limit_s=limit_s, noted=noted
        )

    def _noted(self, updates: Sequence[RefUpdate]) -> dict[str, str]:
        """Return which refs git itself moves here for those there; none where it does not know the remote by name."""
        # What a fetch has just seen may be overwritten; the next swap then fails, and looks again.
        is_named = self.remote.address == self.remote.name and _PLAIN_NAME.fullmatch(self.remote.name)
        return {one.ref: self._stored(one.ref) for one in _lasting(updates)} if is_named else {}

    def _push_in_two(self, updates: Sequence[RefUpdate], branch: BranchHead | None, refused: Pushed) -> Pushed:
        """Push what only keeps work first, then hook and claim: no policy allows fewer than two refs in a push."""
        kept = [self._as_it_is(update) for update in updates if update.ref.startswith(RESCUE)]
        rest = [update for update in updates if not update.ref.startswith(RESCUE)]
        if not rest or not (kept or branch):
            return refused
        first = self._push(kept, branch)
        return self._push(rest) if first.result is PushResult.LANDED else first

    def _as_it_is(self, update: RefUpdate) -> RefUpdate:
        """Return the change of a rescue ref from what it is now: it is this holder's alone."""
        self.fetch([update.ref])
        found = next((ref.sha for ref in self.known(update.ref) if ref.name == update.ref), "")
        return replace(update, old=found)

    def _note(self, updates: Sequence[RefUpdate]) -> None:
        """Note what landed where git has not done so itself while it pushed."""
        for update in _lasting(updates):
            stored = self._stored(update.ref)
            if (self.git.commit_at(stored) or "") != update.new:
                # Only from what it was: a fetch that already knows better is not overwritten.
                git_refs.note_move(self.git, replace(update, ref=stored))


def _lasting(updates: Sequence[RefUpdate]) -> list[RefUpdate]:
    """Return the changes of refs that are there to stay."""
    return [update for update in updates if not update.ref.startswith(PROBES)]


@dataclass(frozen=True)
class CloneTransport(_GitRefs):
    """The refs of this clone, shared by its worktrees and by nobody else; `remote` still takes the branch."""

    remote: str
    reason: str = ""
    where: Where = field(default=Where.CLONE, init=False)
    url: str = field(default="", init=False)

    def fetch(self, names: Sequence[str]) -> str:  # noqa: ARG002
        """Nothing needs to be fetched."""
        return ""

    def swap(self, updates: Sequence[RefUpdate], branch: BranchHead | None = None) -> Pushed:
        """Move the refs, and only then the branch on the remote, so that whoever lost the one cannot do the other."""
        if branch:
            self.git.must_have(self.remote)
        moved = git_refs.move_together(self.git, updates)
        is_moved = moved.result is PushResult.LANDED
        return push_branch(self.git, self.remote, branch) if branch and is_moved else moved

    def swap_each(self, updates: Sequence[RefUpdate]) -> tuple[Pushed, ...]:
        """Move one after the other."""
        return tuple(self.swap([update]) for update in updates)


def push_branch(git: Git, remote: str, branch: BranchHead) -> Pushed:
    """Push a branch alone, after the refs that it depends on."""
    try:
        said = git_branches.try_to_push(git, remote, branch.name, branch.sha)
    except GitFailed as error:
        said = str(error)
    return Pushed(PushResult.BRANCH_REFUSED, said) if said else Pushed(PushResult.LANDED)


# Both are what the engine works through; the type checker proves it here.
_IMPLEMENTATIONS: tuple[type[RefTransport], ...] = (RemoteTransport, CloneTransport)
