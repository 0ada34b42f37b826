"""A context in a real repository, with a GitHub that lives in memory."""

import os
from pathlib import Path

from support.github import FakeGitHub

from agent_sync import settings
from agent_sync.context import Context
from agent_sync.hook_event import EventPart
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.loop import drive
from agent_sync.worktree import worktree


class Workshop:
    """What a test of the loop needs, in the test's words."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.github = FakeGitHub()
        self.context = self.new_context()

    def new_context(self, **variables: str) -> Context:
        """Sit down anew, as another process would."""
        place = worktree(str(self.root))
        assert place
        environment = dict(os.environ) | variables
        loaded = settings.load(place, environment).settings
        self.context = Context(place, loaded, environment, lambda _: self.github)
        return self.context

    def hold(self, claim: Claim) -> None:
        """Write the claim file as a person would."""
        self.context.store.file.write_bytes(claim.to_json())

    @property
    def claim(self) -> Claim | None:
        """The claim as it is on disk now."""
        return self.context.store.read()

    def drive(self, trigger: Trigger = Trigger.STOP, session_id: str = "s1") -> EventPart:
        """Run the loop once."""
        return drive(self.context, trigger, session_id=session_id)

    @property
    def said(self) -> list[str]:
        """Every sentence that waits."""
        return [notice.text for notice in self.context.outbox.waiting()]
