"""The line to one repository's GitHub: sends documents, persists, counts, and lets only our own errors out."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from agent_sync.gateway.transport.answer import Answer
from agent_sync.gateway.transport.auth import Token
from agent_sync.gateway.transport.counter import Counter
from agent_sync.gateway.transport.documents import document
from agent_sync.gateway.transport.endpoint import Endpoint
from agent_sync.gateway.transport.failures import Call, Failures
from agent_sync.gateway.transport.repository import Repository
from agent_sync.settings import Settings

if TYPE_CHECKING:
    from agent_sync.gateway.transport.persistence import Patience, Sleep
    from agent_sync.gateway.transport.wire import Wire


@dataclass
class Line:
    """One repository on one GitHub, as one token reaches it; nothing is connected before the first call."""

    repository: Repository
    endpoint: Endpoint
    token: Token
    settings: Settings
    sleep: "Sleep | None" = None
    counter: Counter = field(default_factory=Counter, init=False)

    @property
    def names(self) -> dict[str, str]:
        """The variables that name the repository."""
        return {"owner": self.repository.owner, "name": self.repository.name}

    @cached_property
    def failures(self) -> Failures:
        """How trouble is told."""
        return Failures(self.token.kind, self.endpoint.host)

    @cached_property
    def patience(self) -> "Patience":
        """How long limits may still be waited for."""
        from agent_sync.gateway.transport.persistence import Patience

        left_s = self.settings.hooks.rate_limit_wait_s
        return Patience(left_s, self.sleep) if self.sleep else Patience(left_s)

    @cached_property
    def wire(self) -> "Wire":
        """The connection, made when it is first needed."""
        from agent_sync.gateway.transport.wire import Wire

        return Wire(self.endpoint, self.token, timeout_s=self.settings.github.timeout_s, counter=self.counter)

    def send(self, call: Call) -> Answer:
        """Send one document and return the answer, even where parts of it failed."""
        with self.failures.told(call):
            return self.patience.persist(
                lambda: self.wire.send(document(call.document), call.variables), is_write=call.is_write
            )
