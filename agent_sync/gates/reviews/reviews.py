"""Runs a review: its slots, each with a reviewer of its own, first looks and second ones."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from agent_sync.gates.config.model import Review
from agent_sync.gates.memory import keeping
from agent_sync.gates.plan.plan import Job
from agent_sync.gates.reviews.adapters import Adapter, adapter_of, is_installed
from agent_sync.gates.reviews.cooling import Cooling
from agent_sync.gates.reviews.findings import ReviewFinding, Stored, read_stored, stored_text, with_decisions
from agent_sync.gates.reviews.prompts import whole_prompt
from agent_sync.gates.reviews.reviewer import ReviewAttempt, ask
from agent_sync.gates.reviews.second_look import (
    AskReviewer,
    KeepFindings,
    Turn,
    next_turn,
    open_findings,
    with_paths_of_patch,
)
from agent_sync.gates.run.context import Run
from agent_sync.gates.run.logs import LogDir
from agent_sync.gates.run.results import JobOutcome, JobResult
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system.masking import masked

LONGEST_RAW = 100_000
__all__ = ["Cooling", "run_review", "skipped_findings"]


@dataclass(frozen=True)
class ReviewSlot:
    """One reviewer's place in a review, and what it said there last."""

    number: int
    adapter: Adapter
    previous: Stored | None
    turn: Turn


@dataclass(frozen=True)
class SlotResult:
    """How one reviewer's turn ended."""

    outcome: JobOutcome
    message: str
    file: Path
    count: int = 0


def run_review(job: Job, review: Review, run: Run, cooling: Cooling) -> JobResult:
    """Run one review and write what its reviewers found."""
    began = time.monotonic()
    adapters = _healthy(review, run, cooling)
    if not adapters:
        wanted = ", ".join(review.cli_preference or run.project.default_preference)
        return JobResult(job.id, JobOutcome.BROKEN, f"no reviewer can be asked (wanted: {wanted})")
    slots = _waiting(_slots(job, review, run, adapters))
    with ThreadPoolExecutor(len(slots) if review.parallel else 1, thread_name_prefix="review") as pool:
        results = list(pool.map(lambda slot: _turn(job, review, slot, run, cooling), slots))
    return _review_result(job.id, results, time.monotonic() - began)


def skipped_findings(logs: LogDir, secrets: tuple[str, ...]) -> tuple[str, ...]:
    """Return every finding of the session the agent decided to skip, without secrets: pull requests list them."""
    stored = (read_stored(path) for path in logs.reviews())
    found = (finding for one in stored if one for finding in one.findings if finding.status == "skipped")
    return tuple(dict.fromkeys(masked(str(finding), secrets) for finding in found))


def _healthy(review: Review, run: Run, cooling: Cooling) -> list[Adapter]:
    names = review.cli_preference or run.project.default_preference
    known = [adapter for name in names if (adapter := adapter_of(name))]
    return [one for one in known if is_installed(one, run.environment) and not cooling.is_cooling(one.name)]


def _slots(job: Job, review: Review, run: Run, adapters: list[Adapter]) -> list[ReviewSlot]:
    whole = run.differences.whole().of(job.files)
    last = {one.number: one.path for one in run.logs.slots(run.stems[job.id])} if run.is_rerun else {}
    slots = []
    for number in range(1, review.num_reviews + 1):
        previous = _read(last[number], run) if number in last else None
        since = run.differences.since(previous.tree) if previous and previous.tree else None
        turn = next_turn(previous, whole, since.of(_scope(job, previous)) if since is not None else None)
        slots.append(ReviewSlot(number, adapters[(number - 1) % len(adapters)], previous, turn))
    return slots


def _read(path: Path, run: Run) -> Stored | None:
    """Return what a reviewer found, from our own copy, and what the agent decided, from the file it edits."""
    original, edited = read_stored(run.originals / path.name), read_stored(path)
    return with_decisions(original, edited) if original and edited else None


def _keep(file: Path, stored: Stored, raw: str, run: Run) -> None:
    text = stored_text(stored, at=_now(), raw=raw[:LONGEST_RAW])
    keeping.keep(run.originals / file.name, text)
    file.write_bytes(text)


def _scope(job: Job, previous: Stored | None) -> set[str]:
    """Return the files a review is about: those of its entry point, and those it spoke of before."""
    return {*job.files, *(finding.file for finding in (previous.findings if previous else ()))}


def _waiting(slots: list[ReviewSlot]) -> list[ReviewSlot]:
    """Spare reviewers that had nothing to say as long as another one looks at the newest changes anyway."""
    asked = [slot for slot in slots if isinstance(slot.turn, AskReviewer)]
    passed = [slot for slot in asked if slot.previous and slot.previous.has_passed]
    if not passed:
        return slots
    others = [slot for slot in asked if slot not in passed]
    spared = passed if others else passed[1:]
    return [replace(slot, turn=KeepFindings()) if slot in spared else slot for slot in slots]


def _turn(job: Job, review: Review, slot: ReviewSlot, run: Run, cooling: Cooling) -> SlotResult:
    file = run.logs.slot(run.stems[job.id], slot.adapter.name, slot.number, run=run.number)
    match slot.turn:
        case KeepFindings(findings):
            return _keep_findings(slot, findings, file, run)
        case AskReviewer(patch) if not patch.files and not slot.turn.earlier:
            return _store_findings(slot, Stored(slot.adapter.name, "pass", tree=run.differences.after), file, run)
        case AskReviewer():
            return _ask_reviewer(review, slot, slot.turn, file=file, run=run, cooling=cooling)


def _keep_findings(slot: ReviewSlot, findings: tuple[ReviewFinding, ...], file: Path, run: Run) -> SlotResult:
    previous = slot.previous
    if previous and previous.has_passed:
        # Its last look keeps its tree: what it was spared is shown to it when it is asked again.
        iteration = previous.pass_iteration or run.number - 1
        kept = Stored(slot.adapter.name, "skipped_prior_pass", tree=previous.tree, pass_iteration=iteration)
        return _store_findings(slot, kept, file, run)
    status = "fail" if findings else "pass"
    return _store_findings(slot, Stored(slot.adapter.name, status, findings, run.differences.after), file, run)


def _ask_reviewer(  # noqa: PLR0913  # who, what and where
    review: Review, slot: ReviewSlot, turn: AskReviewer, *, file: Path, run: Run, cooling: Cooling
) -> SlotResult:
    prompt = whole_prompt(
        review.prompt,
        turn.patch.text,
        fixed=tuple(str(one) for one in turn.fixed),
        still_open=tuple(str(one) for one in turn.still_open),
    )
    asked = ask(slot.adapter, review, prompt, run=run, log=file.with_suffix(".log"), cooling=cooling)
    if asked.answer is None:
        return _store_failure(slot, turn, asked, file, run)
    found = with_paths_of_patch(asked.answer.findings, _known_paths(turn), str(run.project.root))
    open_now = open_findings(turn, found, run.project.rerun_threshold)
    status = "fail" if open_now else "pass"
    return _store_findings(
        slot, Stored(slot.adapter.name, status, open_now, run.differences.after), file, run, asked.raw
    )


def _known_paths(turn: AskReviewer) -> frozenset[str]:
    return turn.patch.paths | {finding.file for finding in turn.earlier}


def _store_failure(slot: ReviewSlot, turn: AskReviewer, asked: ReviewAttempt, file: Path, run: Run) -> SlotResult:
    """Keep what was open before an answer that could not be had: it is neither resolved nor new."""
    stored = Stored(slot.adapter.name, "error", turn.earlier, slot.previous.tree if slot.previous else "")
    _keep(file, stored, asked.raw, run)
    return SlotResult(JobOutcome.BROKEN, asked.trouble, file)


def _store_findings(slot: ReviewSlot, stored: Stored, file: Path, run: Run, raw: str = "") -> SlotResult:
    _keep(file, stored, raw, run)
    outcome = JobOutcome.FAILED if stored.findings else JobOutcome.PASSED
    return SlotResult(outcome, f"{slot.adapter.name}: {len(stored.findings)} open", file, len(stored.findings))


def _review_result(job_id: str, results: list[SlotResult], seconds: float) -> JobResult:
    failed = [one for one in results if one.outcome is JobOutcome.FAILED]
    broken = [one for one in results if one.outcome is JobOutcome.BROKEN]
    if failed:
        count = sum(one.count for one in failed)
        message = f"{count} finding{'' if count == 1 else 's'}"
        return JobResult(job_id, JobOutcome.FAILED, message, seconds, findings=tuple(one.file for one in failed))
    if broken:
        return JobResult(job_id, JobOutcome.BROKEN, "; ".join(one.message for one in broken), seconds)
    return JobResult(job_id, JobOutcome.PASSED, "", seconds)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
