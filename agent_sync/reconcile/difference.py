"""One difference between two sides of a task, and what is done about it."""

from enum import StrEnum

from agent_sync.lazy_dataclasses import dataclass


class Side(StrEnum):
    """Who says something of a task."""

    GIT = "git"
    PULL = "pull request"
    CI = "CI"
    ISSUE = "issue"
    CARD = "card"
    LEASE = "lease"
    RECORD = "record"
    HOOK = "work hook"


class Remedy(StrEnum):
    """What is done about a difference; the first two write nothing."""

    LEFT = "left"
    TOLD = "told"
    SYNC = "sync"
    MIRROR = "mirror"
    CARD = "card"
    RENEW = "renew"
    NOTE_LOSS = "note loss"
    RECORD = "record"
    HOOK = "hook"


# What each remedy does, in words.
DOES = {
    Remedy.LEFT: "left as it is: somebody chose it",
    Remedy.TOLD: "not agent-sync's to change",
    Remedy.SYNC: "write it down, and do what follows",
    Remedy.MIRROR: "tell GitHub of the claim",
    Remedy.CARD: "write Status and Agent on the card",
    Remedy.RENEW: "renew the lease, so that others see it",
    Remedy.NOTE_LOSS: "write the loss down; nothing more is written for this claim",
    Remedy.RECORD: "bring the recovery record up to date",
    Remedy.HOOK: "repair the work hook",
}


@dataclass(frozen=True)
class Difference:
    """What differs, in one line; `helps` is what a person does about it where agent-sync does not."""

    side: Side
    says: str
    remedy: Remedy
    helps: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether agent-sync repairs it."""
        return self.remedy not in {Remedy.LEFT, Remedy.TOLD}
