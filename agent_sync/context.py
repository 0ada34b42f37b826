"""Everything one run works with, put together once: the worktree, its settings, its state, git and GitHub."""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agent_sync import settings as settings_file
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.settings import Origin, Settings
from agent_sync.settings.approvals import ApprovalRequest
from agent_sync.settings.problems import UnknownSetting
from agent_sync.system.git import Git
from agent_sync.system.git_memory import GitMemory
from agent_sync.system.masking import Log, secrets_of
from agent_sync.system.processes import Processes
from agent_sync.task.claim.store import ClaimStore
from agent_sync.task.notes import Memory
from agent_sync.task.outbox import Outbox
from agent_sync.worktree import CLAIM_NAME, Place, record_pointer

if TYPE_CHECKING:
    from datetime import datetime

    from agent_sync.gateway.port import Gateway
    from agent_sync.gateway.transport.remotes import Remotes
    from agent_sync.record.disk.recorder import Recorder
    from agent_sync.task.claim.model import Claim
    from agent_sync.task.decision.facts import Beside
    from agent_sync.task.decision.tasks import BoardSeen

Connect = Callable[["Context"], "Gateway"]


@dataclass
class Context:
    """One worktree and what is needed to work on its claim; GitHub is connected when first asked."""

    place: Place
    settings: Settings
    environment: Mapping[str, str]
    connect: Connect
    # Where each setting was set, and what the repository's files ask for without the user's approval.
    origins: Mapping[str, Origin] = field(default_factory=dict)
    held_back: tuple[ApprovalRequest, ...] = ()
    # Settings that this version does not know, and ignores.
    unknown: tuple[UnknownSetting, ...] = ()
    processes: Processes = field(default_factory=Processes)
    git_memory: GitMemory = field(default_factory=GitMemory)
    # Where the event or command takes place.
    cwd: str = ""
    # Returns the board that was asked for ahead, while something else was looked at.
    board_ahead: "Callable[[], BoardSeen | None] | None" = None
    # Returns when a look that the watchers of a clone share found the claim's pull request as the claim knows it.
    shared_look: "Callable[[Claim], datetime | None] | None" = None
    # The pull request of the branch that the last sync found and the claim does not name.
    found_beside: "Beside | None" = None

    @cached_property
    def gateway(self) -> "Gateway":
        """GitHub."""
        return self.connect(self)

    @cached_property
    def store(self) -> ClaimStore:
        """The claim file."""
        return self._new_store(self.place)

    @cached_property
    def outbox(self) -> Outbox:
        """What waits to be said."""
        return Outbox(self.place)

    @cached_property
    def memory(self) -> Memory:
        """What this clone remembers."""
        return Memory(self.place)

    @cached_property
    def git(self) -> Git:
        """Git in this worktree."""
        return self.git_at(self.place)

    @cached_property
    def remotes(self) -> "Remotes":
        """Which remote has the issues, and which takes the branches."""
        from agent_sync.gateway.transport.remotes import remotes_of

        return remotes_of(self)

    def at(self, place: Place) -> "Context":
        """Return the context of a worktree of this clone, with the same settings."""
        return self if place.root == self.place.root else replace(self, place=place)

    def beside(self, place: Place) -> "Context":
        """Return the context of another worktree in which the same session works."""
        return replace(self, place=place, cwd=place.root, held_back=(), unknown=(), board_ahead=None, shared_look=None)

    def store_at(self, place: Place) -> ClaimStore:
        """Return the claim file of a worktree of this clone."""
        return self.store if place.root == self.place.root else self._new_store(place)

    def _new_store(self, place: Place) -> ClaimStore:
        return ClaimStore(place, lambda: self.git_at(place).tracks(CLAIM_NAME))

    def git_at(self, place: Place) -> Git:
        """Return git in a worktree of this clone."""
        return Git(place.root, self.processes, self.environment, self._git_variables, self.git_memory)

    def _git_variables(self, address: str) -> Mapping[str, str]:
        """Look for the token only where git asks for it."""
        from agent_sync.gateway.transport.git_credentials import git_variables

        return git_variables(self, address)

    @property
    def may_have_record(self) -> bool:
        """Whether the record is worth looking for: without claim and pointer there is nothing to keep."""
        has_pointer = Path(record_pointer(self.place)).exists()
        return self.settings.record.enabled and (has_pointer or self.store.file.exists())

    @cached_property
    def recorder(self) -> "Recorder":
        """The recovery record."""
        from agent_sync.record.disk.recorder import Recorder

        return Recorder(self.place, self.settings, self.environment, self.git)

    @cached_property
    def log(self) -> Log:
        """What was done."""
        return Log(self.place, secrets=secrets_of(self.environment))

    @property
    def requests(self) -> int:
        """How many requests have gone to GitHub so far."""
        return self.gateway.requests if "gateway" in self.__dict__ else 0


def context_at(place: Place, environment: Mapping[str, str], *, cwd: str = "") -> Context:
    """Put the context of one worktree together, for an event or command that takes place at `cwd`."""
    loaded = settings_file.load(place, environment)
    settings_file.withdraw(loaded.held_back)
    return Context(
        place,
        loaded.settings,
        loaded.environment,
        _connected,
        loaded.origins,
        loaded.held_back,
        loaded.unknown,
        cwd=cwd,
    )


def _connected(context: Context) -> "Gateway":
    """Load the client libraries now that GitHub is really needed."""
    from agent_sync.gateway.github import GitHub

    return GitHub.reaching(context)
