"""Refs of the shared repository through GitHub's interface, where git may push only the working branch."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from agent_sync.errors import AgentSyncError, GitFailed, GitHubDown, RateLimited
from agent_sync.gateway.port import Gateway
from agent_sync.gateway.ref_values import ApiCommit, Signature
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.refs.git_objects import missing_commits, set_refs
from agent_sync.leases.refs.git_refs import EMAIL, NAME
from agent_sync.leases.refs.mirrored import mirror_commit, mirror_history
from agent_sync.leases.refs.transports import RemoteTransport
from agent_sync.leases.refs.values import (
    CLAIMS,
    OURS,
    RESCUE,
    BranchHead,
    NewCommit,
    Pushed,
    PushResult,
    RefTransport,
    RefUpdate,
)

# Beyond so many new refs one fetch by git is tried before each is read on its own.
FEW = 3


@dataclass(frozen=True)
class ApiTransport(RemoteTransport):
    """The same refs as those of the remote; a swap is one mutation that checks every old value."""

    connect: Callable[[], Gateway] | None = None

    @property
    def api(self) -> Gateway:
        """GitHub, connected when it is first needed."""
        if self.connect is None:
            raise AssertionError("made without a way to GitHub")
        return self.connect()

    def fetch(self, names: Sequence[str]) -> str:
        """Read the refs and whatever they are at that is not here yet; return what went wrong, if anything."""
        try:
            for name in _joined(names):
                self._bring(name)
        except AgentSyncError as error:
            return str(error)
        return ""

    def write(self, commit: NewCommit) -> str:
        """Store a commit at GitHub and here."""
        # A tree without any file cannot be stored through the interface.
        return self._commit(self.api.store_tree(commit.files or {"probe": b""}), commit)

    def keep(self, tree: str, commit: NewCommit) -> str:
        """Store a commit of a tree at GitHub and here; its first parent must be there already."""
        from agent_sync.leases.refs.uploading import upload_tree

        upload_tree(self.git, self.api, tree, next(iter(commit.parents), ""))
        return self._commit(tree, commit)

    def _commit(self, tree: str, commit: NewCommit) -> str:
        date = datetime.fromtimestamp(commit.when, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        us = Signature(NAME, EMAIL, date)
        stored = self.api.store_commit(ApiCommit(tree, commit.parents, us, us, commit.message))
        mirror_commit(self.git, self.api, stored)
        return stored.sha

    def swap(self, updates: Sequence[RefUpdate], branch: BranchHead | None = None) -> Pushed:
        """Move the refs, and only then push the branch, so that whoever lost the one cannot do the other."""
        try:
            self.api.update_refs([(update.ref, update.old, update.new) for update in updates])
        except GitHubDown as error:
            return Pushed(PushResult.SILENT, str(error), was_sent=error.maybe_applied)
        except RateLimited as error:
            return Pushed(PushResult.SILENT, str(error), was_sent=False)
        except AgentSyncError as error:
            # What it means is read from the refs: lost to somebody faster, or never to be taken.
            return Pushed(PushResult.REJECTED, str(error))
        self._note_own(updates)
        return self._push_branch(branch) if branch else Pushed(PushResult.LANDED)

    def swap_each(self, updates: Sequence[RefUpdate]) -> tuple[Pushed, ...]:
        """Move one after the other: the interface moves all refs of a mutation or none of them."""
        return tuple(self.swap([update]) for update in updates)

    def _note_own(self, updates: Sequence[RefUpdate]) -> None:
        set_refs(self.git, {self._stored(update.ref): update.new for update in updates})

    def _bring(self, name: str) -> None:
        if name.startswith(RESCUE):
            # A child of the code's commits, which git brings at once and the interface one by one.
            trouble = super().fetch([name])
            if trouble:
                raise GitFailed(trouble, attempted="reading rescues")
            return
        there = {ref: sha for ref, sha in self.api.refs_below(name).items() if _is_meant(ref, name)}
        here = {ref.name: ref.sha for ref in self.known(name)}
        changed = {ref: sha for ref, sha in there.items() if here.get(ref) != sha}
        missing = missing_commits(self.git, list(dict.fromkeys(changed.values())))
        if len(missing) > FEW:
            super().fetch([name])
            missing = missing_commits(self.git, missing)
        for sha in missing:
            mirror_history(self.git, self.api, sha)
        gone = [RefUpdate(ref, "", "") for ref in here if ref not in there]
        self._note_own([*(RefUpdate(ref, "", sha) for ref, sha in changed.items()), *gone])


def api_of(transport: RemoteTransport, connect: Callable[[], Gateway]) -> ApiTransport:
    """Return the same refs through GitHub's interface."""
    return ApiTransport(transport.git, transport.remote, transport.limit_s, transport.branches, connect)


def _joined(names: Sequence[str]) -> Sequence[str]:
    """Return what to ask for, one request each: beyond a few claims, all of them."""
    claims = [name for name in names if name.startswith(CLAIMS)]
    return names if len(claims) <= FEW else [*(name for name in names if name not in claims), CLAIMS]


def _is_meant(ref: str, name: str) -> bool:
    """Tell whether a ref is the one of a name or below it: the interface matches beginnings, `claims/4` also 42."""
    is_ours = ref.startswith(OURS)
    return is_ours and (ref.startswith(name) if name.endswith("/") else ref == name or ref.startswith(f"{name}/"))


_IMPLEMENTATION: type[RefTransport] = ApiTransport
