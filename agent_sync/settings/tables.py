"""The tables of the settings file: what can be set in each, its default and its meaning."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MISSION_CHECKLIST = (
    "Does this keep the agent in control of its own identity and data?",
    "Can it be verified offline, without trusting a server?",
    "Does it survive the platform going away?",
    "Is it the simplest thing that works?",
    "Is it documented for the next agent?",
)
TEST_PLAN = ("Tests pass", "Type check passes", "Lint passes")

LONGEST_S = 30 * 86_400
Seconds = Annotated[float, Field(ge=0, le=LONGEST_S, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=100_000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class Section(BaseModel):
    """A table of the settings file: every key known, every value of its exact type."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Project(Section):
    """Which Projects v2 board the tasks are on."""

    owner: Annotated[
        str, Field(description="User or organisation that owns the board; default: the repository's owner")
    ] = ""
    number: Annotated[int | None, Field(ge=1, le=2**31, description="The board's number, as in its address")] = None


class Board(Section):
    """What the board's fields and statuses are called."""

    status_field: Name = "Status"
    agent_field: Name = "Agent"
    priority_field: Name = "Priority"
    ready: Name = "Todo"
    in_progress: Name = "In Progress"
    in_review: Name = "In Review"
    done: Name = "Done"


class Pull(Section):
    """How pull requests are opened."""

    base: Annotated[str, Field(description="Branch to merge into; default: the repository's default branch")] = ""
    require_gate: Annotated[bool, Field(description="Open no pull request before the gates have passed")] = True
    closes_issue: Annotated[bool, Field(description="Write `Closes #N`, so that merging closes the issue")] = False
    checklist: Annotated[tuple[str, ...], Field(strict=False, description="Boxes for a human to tick")] = (
        MISSION_CHECKLIST
    )
    test_plan: Annotated[tuple[str, ...], Field(strict=False)] = TEST_PLAN


class Notify(Section):
    """What is said, and when."""

    green: Annotated[bool, Field(description="Wake the agent once when all checks are green")] = True
    agent: Annotated[
        Literal["now", "later"],
        Field(description="`later` keeps what the agent should know for the next prompt and saves a model turn"),
    ] = "now"


class Checks(Section):
    """How CI is watched."""

    backoff_s: Annotated[Seconds, Field(description="Least time between two looks at the checks")] = 120


class Idle(Section):
    """What an idle session without a claim looks at."""

    branch_look_s: Annotated[
        Seconds, Field(description="Least time between two looks at one branch's pull request")
    ] = 600


class Hooks(Section):
    """Own time limits of the hook commands, each below the client's timeout."""

    stop_deadline_s: Seconds = 570
    session_start_deadline_s: Seconds = 25
    prompt_deadline_s: Seconds = 8
    tool_deadline_s: Seconds = 8
    idle_deadline_s: Seconds = 28_500
    rate_limit_wait_s: Annotated[Seconds, Field(description="Longest wait for a rate limit inside one hook")] = 5


class Gate(Section):
    """How the quality gate runs."""

    deadline_s: Annotated[Seconds, Field(description="Longest time the gates get within one stop")] = 510
    parallel: Annotated[
        int | None,
        Field(ge=1, le=1024, description="Most gates at a time; default: the number of processors, at least four"),
    ] = None
    verify_active: Annotated[
        bool, Field(description="Run the gates also at the stop that follows a block, within the retry limit")
    ] = False


class Git(Section):
    """Which remote is GitHub."""

    remote: Name = "origin"


class Record(Section):
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
    keep_completed_days: Count = 30
    keep_failed_days: Count = 14
    keep_abandoned_days: Count = 7


class Template(Section):
    """The steps of a kind of task of your own."""

    steps: Annotated[tuple[Name, ...], Field(strict=False, min_length=1)]
    idempotent: Annotated[tuple[str, ...], Field(strict=False, description="Steps that may simply be repeated")] = ()


class Lease(Section):
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


class Worker(Section):
    """Whose work hook this session looks at."""

    name: Annotated[
        str, Field(max_length=101, description="This worker, as `pool/worker`; also read from AGENT_SYNC_WORKER")
    ] = ""
    fetch_limit_s: Annotated[
        Seconds, Field(description="Longest time the start of a session waits for the remote's work hooks")
    ] = 5


class GitHub(Section):
    """Which GitHub to talk to."""

    url: Annotated[str, Field(description="One server root for everything: an Enterprise host or the local GitHub")] = (
        ""
    )
    timeout_s: Seconds = 20


class Settings(Section):
    """Everything that can be set for one repository."""

    project: Project = Project()
    board: Board = Board()
    pr: Pull = Pull()
    notify: Notify = Notify()
    checks: Checks = Checks()
    idle: Idle = Idle()
    hooks: Hooks = Hooks()
    gate: Gate = Gate()
    git: Git = Git()
    lease: Lease = Lease()
    worker: Worker = Worker()
    github: GitHub = GitHub()
    record: Record = Record()
    templates: dict[str, Template] = Field(default={}, max_length=100)
