"""What is written down of what others did."""

from datetime import datetime

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.task.claim.drift_seen import DriftSeen
from agent_sync.task.decision.facts import Pull


@dataclass(frozen=True)
class DriftNoted:
    """What others have changed on the pull request, its branch, the issue and the card; after a merge, when."""

    pull: Pull
    seen: DriftSeen
    at: datetime | None = None
