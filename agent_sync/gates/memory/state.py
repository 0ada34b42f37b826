"""What is remembered in the log directory about the last run."""

import json
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import files
from agent_sync.system.disk import AfterPowerCut
from agent_sync.worktree import GATE_STATE

FAILED = ("failed", "retry_limit_exceeded")


@dataclass(frozen=True)
class GateState:
    """The last run: when, on what, how it ended; fields of other tools survive."""

    completed_at: datetime | None = None
    branch: str = ""
    commit: str = ""
    working_tree_ref: str = ""
    status: str = ""
    run: int | None = None
    # How many stops were sent back in a row, or would have been; on which work and in which turn the last one was.
    failed_runs: int | None = None
    failed_tree: str = ""
    failed_turn: str = ""
    merge_base: str = ""
    was_in_base: bool | None = None
    is_partial: bool = False
    unhealthy: dict[str, Any] = field(default_factory=dict)
    others: dict[str, Any] = field(default_factory=dict)

    @property
    def has_failed(self) -> bool:
        """Whether the last run left failures."""
        return self.status in FAILED

    @property
    def counted_tree(self) -> str:
        """The work that the last counted failure was about; records of 0.1.0 count every run."""
        return self.failed_tree or self.working_tree_ref


def read(log_dir: Path) -> GateState | None:
    """Return the last run; a file that cannot be read is as good as none."""
    try:
        values = json.loads(files.read_own(log_dir / GATE_STATE) or b"null")
    except (files.NotPlain, ValueError, OSError, RecursionError):
        return None
    return _from_values(values) if isinstance(values, dict) else None


def write(log_dir: Path, state: GateState) -> None:
    """Replace the record; what a power cut takes costs a repeated run, nothing else."""
    content = json.dumps(_to_values(state), indent=2).encode() + b"\n"
    files.write_atomic(log_dir / GATE_STATE, content, mode=files.REPOSITORY, after_cut=AfterPowerCut.ANY)


def _from_values(values: dict[str, Any]) -> GateState:
    known = {
        "last_run_completed_at", "branch", "commit", "working_tree_ref", "status", "run", "failed_runs",
        "failed_tree", "failed_turn", "merge_base", "commit_in_base", "partial", "unhealthy_adapters",
    }  # fmt: skip
    unhealthy = values.get("unhealthy_adapters")
    was_in_base = values.get("commit_in_base")
    return GateState(
        completed_at=_moment(values.get("last_run_completed_at")),
        branch=_text(values.get("branch")),
        commit=_text(values.get("commit")),
        working_tree_ref=_text(values.get("working_tree_ref")),
        status=_text(values.get("status")),
        run=_whole(values.get("run")),
        failed_runs=_whole(values.get("failed_runs")),
        failed_tree=_text(values.get("failed_tree")),
        failed_turn=_text(values.get("failed_turn")),
        merge_base=_text(values.get("merge_base")),
        was_in_base=was_in_base if isinstance(was_in_base, bool) else None,
        is_partial=values.get("partial") is True,
        unhealthy=unhealthy if isinstance(unhealthy, dict) else {},
        others={key: value for key, value in values.items() if key not in known},
    )


def _to_values(state: GateState) -> dict[str, Any]:
    moment = state.completed_at.astimezone(UTC).isoformat(timespec="milliseconds") if state.completed_at else None
    values = {
        "last_run_completed_at": moment.replace("+00:00", "Z") if moment else None,
        "branch": state.branch,
        "commit": state.commit,
        "working_tree_ref": state.working_tree_ref or None,
        "status": state.status or None,
        "run": state.run,
        "failed_runs": state.failed_runs,
        "failed_tree": state.failed_tree or None,
        "failed_turn": state.failed_turn or None,
        "merge_base": state.merge_base or None,
        "commit_in_base": state.was_in_base,
        "partial": state.is_partial or None,
        "unhealthy_adapters": state.unhealthy or None,
    }
    return {key: value for key, value in values.items() if value is not None} | state.others


def _moment(value: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
