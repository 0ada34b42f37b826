"""Names of workers, of their refs and of their tasks; what is typed is checked here."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from agent_sync.errors import BadInput
from agent_sync.lazy_patterns import pattern
from agent_sync.leases.refs.values import HOOKS, RESCUE

DEFAULT_POOL = "main"
_NAME = pattern(r"[a-z0-9][a-z0-9._-]{0,49}")
_TOO_DEEP = 3
_RESCUED = pattern(rf"{RESCUE}([0-9]{{1,9}})-[0-9]{{1,10}}")
_TASK = pattern(r"(?:issue-|convoy-[0-9]+\.)([0-9]{1,9})")


@dataclass(frozen=True, order=True)
class WorkerName:
    """One worker of one pool."""

    pool: str
    worker: str

    def __str__(self) -> str:
        return f"{self.pool}/{self.worker}"

    @property
    def ref(self) -> str:
        """The ref its work hangs on."""
        return f"{HOOKS}{self.pool}/{self.worker}"


def exact_name(text: str) -> WorkerName:
    """Return the worker that `pool/worker`, or a bare name of the default pool, names."""
    pool, slash, worker = text.partition("/")
    if not slash:
        pool, worker = DEFAULT_POOL, pool
    if not (_is_name(pool) and _is_name(worker)):
        message = f"{text[:120]!r} is not a worker's name."
        raise BadInput(message, helps="pool/worker in lower-case letters, digits, dots, dashes and underscores")
    return WorkerName(pool, worker)


def worker_named(text: str, existing: Iterable[WorkerName]) -> WorkerName:
    """Return the worker that is meant: a bare name counts where one pool has it, and for a new one of the default."""
    named = exact_name(text)
    if "/" in text:
        return named
    found = sorted(name for name in existing if name.worker == text)
    if len(found) > 1:
        shown = ", ".join(map(str, found))
        raise BadInput(f"Several workers are called {text}: {shown}.", helps=f"agent-sync worker show {found[0]}")
    return found[0] if found else named


def worker_of_ref(ref: str) -> WorkerName | None:
    """Return the worker a ref belongs to; None for any other ref."""
    pool, slash, worker = ref.removeprefix(HOOKS).partition("/")
    is_hook = ref.startswith(HOOKS) and slash and _is_name(pool) and _is_name(worker)
    return WorkerName(pool, worker) if is_hook else None


def worker_above(ref: str) -> WorkerName | None:
    """Return the worker whose ref cannot be made because of one that lies below it; None for any other ref."""
    parts = ref.removeprefix(HOOKS).split("/", 2)
    return worker_of_ref(f"{HOOKS}{parts[0]}/{parts[1]}") if len(parts) == _TOO_DEEP else None


def rescue_ref(issue: int, number: int) -> str:
    """Return the ref that keeps what was not committed at a handoff."""
    return f"{RESCUE}{issue}-{number}"


def issue_of_rescue(ref: str) -> int | None:
    """Return the issue whose files a rescue ref keeps; None for a ref that is none of ours."""
    found = _RESCUED.fullmatch(ref)
    return int(found[1]) if found else None


def task_id(issue: int, parent: int | None) -> str:
    """Return what an issue is called on a hook; one of a convoy carries its parent's number."""
    return f"issue-{issue}" if parent is None else f"{convoy_id(parent)}.{issue}"


def foreign_task_id(name: str) -> str:
    """Return what an issue of another repository, `owner/name#n`, is called on a hook: `owner.name.n`."""
    return re.sub(r"[^A-Za-z0-9_-]", ".", name)


def convoy_id(parent: int) -> str:
    """Return what a parent issue with its sub-issues is called."""
    return f"convoy-{parent}"


def issue_of(task: str) -> int | None:
    """Return the issue a task's id stands for."""
    found = _TASK.fullmatch(task)
    return int(found[1]) if found else None


def _is_name(text: str) -> bool:
    # Git takes no name with two dots in a row, or with these ends.
    return bool(_NAME.fullmatch(text)) and ".." not in text and not text.endswith((".", ".lock"))
