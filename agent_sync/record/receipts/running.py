"""Runs a command itself and takes down how it went: the only source of what receipts say."""

import errno
import os
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_sync.errors import AgentSyncError, BadInput
from agent_sync.record.receipts.evidence import Ran
from agent_sync.record.receipts.tee import Outlet, Tee
from agent_sync.system import clock
from agent_sync.system.masking import secrets_of
from agent_sync.system.processes import Processes, Watch

# What shells and `timeout` say for these.
TIMED_OUT, NOT_EXECUTABLE, NOT_FOUND, SIGNALLED = 124, 126, 127, 128
_REFUSED = frozenset({errno.EACCES, errno.ENOEXEC, errno.E2BIG, errno.ENOTDIR})


@dataclass(frozen=True)
class Artifacts:
    """Where the output of one command is kept."""

    directory: Path
    receipt_id: str

    @property
    def stdout(self) -> Path:
        """What it printed."""
        return self.directory / f"{self.receipt_id}.stdout"

    @property
    def stderr(self) -> Path:
        """What it complained about."""
        return self.directory / f"{self.receipt_id}.stderr"


@dataclass(frozen=True)
class Surroundings:
    """What a command runs in: its directory and variables, who ends it, and who may watch."""

    cwd: Path
    environment: Mapping[str, str]
    processes: Processes
    timeout: float | None = None
    watch: Watch | None = None


def run(
    command: str | Sequence[str], surroundings: Surroundings, artifacts: Artifacts, *, shown: Outlet | None = None
) -> Ran:
    """Run a shell line or an argument list to its end, keep and hash all it prints, and show it where asked."""
    argv = _words(command)
    _refuse_unusable(argv, surroundings.cwd)
    started, began = clock.now(), time.monotonic()
    exit_code, hashes = _executed(argv, surroundings, artifacts, shown)
    return Ran(
        command=_text(command if isinstance(command, str) else shlex.join(argv)),
        argv=tuple(_text(word) for word in argv),
        cwd=_text(str(surroundings.cwd)),
        exit_code=exit_code,
        started_at=started,
        completed_at=clock.now(),
        duration_ms=int((time.monotonic() - began) * 1000),
        stdout_hash=hashes[0],
        stderr_hash=hashes[1],
    )


def _executed(
    argv: tuple[str, ...], surroundings: Surroundings, artifacts: Artifacts, shown: Outlet | None
) -> tuple[int, tuple[str, str]]:
    try:
        artifacts.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with Tee(artifacts.stdout, artifacts.stderr, shown, secrets_of(surroundings.environment)) as tee:
            exit_code = _status(argv, surroundings, tee)
    except InterruptedError:
        # Programs are being ended because this process leaves: that is nobody's failure.
        raise
    except OSError as error:
        message = f"The command could not be run, or its output not be kept: {error.strerror or error}."
        attempted = f"writing to {artifacts.directory}"
        raise AgentSyncError(f"{message} No receipt was made.", attempted=attempted) from error
    return exit_code, tee.hashes


def _status(argv: tuple[str, ...], surroundings: Surroundings, tee: Tee) -> int:
    try:
        status = surroundings.processes.stream(
            argv,
            directory=str(surroundings.cwd),
            environment=surroundings.environment,
            output=tee.output,
            errors=tee.errors,
            timeout=surroundings.timeout,
            watch=surroundings.watch,
        )
    except TimeoutError:
        return TIMED_OUT
    except FileNotFoundError:
        return NOT_FOUND
    except OSError as error:
        # Anything else is trouble of the machine and says nothing about the command.
        if error.errno not in _REFUSED:
            raise
        return NOT_EXECUTABLE
    return status if status >= 0 else SIGNALLED - status


def _words(command: str | Sequence[str]) -> tuple[str, ...]:
    argv = ("sh", "-c", command) if isinstance(command, str) else tuple(command)
    if not command or not "".join(command).strip():
        raise BadInput("There is no command to run.")
    return argv


def _refuse_unusable(argv: tuple[str, ...], cwd: Path) -> None:
    try:
        has_nul = any(b"\0" in os.fsencode(word) for word in argv)
    except UnicodeEncodeError as error:
        raise BadInput("The command contains a character that cannot be encoded.") from error
    if has_nul:
        raise BadInput("The command contains a NUL character.")
    if not cwd.is_dir():
        raise BadInput(f"The directory {cwd} does not exist.", attempted=f"running {_text(argv[0])}")


def _text(given: str) -> str:
    """Return text that can be signed: bytes that are no characters are spelled out."""
    return os.fsencode(given).decode("utf-8", "backslashreplace")
