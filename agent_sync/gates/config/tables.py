"""The gate's configuration files as tables; their JSON Schemas are made from these."""

from typing import Annotated, Any, Literal

from agent_sync.gates.config.model import (
    LONGEST_INTERVAL,
    LONGEST_TIMEOUT,
    MOST_PREVIOUS,
    MOST_RETRIES,
    MOST_REVIEWS,
)
from agent_sync.plain.fields import BeforeValidator, Field
from agent_sync.plain.model import Model
from agent_sync.worktree import GATE_LOG_DIR


def _whole(value: object) -> object:
    """Return a number without a fraction as one of its kind: 5.0 is 5."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Text = Annotated[str, Field(pattern=r"\S")]
Texts = tuple[Annotated[str, Field(min_length=1)], ...]
AsWhole = BeforeValidator(_whole)
Seconds = Annotated[float, Field(ge=0.001, le=LONGEST_TIMEOUT)]
# What other tools read and we accept.
Foreign = Annotated[Any, Field(description="Read by other tools.")]


class FileTable(Model, is_strict=True):
    """One mapping of a file; keys that are not known are kept, to be told about."""


class AdapterTable(FileTable):
    """What a project sets for one reviewer program."""

    allow_tool_use: bool = True
    thinking_budget: Literal["off", "low", "medium", "high"] | None = None
    model: Text | None = None


class CliTable(FileTable):
    """Which reviewer programs are asked."""

    default_preference: Texts = ()
    adapters: dict[str, AdapterTable] = {}  # noqa: RUF012  # values of ours are never changed
    check_usage_limit: Foreign = None


class EntryPointTable(FileTable):
    """A part of the project, and the gates that guard it."""

    path: Text
    exclude: Texts = ()
    checks: Texts = ()
    reviews: Texts = ()


class ProjectHookTable(FileTable):
    """Whether stops run the gates of a project."""

    enabled: bool | None = None
    run_interval_minutes: Foreign = None
    auto_push_pr: Foreign = None
    auto_fix_pr: Foreign = None


class DebugLogTable(FileTable):
    """Read by other tools; checked all the same."""

    enabled: bool = False
    max_size_mb: Annotated[float, Field(ge=0, le=1 << 20)] = 10


class ConsoleTable(FileTable):
    """Read by other tools; checked all the same."""

    enabled: bool = True
    format: Literal["pretty", "json"] = "pretty"


class LogFileTable(FileTable):
    """Read by other tools; checked all the same."""

    enabled: bool = True
    format: Literal["text", "json"] = "text"


class LoggingTable(FileTable):
    """Read by other tools; checked all the same."""

    level: Literal["debug", "info", "warning", "error"] = "debug"
    console: ConsoleTable = ConsoleTable()
    file: LogFileTable = LogFileTable()


class ConfigFile(FileTable):
    """`.gauntlet/config.yml`: the main file."""

    base_branch: Text = "origin/main"
    log_dir: Text = GATE_LOG_DIR
    allow_parallel: bool = True
    max_retries: Annotated[int, Field(ge=0, le=MOST_RETRIES), AsWhole] = 3
    max_previous_logs: Annotated[int, Field(ge=0, le=MOST_PREVIOUS), AsWhole] = 3
    rerun_new_issue_threshold: Literal["critical", "high", "medium", "low"] = "medium"
    cli: CliTable = CliTable()
    entry_points: tuple[EntryPointTable, ...] = ()
    stop_hook: ProjectHookTable = ProjectHookTable()
    debug_log: DebugLogTable = DebugLogTable()
    logging: LoggingTable = LoggingTable()

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema, by which an editor asks for what a run would complain about."""
        return super().model_json_schema() | {"required": ["entry_points"]}


class CheckFile(FileTable):
    """`.gauntlet/checks/NAME.yml`: a command that must succeed."""

    name: Foreign = None
    command: Text
    rerun_command: Text | None = None
    working_directory: Text | None = None
    parallel: bool = False
    run_in_ci: bool = True
    run_locally: bool = True
    timeout: Seconds | None = None
    fail_fast: bool = False
    fix_instructions_file: Text | None = None
    fix_instructions: Annotated[Text | None, Field(description="An old name of `fix_instructions_file`.")] = None
    fix_with_skill: Text | None = None


class ReviewFile(FileTable):
    """`.gauntlet/reviews/NAME.yml`, and the head of `NAME.md`: a reading of the changes by another agent."""

    name: Foreign = None
    prompt_file: Text | None = None
    skill_name: Text | None = None
    builtin: Text | None = None
    model: Text | None = None
    cli_preference: Texts = ()
    num_reviews: Annotated[int, Field(ge=1, le=MOST_REVIEWS), AsWhole] = 1
    parallel: bool = True
    run_in_ci: bool = True
    run_locally: bool = True
    timeout: Seconds | None = None
    enabled: bool = True


class UserHookTable(FileTable):
    """When stops run the gates, for one user."""

    enabled: bool = True
    run_interval_minutes: Annotated[int, Field(ge=0, le=LONGEST_INTERVAL), AsWhole] = 10
    auto_push_pr: Foreign = None
    auto_fix_pr: Foreign = None


class UserFile(FileTable):
    """`~/.config/agent-gauntlet/config.yml`: a user's own file."""

    stop_hook: UserHookTable = UserHookTable()
    debug_log: Foreign = None
