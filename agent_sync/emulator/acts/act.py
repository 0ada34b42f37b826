"""One act as the control interface receives it, and how its fields are read."""

from dataclasses import dataclass
from typing import Any

from agent_sync.emulator.operations.boards import item_of
from agent_sync.emulator.operations.issues import find_conversation, find_issue
from agent_sync.emulator.operations.pulls import find_pull
from agent_sync.emulator.world.boards import Field, Item, Project
from agent_sync.emulator.world.conversations import Conversation, Issue
from agent_sync.emulator.world.people import Viewer
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World


class ImpossibleActError(Exception):
    """The act names something that is not there, or leaves out something it needs."""


@dataclass(frozen=True)
class Act:
    """An act, who does it, and where."""

    world: World
    by: Viewer
    repository: Repository
    fields: dict[str, Any]

    def text(self, name: str, default: str | None = None) -> str:
        """Return a field that must be text."""
        value = self.fields.get(name, default)
        if not isinstance(value, str):
            raise ImpossibleActError(f"the field {name!r} must be text")
        return value

    def optional_text(self, name: str) -> str | None:
        """Return a field that may be text or missing."""
        return None if self.fields.get(name) is None else self.text(name)

    def flag(self, name: str, *, default: bool) -> bool:
        """Return a field that must be true or false."""
        value = self.fields.get(name, default)
        if not isinstance(value, bool):
            raise ImpossibleActError(f"the field {name!r} must be true or false")
        return value

    def number(self, name: str) -> int:
        """Return a field that must be a whole number."""
        value = self.fields.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ImpossibleActError(f"the field {name!r} must be a whole number")
        return value

    def texts(self, name: str) -> list[str]:
        """Return a field that is a list of texts, empty when missing."""
        value = self.fields.get(name) or []
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise ImpossibleActError(f"the field {name!r} must be a list of texts")
        return value

    @property
    def pull(self) -> PullRequest:
        """Return the pull request the act is about."""
        return find_pull(self.repository, self.number("pull"))

    @property
    def issue(self) -> Issue:
        """Return the issue the act is about."""
        return find_issue(self.repository, self.number("issue"))

    def other_issue(self, name: str, given: object) -> Issue:
        """Return an issue named by its number here, or as `owner/name#n` in another repository."""
        match str(given).rpartition("#") if isinstance(given, str) else given:
            case int(number):
                return find_issue(self.repository, number)
            case (str(place), "#", str(digits)) if digits.isdecimal() and "/" in place:
                owner, _, repository = place.partition("/")
                return find_issue(self.world.repository(owner, repository), int(digits))
            case _:
                raise ImpossibleActError(f"the field {name!r} must be an issue's number, or owner/name#number")

    @property
    def conversation(self) -> Conversation:
        """Return the issue or pull request the act is about."""
        return find_conversation(self.repository, self.number("issue" if "issue" in self.fields else "pull"))

    @property
    def sha(self) -> str:
        """Return the commit the act is about: named, or the head of a pull request."""
        return self.text("sha") if "sha" in self.fields else self.pull.head_sha

    @property
    def project(self) -> Project:
        """Return the board the act is about: the one it names, or the first of the repository's owner."""
        owner = self.repository.owner
        if "project" not in self.fields:
            return self.world.first_project(owner)
        return self.world.project(owner.login, self.number("project"))

    @property
    def card(self) -> Issue | PullRequest:
        """Return the issue or pull request whose card the act is about."""
        found = self.conversation
        if not isinstance(found, Issue | PullRequest):
            raise ImpossibleActError("only issues and pull requests have cards")
        return found

    @property
    def item(self) -> Item:
        """Return the card the act is about."""
        found = item_of(self.project, self.card)
        if found is None:
            raise ImpossibleActError(f"#{self.card.number} is not on the board")
        return found

    @property
    def field(self) -> Field:
        """Return the board's field the act is about."""
        name = self.text("field")
        found = self.project.field_named(name)
        if found is None:
            known = ", ".join(field.name for field in self.project.fields)
            raise ImpossibleActError(f"the board has no field {name!r}; it has {known}")
        return found
