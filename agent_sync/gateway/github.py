"""GitHub as the port describes it: the line to one repository, and everything that is asked and ordered on it."""

from agent_sync.gateway.abilities import AbilityReads
from agent_sync.gateway.boards import BoardReads
from agent_sync.gateway.filing import IssueFiling
from agent_sync.gateway.many_cards import ManyCardReads
from agent_sync.gateway.over_rest import RestReads
from agent_sync.gateway.pulls.claim_polls import ClaimReads
from agent_sync.gateway.pulls.pull_writes import PullWrites
from agent_sync.gateway.pulls.review_writes import ReviewWrites
from agent_sync.gateway.reads import TaskReads
from agent_sync.gateway.refs import RefAccess


class GitHub(
    TaskReads,
    PullWrites,
    ClaimReads,
    ReviewWrites,
    BoardReads,
    ManyCardReads,
    IssueFiling,
    RestReads,
    RefAccess,
    AbilityReads,
):
    """One repository and its board on a real GitHub, or on the local one."""
