"""Asks one reviewer once, and keeps what it said."""

import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import IO

from agent_sync.gates.config.model import AdapterOptions, Review
from agent_sync.gates.reviews.adapters import Adapter, command, surroundings
from agent_sync.gates.reviews.cooling import Cooling
from agent_sync.gates.reviews.findings import LARGEST, ReviewerAnswer, read_answer
from agent_sync.gates.run.context import NO_TIME, Run
from agent_sync.gates.run.masked_log import masked_into
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.system.masking import masked

DEFAULT_LIMIT = 300.0
_USED_UP = pattern(r"usage limit|rate limit|quota|credit balance|too many requests|hit your limit", re.IGNORECASE)


@dataclass(frozen=True)
class ReviewAttempt:
    """What came of asking: an answer, or why there is none."""

    answer: ReviewerAnswer | None
    trouble: str = ""
    raw: str = ""


def ask(adapter: Adapter, review: Review, prompt: str, *, run: Run, log: Path, cooling: Cooling) -> ReviewAttempt:  # noqa: PLR0913  # who, what and where
    """Run one reviewer with the prompt on its standard input."""
    options = run.project.adapters.get(adapter.name, AdapterOptions())
    limit, _ = run.limit(review.timeout or DEFAULT_LIMIT)
    if limit is not None and limit <= 0:
        return ReviewAttempt(None, NO_TIME)
    scratch = tempfile.TemporaryFile
    with log.open("wb") as output, scratch() as stdin, scratch() as raw, scratch() as errors:
        stdin.write(prompt.encode("utf-8", "surrogateescape"))
        stdin.seek(0)
        try:
            with masked_into(output, run.secrets, copy=raw) as pipe:
                status = run.processes.stream(
                    command(adapter, options, root=run.project.root, model=review.model),
                    directory=str(run.project.root),
                    environment=surroundings(adapter, options, run.environment),
                    output=pipe,
                    errors=errors,
                    stdin=stdin,
                    timeout=limit,
                    watch=run.watchman,
                )
        except TimeoutError as error:
            return ReviewAttempt(None, f"{adapter.name} {error}")
        except OSError as error:
            return ReviewAttempt(None, f"{adapter.name} could not be started: {error.strerror}")
        said, complained = _tail(raw), masked(_tail(errors), run.secrets)
        output.write(b"\n--- STDERR ---\n" + complained.encode("utf-8", "replace") if complained else b"")
    return _without_secrets(_attempt_of(adapter, said, complained, status=status, cooling=cooling), run.secrets)


def _without_secrets(asked: ReviewAttempt, secrets: tuple[str, ...]) -> ReviewAttempt:
    """Return an answer without secrets: its findings are kept, shown to the agent and listed in pull requests."""
    answer = asked.answer
    if answer is not None:
        found = (
            replace(
                one,
                issue=masked(one.issue, secrets),
                fix=masked(one.fix, secrets),
                result=masked(one.result, secrets),
            )
            for one in answer.findings
        )
        answer = replace(answer, findings=tuple(found))
    return replace(asked, answer=answer, raw=masked(asked.raw, secrets))


def _attempt_of(adapter: Adapter, said: str, complained: str, *, status: int, cooling: Cooling) -> ReviewAttempt:
    answer = read_answer(said)
    if answer is not None:
        return ReviewAttempt(answer, raw=said)
    if _USED_UP.search(said) or _USED_UP.search(complained):
        cooling.mark(adapter.name, "usage limit")
        return ReviewAttempt(None, f"{adapter.name} is used up for now", raw=said)
    reason = f"ended with exit code {status}" if status else "gave no answer that could be read"
    return ReviewAttempt(None, f"{adapter.name} {reason}", raw=said)


def _tail(file: IO[bytes]) -> str:
    size = file.seek(0, 2)
    file.seek(max(0, size - LARGEST))
    return file.read().decode("utf-8", "replace")
