"""Who may decide what: for each setting, whether a file of the repository may decide it without the user's approval.

The user's word is the command line, the environment, the user's own file, and what our commands wrote into the git
directory. The repository's word is every file a checkout can bring. Whoever gets a branch checked out writes those, so
they may decide names, wording and backoffs, but not where a token goes, which address git talks to, what is executed,
where files are written or deleted, what counts as consent, or whether gates are required.
"""

from typing import assert_never

from agent_sync.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class RepositoryDecides:
    """The repository may decide it alone."""


@dataclass(frozen=True)
class RepositoryWithin:
    """The repository may decide it alone within bounds; beyond them the user has to approve."""

    least: float
    most: float


@dataclass(frozen=True)
class UserDecides:
    """Only the user may decide it, or approve what the repository asks for; `why` says what is at stake."""

    why: str


Rule = RepositoryDecides | RepositoryWithin | UserDecides

REPOSITORY = RepositoryDecides()
_DAY = 86_400
_GATES = "whether gates are required"
_LEASES = "for whom a claim holds"

# Every setting has a row; a test fails for one that has none.
RULES: dict[str, Rule] = {
    "project.owner": REPOSITORY,
    "project.number": REPOSITORY,
    "project.add_issues": REPOSITORY,
    "board.status_field": REPOSITORY,
    "board.agent_field": REPOSITORY,
    "board.priority_field": REPOSITORY,
    "board.ready": REPOSITORY,
    "board.in_progress": REPOSITORY,
    "board.in_review": REPOSITORY,
    "board.done": REPOSITORY,
    "board.skip_types": REPOSITORY,
    "pr.base": REPOSITORY,
    "pr.require_gate": UserDecides(_GATES),
    "pr.closes_issue": UserDecides("what counts as consent to close an issue"),
    "pr.checklist": REPOSITORY,
    "pr.test_plan": REPOSITORY,
    "pr.reviewers": REPOSITORY,
    "pr.labels": REPOSITORY,
    "pr.auto_merge": UserDecides("whether work is merged without a person's click"),
    "notify.green": REPOSITORY,
    "notify.agent": REPOSITORY,
    "notify.command": UserDecides("what is executed"),
    "fleet.quiet_s": RepositoryWithin(300, 7 * _DAY),
    "fleet.reserve": RepositoryWithin(0, 5000),
    "checks.backoff_s": RepositoryWithin(10, 3600),
    "checks.rerun": REPOSITORY,
    "checks.logs": REPOSITORY,
    "reviews.wake": UserDecides("whose words reach the agent"),
    "reviews.request_again": REPOSITORY,
    "idle.branch_look_s": RepositoryWithin(60, _DAY),
    "hooks.stop_deadline_s": RepositoryWithin(60, 570),
    "hooks.session_start_deadline_s": RepositoryWithin(5, 25),
    "hooks.prompt_deadline_s": RepositoryWithin(2, 8),
    "hooks.tool_deadline_s": RepositoryWithin(2, 8),
    "hooks.idle_deadline_s": RepositoryWithin(60, 28_500),
    "hooks.rate_limit_wait_s": RepositoryWithin(0, 60),
    # A gate that gets no time never runs.
    "gate.deadline_s": RepositoryWithin(60, 510),
    "gate.parallel": RepositoryWithin(1, 64),
    # On is the stricter of the two, and off is the default.
    "gate.verify_active": REPOSITORY,
    "git.remote": UserDecides("which address git talks to"),
    "git.push_remote": UserDecides("which address git talks to"),
    "git.branch": REPOSITORY,
    "git.link_branch": REPOSITORY,
    "git.delete_branch": UserDecides("what is deleted on the remote"),
    "lease.ttl_s": RepositoryWithin(300, 7 * _DAY),
    "lease.allowance_s": RepositoryWithin(0, 600),
    "lease.where": UserDecides(_LEASES),
    "lease.keep_ended_days": UserDecides("what is deleted on the remote"),
    "worker.name": UserDecides("whose work this session takes"),
    "worker.fetch_limit_s": RepositoryWithin(0, 20),
    "worker.keep_rescue_days": UserDecides("what is deleted on the remote"),
    "github.url": UserDecides("where the token goes"),
    "github.repository": UserDecides("whose issues and pull requests are written to"),
    "github.timeout_s": RepositoryWithin(2, 120),
    "record.enabled": REPOSITORY,
    "record.on_commit": REPOSITORY,
    "record.on_push": REPOSITORY,
    "record.on_pr": REPOSITORY,
    "record.on_validation": REPOSITORY,
    "record.on_step_complete": REPOSITORY,
    "record.interval_s": RepositoryWithin(0, _DAY),
    "record.stale_s": RepositoryWithin(60, _DAY),
    "record.max_attempts": RepositoryWithin(0, 100),
    "record.max_recoveries": RepositoryWithin(1, 100),
    "record.keep_completed_days": UserDecides("which records are deleted"),
    "record.keep_failed_days": UserDecides("which records are deleted"),
    "record.keep_abandoned_days": UserDecides("which records are deleted"),
    "record.clean": UserDecides("which records are deleted"),
    "templates": REPOSITORY,
}


def needs_approval(key: str, value: object) -> str:
    """Return why the user has to approve this value of a setting, or "" where the repository may decide it."""
    # A setting that is not known is refused later, by name.
    rule = RULES.get(key, REPOSITORY)
    match rule:
        case RepositoryDecides():
            return ""
        case RepositoryWithin(least, most):
            is_within = isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most
            return "" if is_within else f"a repository may set {_plain(least)} to {_plain(most)}"
        case UserDecides(why):
            return why
        case _:
            assert_never(rule)


def decides(key: str) -> str:
    """Return in a few words who decides a setting, for the documentation."""
    rule = RULES[key]
    match rule:
        case RepositoryDecides():
            return "repository"
        case RepositoryWithin(least, most):
            return f"repository, {_plain(least)} to {_plain(most)}"
        case UserDecides():
            return "user"
        case _:
            assert_never(rule)


def _plain(number: float) -> str:
    return f"{number:g}" if number < 1_000_000 else f"{number:.0f}"  # noqa: PLR2004  # beyond it, `g` writes exponents
