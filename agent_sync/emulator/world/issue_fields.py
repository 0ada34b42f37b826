"""What an organisation defines for the issues of all its repositories: fields with values, and types."""

from dataclasses import dataclass, field
from datetime import datetime

from agent_sync.emulator.world.identity import Identity
from agent_sync.emulator.world.people import User


@dataclass(eq=False, kw_only=True)
class IssueFieldOption:
    """One choice of an issue field; the first has the highest priority."""

    identity: Identity
    name: str
    priority: int
    color: str = "GRAY"
    description: str | None = None

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node


@dataclass(eq=False, kw_only=True)
class IssueField:
    """A single select field of an organisation, which its boards can show and only the issue holds."""

    identity: Identity
    owner: User
    name: str
    created_at: datetime
    options: list[IssueFieldOption] = field(default_factory=list)
    description: str | None = None

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node

    def option(self, name: str) -> IssueFieldOption | None:
        """Return the option of that name, if the field has it."""
        return next((option for option in self.options if option.name == name), None)


@dataclass(frozen=True)
class IssueFieldValue:
    """What one issue holds in one field."""

    identity: Identity
    field: IssueField
    option: IssueFieldOption

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node


@dataclass(eq=False, kw_only=True)
class IssueType:
    """A type an organisation gives its issues, such as Bug or Epic."""

    identity: Identity
    owner: User
    name: str
    color: str = "GRAY"
    description: str | None = None
    is_enabled: bool = True
    is_private: bool = False

    @property
    def id(self) -> str:
        """Return the node id."""
        return self.identity.node
