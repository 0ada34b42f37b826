"""The gate's configuration as values."""

from dataclasses import field
from enum import IntEnum
from pathlib import Path

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.worktree import GATE_DIR, GATE_LOG_DIR

# Far above what a project needs; beyond them a number is a slip or worse.
MOST_RETRIES = 1000
MOST_PREVIOUS = 100
MOST_REVIEWS = 20
LONGEST_TIMEOUT = 7 * 86_400
LONGEST_INTERVAL = 365 * 1440


class Priority(IntEnum):
    """How much a reviewer's finding matters; larger matters more."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2
    CRITICAL = 3


@dataclass(frozen=True)
class Problem:
    """Something wrong, or merely odd, in a configuration file."""

    file: Path
    line: int
    message: str
    is_error: bool = True

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


@dataclass(frozen=True)
class GateCheck:
    """A command that must succeed."""

    name: str
    file: Path
    command: str
    rerun_command: str = ""
    working_directory: str = ""
    parallel: bool = False
    run_in_ci: bool = True
    run_locally: bool = True
    timeout: float | None = None
    fail_fast: bool = False
    fix_instructions: Path | None = None
    fix_with_skill: str = ""


@dataclass(frozen=True)
class Review:
    """A reading of the changes by another agent."""

    name: str
    file: Path
    prompt: str = ""
    model: str = ""
    cli_preference: tuple[str, ...] = ()
    num_reviews: int = 1
    parallel: bool = True
    run_in_ci: bool = True
    run_locally: bool = True
    timeout: float | None = None
    enabled: bool = True


@dataclass(frozen=True)
class EntryPoint:
    """A part of the project, and the gates that guard it."""

    path: str
    exclude: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    reviews: tuple[str, ...] = ()


@dataclass(frozen=True)
class AdapterOptions:
    """What a project sets for one reviewer program."""

    allow_tool_use: bool = True
    thinking_budget: str = ""
    model: str = ""


@dataclass(frozen=True)
class GateProject:
    """Everything `.gauntlet/` says."""

    root: Path
    # Where the definitions were read from: `.gauntlet/` of the root, or a copy of the base's.
    directory: Path = Path(GATE_DIR)
    base_branch: str = "origin/main"
    log_dir: Path = Path(GATE_LOG_DIR)
    allow_parallel: bool = True
    max_retries: int = 3
    max_previous_logs: int = 3
    rerun_threshold: Priority = Priority.MEDIUM
    default_preference: tuple[str, ...] = ()
    adapters: dict[str, AdapterOptions] = field(default_factory=dict)
    entry_points: tuple[EntryPoint, ...] = ()
    checks: dict[str, GateCheck] = field(default_factory=dict)
    reviews: dict[str, Review] = field(default_factory=dict)
    hook_enabled: bool | None = None


@dataclass(frozen=True)
class LoadedProject:
    """A project as far as it could be read, and all that was noticed on the way."""

    project: GateProject
    problems: tuple[Problem, ...] = ()

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that make the configuration unusable."""
        return tuple(problem for problem in self.problems if problem.is_error)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The problems that are only worth a word."""
        return tuple(problem for problem in self.problems if not problem.is_error)
