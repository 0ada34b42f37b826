"""Keeps a failure of a command that an agent typed until the session's next stop, which need not run it again.

Nothing else remembers failures: the file is taken away by the first stop that finds it.
"""

import contextlib
import json
from pathlib import Path
from typing import Any

from agent_sync.gates.memory import keeping
from agent_sync.gates.run.results import JobOutcome, JobResult
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import files
from agent_sync.worktree import GATE_FAILURE, Place


@dataclass(frozen=True)
class Failure:
    """A full run that failed: of exactly which work (`pass_key`), in which session, and what came of each gate."""

    key: str
    session: str
    message: str
    console_log: Path | None
    results: tuple[JobResult, ...]


def keep_failure(place: Place, failure: Failure) -> None:
    """Keep the failure; not being able to costs a repeated run, nothing else."""
    values = {
        "key": failure.key,
        "session": failure.session,
        "message": failure.message,
        "console_log": str(failure.console_log or ""),
        "results": [_to_values(one) for one in failure.results],
    }
    with contextlib.suppress(OSError):
        keeping.keep(_file(place), json.dumps(values).encode())


def take_failure(place: Place, *, key: str, session: str) -> Failure | None:
    """Return the failure of this work in this session, if it was the last thing to run; it is forgotten by that."""
    file = _file(place)
    try:
        values = json.loads(files.read_own(file) or b"null")
        file.unlink(missing_ok=True)
        if not key or not session or (values["key"], values["session"]) != (key, session):
            return None
        results = tuple(_from_values(one) for one in values["results"])
        log = Path(values["console_log"]) if values["console_log"] else None
        return Failure(key, session, str(values["message"]), log, results)
    except (files.NotPlain, OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _to_values(result: JobResult) -> dict[str, Any]:
    return {
        "id": result.id,
        "outcome": result.outcome.value,
        "message": result.message,
        "log": str(result.log or ""),
        "output": result.output,
        "findings": [str(path) for path in result.findings],
    }


def _from_values(values: dict[str, Any]) -> JobResult:
    start, end = values["output"] or (0, 0)
    return JobResult(
        values["id"],
        JobOutcome(values["outcome"]),
        values["message"],
        log=Path(values["log"]) if values["log"] else None,
        output=(int(start), int(end)) if end else None,
        findings=tuple(Path(path) for path in values["findings"]),
    )


def _file(place: Place) -> Path:
    return Path(place.state_dir) / GATE_FAILURE
