"""The settings of one repository: `.agent-sync.toml`, overridden by `AGENT_SYNC_*`; reads the environment."""

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_sync.errors import BadConfig

PREFIX = "AGENT_SYNC_"
# Read by others: the test suite, the nesting marker of reviews, the quiet path.
NOT_SETTINGS = frozenset({"AGENT_SYNC_NESTED", "AGENT_SYNC_GITHUB_SCHEMAS", "AGENT_SYNC_PROVE"})
ALIASES = {
    "MOLTNET_PROJECT_NUMBER": "AGENT_SYNC_PROJECT_NUMBER",
    "MOLTNET_PROJECT_OWNER": "AGENT_SYNC_PROJECT_OWNER",
    "AGENT_SYNC_WORKER": "AGENT_SYNC_WORKER_NAME",
}
MISSION_CHECKLIST = (
    "Does this keep the agent in control of its own identity and data?",
    "Can it be verified offline, without trusting a server?",
    "Does it survive the platform going away?",
    "Is it the simplest thing that works?",
    "Is it documented for the next agent?",
)
TEST_PLAN = ("Tests pass", "Type check passes", "Lint passes")

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class Section(BaseModel):
    """A table of the settings file: every key known, every value of its exact type."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Project(Section):
    """Which Projects v2 board the tasks are on."""

    owner: Annotated[
        str, Field(description="User or organisation that owns the board; default: the repository's owner")
    ] = ""
    number: Annotated[int | None, Field(ge=1, description="The board's number, as in its address")] = None


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
        int | None, Field(ge=1, description="Most gates at a time; default: the number of processors, at least four")
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
    max_attempts: Annotated[int, Field(ge=0, description="Attempts at one step of `start`; 0 for no limit")] = 3
    max_recoveries: Annotated[
        int, Field(ge=1, description="Recoveries without any progress before a human is asked")
    ] = 3
    keep_completed_days: Annotated[int, Field(ge=0)] = 30
    keep_failed_days: Annotated[int, Field(ge=0)] = 14
    keep_abandoned_days: Annotated[int, Field(ge=0)] = 7


class Template(Section):
    """The steps of a kind of task of your own."""

    steps: Annotated[tuple[Name, ...], Field(strict=False, min_length=1)]
    idempotent: Annotated[tuple[str, ...], Field(strict=False, description="Steps that may simply be repeated")] = ()


class Lease(Section):
    """How claims are held against other machines."""

    ttl_s: Annotated[
        float,
        Field(ge=1, allow_inf_nan=False, description="How long a claim lasts without a sign of life from its holder"),
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
    templates: dict[str, Template] = {}


def load(file: Path, environment: Mapping[str, str]) -> Settings:
    """Read the settings file, lay the environment over it, and refuse what is not known."""
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        tables = {}
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfig(f"{file} cannot be read: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(f"{file} is not valid TOML: {error}.", helps="agent-sync doctor") from error
    return _validated(_overlaid(tables, environment), source=str(file))


def environment() -> dict[str, str]:
    """Return the process's environment."""
    return dict(os.environ)


def variables() -> dict[str, tuple[str, str]]:
    """Map every environment variable that sets something to its table and key."""
    return {
        f"{PREFIX}{table}_{key}".upper(): (table, key)
        for table, section in Settings.model_fields.items()
        # Templates have names of the user's own: only the file can set them.
        if table != "templates"
        for key in section.annotation.model_fields  # type: ignore[union-attr]  # every field is a Section
    }


def _overlaid(tables: dict[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    known = variables()
    named = {ALIASES[name]: value for name, value in environment.items() if name in ALIASES}
    named |= {name: value for name, value in environment.items() if name.startswith(PREFIX) and name not in ALIASES}
    result = dict(tables)
    for name, value in named.items():
        if name in NOT_SETTINGS or not value:
            continue
        if name not in known:
            raise BadConfig(f"{name} is not a setting.{_nearest(name, list(known))}", helps="agent-sync doctor")
        table, key = known[name]
        section = result.get(table, {})
        if isinstance(section, dict):
            result[table] = {**section, key: _from_text(table, key, value)}
    return result


def _from_text(table: str, key: str, text: str) -> object:
    """Read a variable's text as TOML would, and fall back to the text itself for words."""
    wanted = Settings.model_fields[table].annotation.model_fields[key].annotation  # type: ignore[union-attr]
    if wanted is str or wanted == Literal["now", "later"]:
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _validated(tables: dict[str, Any], *, source: str) -> Settings:
    try:
        return Settings.model_validate(_numbers_widened(tables))
    except ValidationError as error:
        problems = "; ".join(_problem(detail["loc"], detail["msg"], detail["type"]) for detail in error.errors())
        raise BadConfig(f"{source}: {problems}.", helps="agent-sync doctor") from error


def _numbers_widened(tables: dict[str, Any]) -> dict[str, Any]:
    """Let `120` stand for `120.0`, which strict reading would refuse."""
    return {
        table: {
            key: float(value) if key.endswith("_s") and type(value) is int else value for key, value in section.items()
        }
        if isinstance(section, dict)
        else section
        for table, section in tables.items()
    }


def _problem(where: tuple[int | str, ...], message: str, kind: str) -> str:
    name = ".".join(str(part) for part in where)
    if kind != "extra_forbidden":
        return f"{name}: {message}"
    section = Settings.model_fields[str(where[0])].annotation if len(where) > 1 else Settings
    section = Template if where[0] == "templates" else section
    known = list(section.model_fields)  # type: ignore[union-attr]
    return f"{name} is not a setting.{_nearest(str(where[-1]), known)}"


def _nearest(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f" Did you mean {close[0]}?" if close else f" Known: {', '.join(sorted(known))}."
