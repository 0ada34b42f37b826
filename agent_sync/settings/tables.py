"""The tables of the settings file: what can be set in each, its default and its meaning."""

import re
from typing import Annotated, Literal

from agent_sync.lazy_patterns import pattern
from agent_sync.plain.fields import AfterValidator, Field
from agent_sync.plain.model import Model

USUAL_BRANCH = "claude/{slug}-{issue}"
# Parts between slashes that begin with a letter or digit, of characters that mean nothing to git or a shell.
_BRANCH = pattern(r"[A-Za-z0-9_][\w.+=@%-]*(?:/[A-Za-z0-9_][\w.+=@%-]*)*(?<![.@])", re.ASCII)
LONGEST_S = 30 * 86_400
Seconds = Annotated[float, Field(ge=0, le=LONGEST_S, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=100_000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Texts = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=500)], ...], Field(strict=False, max_length=100)]
Status = Annotated[str, Field(max_length=200, description="Empty where the board has none: the card then stays")]


class Section(Model, keeps_unknown=False, is_strict=True):
    """A table of the settings file: every key known, every value of its exact type."""


class ProjectSettings(Section):
    """Which Projects v2 board the tasks are on."""

    owner: Annotated[
        str, Field(description="User or organisation that owns the board; default: the repository's owner")
    ] = ""
    number: Annotated[int | None, Field(ge=1, le=2**31, description="The board's number, as in its address")] = None
    add_issues: Annotated[bool, Field(description="Add an issue to the board when it is claimed and not on it")] = True


class BoardSettings(Section):
    """What the board's fields and statuses are called."""

    status_field: Annotated[Name, Field(description="The single-select field whose options are the columns")] = "Status"
    agent_field: Annotated[Name, Field(description="The text field that says which agent has the card")] = "Agent"
    priority_field: Annotated[Name, Field(description="What `next` sorts by, the first option first")] = "Priority"
    ready: Annotated[Name, Field(description="The column of what can be claimed")] = "Todo"
    in_progress: Status = "In Progress"
    in_review: Status = "In Review"
    done: Status = "Done"
    skip_types: Annotated[
        tuple[Name, ...], Field(strict=False, description="Types of issues that are no tasks and never offered")
    ] = ("Epic",)


class PullSettings(Section):
    """How pull requests are opened."""

    base: Annotated[str, Field(description="Branch to merge into; default: the repository's default branch")] = ""
    require_gate: Annotated[bool, Field(description="Open no pull request before the gates have passed")] = True
    closes_issue: Annotated[bool, Field(description="Write `Closes #N`, so that merging closes the issue")] = False
    checklist: Annotated[
        Literal["mission-integrity"] | Texts,
        Field(description='Boxes for a human to tick: a list, or "mission-integrity" for five questions (see below)'),
    ] = ()
    test_plan: Annotated[
        Texts, Field(description="Boxes below `Test plan`; one that names a gate is ticked once that gate has passed")
    ] = ()
    reviewers: Annotated[
        Texts, Field(description="Whose review is asked for, as `login` or `organisation/team`; one request more")
    ] = ()
    labels: Annotated[Texts, Field(description="Labels for the pull request; one request more")] = ()
    auto_merge: Annotated[
        Literal["", "merge", "squash", "rebase"],
        Field(description="Have GitHub merge it in this way once nothing is missing; one request more"),
    ] = ""


class NotifySettings(Section):
    """What is said, and when."""

    green: Annotated[bool, Field(description="Wake the agent once when all checks are green")] = False
    agent: Annotated[
        Literal["now", "later"],
        Field(description="`later` keeps what the agent should know for the next prompt and saves a model turn"),
    ] = "now"
    command: Annotated[
        str,
        Field(
            max_length=1000,
            description="Run by `agent-sync watch` when a task comes to need a person, without a shell, "
            "with JSON on its standard input",
        ),
    ] = ""


class FleetSettings(Section):
    """How all tasks of the repository are watched together."""

    quiet_s: Annotated[
        Seconds, Field(description="Longest time without a sign of work before a person is asked about a task")
    ] = 3600
    reserve: Annotated[
        Count, Field(description="API points of each hour that `agent-sync watch` leaves to people and sessions")
    ] = 500


class ChecksSettings(Section):
    """How CI is watched."""

    backoff_s: Annotated[Seconds, Field(description="Least time between two looks at the checks")] = 120
    rerun: Annotated[
        bool, Field(description="Run failed jobs again, once per commit, where the failure looks like infrastructure")
    ] = True
    logs: Annotated[bool, Field(description="Give the agent the end of a failed job's log")] = True


class ReviewSettings(Section):
    """How remarks on the pull request reach the agent."""

    wake: Annotated[
        Literal["writers", "people", "everyone", "nobody"],
        Field(description="Whose remarks wake the agent: `writers` are people with write access, `everyone` has bots"),
    ] = "writers"
    request_again: Annotated[
        bool, Field(description="Ask for a new review after the push that follows requested changes")
    ] = True


class IdleSettings(Section):
    """What an idle session without a claim looks at."""

    branch_look_s: Annotated[
        Seconds, Field(description="Least time between two looks at one branch's pull request")
    ] = 600


class HooksSettings(Section):
    """Own time limits of the hook commands, each below the client's timeout."""

    stop_deadline_s: Annotated[Seconds, Field(description="How long on-stop may take in all, gates included")] = 570
    session_start_deadline_s: Annotated[Seconds, Field(description="How long session-start may take")] = 25
    prompt_deadline_s: Annotated[Seconds, Field(description="How long on-prompt may take")] = 8
    tool_deadline_s: Annotated[Seconds, Field(description="How long on-tool may take")] = 8
    idle_deadline_s: Annotated[Seconds, Field(description="How long on-idle may watch")] = 28_500
    rate_limit_wait_s: Annotated[Seconds, Field(description="Longest wait for a rate limit inside one hook")] = 5


class GateSettings(Section):
    """How the quality gate runs."""

    deadline_s: Annotated[Seconds, Field(description="Longest time the gates get within one stop")] = 510
    parallel: Annotated[
        int | None,
        Field(ge=1, le=1024, description="Most gates at a time; default: the number of processors, at least four"),
    ] = None
    verify_active: Annotated[
        bool, Field(description="Let `gate stop-hook` too verify the stop that follows a block, as `on-stop` does")
    ] = False


def _branch_pattern(pattern: str) -> str:
    """Refuse a pattern for branches that could name one branch for two issues, or that git would not take."""
    sample = pattern.replace("{slug}", "slug").replace("{issue}", "1")
    if "{issue}" not in pattern:
        raise ValueError("it must contain {issue}")
    if "{" in sample or "}" in sample:
        raise ValueError("it may contain {slug} and {issue}, and no other braces")
    if not _BRANCH.fullmatch(sample) or ".." in sample or sample.startswith("refs/") or sample.endswith(".lock"):
        raise ValueError("git would not take such a branch")
    return pattern


class GitSettings(Section):
    """Which remote is GitHub, and what becomes of branches."""

    remote: Annotated[
        Name, Field(description="Remote of the issues' repository; default: the one gh takes for the base, else origin")
    ] = "origin"
    push_remote: Annotated[
        str,
        Field(
            max_length=200,
            description="Remote that takes the branches; default: `origin`, or `remote.pushDefault` of git",
        ),
    ] = ""
    branch: Annotated[
        str,
        Field(min_length=1, max_length=100, description="What a claim calls its branch, of `{slug}` and `{issue}`"),
        AfterValidator(_branch_pattern),
    ] = USUAL_BRANCH
    link_branch: Annotated[
        bool,
        Field(description="Create the branch on GitHub at the claim, shown in the issue's panel; one request more"),
    ] = False
    delete_branch: Annotated[
        bool, Field(description="Delete a merged branch on the remote too when its issue is closed")
    ] = False


class RecordSettings(Section):
    """How the recovery record is kept."""

    enabled: Annotated[bool, Field(description="Keep a record of every claim under ~/.atlas")] = True
    on_commit: Annotated[bool, Field(description="Make a checkpoint after every commit")] = True
    on_push: Annotated[bool, Field(description="Make a checkpoint after every push")] = True
    on_pr: Annotated[bool, Field(description="Make a checkpoint when the pull request is opened")] = True
    on_validation: Annotated[bool, Field(description="Make a checkpoint when a validation has passed")] = True
    on_step_complete: Annotated[bool, Field(description="Make a checkpoint when a step is completed")] = True
    interval_s: Annotated[Seconds, Field(description="Longest time without a checkpoint at work; 0 for none")] = 300
    stale_s: Annotated[Seconds, Field(description="Age at which a task counts as crashed if its owner is unknown")] = (
        300
    )
    max_attempts: Annotated[Count, Field(description="Attempts at one step of `start`; 0 for no limit")] = 3
    max_recoveries: Annotated[
        int, Field(ge=1, le=100_000, description="Recoveries without any progress before a human is asked")
    ] = 3
    keep_completed_days: Annotated[Count, Field(description="How long records of completed tasks stay")] = 30
    keep_failed_days: Annotated[Count, Field(description="How long records of failed tasks stay")] = 14
    keep_abandoned_days: Annotated[Count, Field(description="How long records of abandoned tasks stay")] = 7
    clean: Annotated[
        bool, Field(description="Delete records whose time is over when another task of the clone begins")
    ] = True


class Template(Section):
    """The steps of a kind of task of your own."""

    steps: Annotated[tuple[Name, ...], Field(strict=False, min_length=1)]
    idempotent: Annotated[tuple[str, ...], Field(strict=False, description="Steps that may simply be repeated")] = ()


class LeaseSettings(Section):
    """How claims are held against other machines."""

    ttl_s: Annotated[
        float,
        Field(
            ge=1,
            le=LONGEST_S,
            allow_inf_nan=False,
            description="How long a claim lasts without a sign of life from its holder",
        ),
    ] = 3600
    allowance_s: Annotated[Seconds, Field(description="How much the clocks of two machines may differ")] = 60
    where: Annotated[
        Literal["remote", "clone"],
        Field(description="`clone` keeps claims in this clone alone, even where the remote would take them"),
    ] = "remote"
    keep_ended_days: Annotated[
        Count,
        Field(description="How long the ref of a claim stays that is done or released, before `cleanup` prunes it"),
    ] = 30


class WorkerSettings(Section):
    """Whose work hook this session looks at."""

    name: Annotated[
        str, Field(max_length=101, description="This worker, as `pool/worker`; also read from AGENT_SYNC_WORKER")
    ] = ""
    fetch_limit_s: Annotated[
        Seconds, Field(description="Longest time the start of a session waits for the remote's work hooks")
    ] = 5
    keep_rescue_days: Annotated[
        Count, Field(description="How long rescued files stay that no paused work needs, before `cleanup` prunes them")
    ] = 30


class GitHubSettings(Section):
    """Which GitHub to talk to."""

    url: Annotated[str, Field(description="One server root for everything: an Enterprise host or the local GitHub")] = (
        ""
    )
    repository: Annotated[
        str,
        Field(
            max_length=300,
            pattern=r"^$|^([\w.-]+/)?[A-Za-z0-9][\w-]*/[\w.-]+$",
            description="`owner/name` (or `host/owner/name`) whose issues and pull requests these are, "
            "where the remote's address does not say so; also read from GH_REPO",
        ),
    ] = ""
    timeout_s: Annotated[Seconds, Field(description="How long one request may take")] = 20


class Settings(Section):
    """Everything that can be set for one repository."""

    project: ProjectSettings = ProjectSettings()
    board: BoardSettings = BoardSettings()
    pr: PullSettings = PullSettings()
    notify: NotifySettings = NotifySettings()
    fleet: FleetSettings = FleetSettings()
    checks: ChecksSettings = ChecksSettings()
    reviews: ReviewSettings = ReviewSettings()
    idle: IdleSettings = IdleSettings()
    hooks: HooksSettings = HooksSettings()
    gate: GateSettings = GateSettings()
    git: GitSettings = GitSettings()
    lease: LeaseSettings = LeaseSettings()
    worker: WorkerSettings = WorkerSettings()
    github: GitHubSettings = GitHubSettings()
    record: RecordSettings = RecordSettings()
    templates: Annotated[dict[str, Template], Field(max_length=100)] = {}  # noqa: RUF012  # each value gets its own
