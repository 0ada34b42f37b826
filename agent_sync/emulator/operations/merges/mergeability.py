"""What stands between a pull request and its merge."""

from enum import StrEnum

from agent_sync.emulator.operations.check_suites import PASSING
from agent_sync.emulator.operations.checks import rollup
from agent_sync.emulator.operations.reviews import approvals, review_decision
from agent_sync.emulator.world.pulls import PullRequest, ReviewState

BEHIND = "Head branch is out of date"


class MergeState(StrEnum):
    """What stands between an open pull request and its merge."""

    DIRTY = "DIRTY"
    DRAFT = "DRAFT"
    BLOCKED = "BLOCKED"
    BEHIND = "BEHIND"
    UNSTABLE = "UNSTABLE"
    CLEAN = "CLEAN"
    UNKNOWN = "UNKNOWN"


def is_mergeable(pull: PullRequest) -> bool | None:
    """Say whether head and base merge without conflict; unknown once the pull request is closed."""
    if not pull.is_open:
        return None
    return pull.repository.git.merged_tree(pull.base_sha, pull.head_sha) is not None


def missing_checks(pull: PullRequest) -> list[str]:
    """Return the required checks that have not passed on the head commit."""
    found = rollup(pull.repository, pull.head_sha)
    passed = {check.name for check in found.checks if check.conclusion in PASSING}
    passed |= {status.context for status in found.statuses if status.state == "success"}
    passed -= {check.name for check in found.checks if check.conclusion not in PASSING}
    return sorted(pull.repository.required_checks - passed)


def merge_obstacle(pull: PullRequest) -> str | None:
    """Return GitHub's sentence about the first rule that keeps a pull request from being merged."""
    rules, missing = pull.repository.rules, missing_checks(pull)
    if missing:
        return f'Required status check "{missing[0]}" is expected.'
    if rules.required_reviews and review_decision(pull) is ReviewState.CHANGES_REQUESTED:
        return "Changes have been requested."
    if approvals(pull) < rules.required_reviews:
        return f"At least {rules.required_reviews} approving review is required by reviewers with write access."
    if rules.conversation_resolution and any(not thread.is_resolved for thread in pull.threads):
        return "A conversation must be resolved before this pull request can be merged."
    return BEHIND if is_behind(pull) else None


def is_behind(pull: PullRequest) -> bool:
    """Say whether the rules ask for a branch that contains its base, and this one does not."""
    git, rules = pull.repository.git, pull.repository.rules
    return rules.up_to_date and not git.is_ancestor(pull.base_sha, pull.head_sha)


def merge_state(pull: PullRequest) -> MergeState:
    """Return GitHub's one-word answer to "can this be merged?"."""
    if not pull.is_open:
        return MergeState.UNKNOWN
    if not is_mergeable(pull):
        return MergeState.DIRTY
    if pull.draft:
        return MergeState.DRAFT
    obstacle = merge_obstacle(pull)
    if obstacle:
        return MergeState.BEHIND if obstacle == BEHIND else MergeState.BLOCKED
    state = rollup(pull.repository, pull.head_sha).state
    return MergeState.CLEAN if state in {None, "SUCCESS"} else MergeState.UNSTABLE
