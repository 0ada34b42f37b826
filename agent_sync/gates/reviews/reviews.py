"""Runs a review: its slots, each with a reviewer of its own, first looks and second ones."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from agent_sync.gates.config.model import Review
from agent_sync.gates.memory import keeping
from agent_sync.gates.plan.plan import Job
from agent_sync.gates.reviews.adapters import Adapter, adapter_of, is_installed
from agent_sync.gates.reviews.findings import Finding, Stored, decided, read_stored, stored_text
from agent_sync.gates.reviews.prompts import whole_prompt
from agent_sync.gates.reviews.reviewer import Asked, Cooling, ask
from agent_sync.gates.reviews.second_look import Ask, Keep, Turn, cleaned, judged, next_turn
from agent_sync.gates.run.context import Run
from agent_sync.gates.run.logs import LogDir
from agent_sync.gates.run.results import JobResult, Outcome
from agent_sync.system.masking import masked

LONGEST_RAW = 100_000
__all__ = ["Cooling", "run_review", "skipped_findings"]


@dataclass(frozen=True)
class Slot:
    """One reviewer's place in a review, and what it said there last."""

    number: int
    adapter: Adapter
    previous: Stored | None
    turn: Turn


@dataclass(frozen=True)
class SlotResult:
    """How one reviewer's turn ended."""

    outcome: Outcome
    message: str
    file: Path
    count: int = 0


def run_review(job: Job, review: Review, run: Run, cooling: Cooling) -> JobResult:
    """Run one review and write what its reviewers found."""
    began = time.monotonic()
    adapters = _healthy(review, run, cooling)
    if not adapters:
        wanted = ", ".join(review.cli_preference or run.project.default_preference)
        return JobResult(job.id, Outcome.BROKEN, f"no reviewer can be asked (wanted: {wanted})")
    slots = _waiting(_slots(job, review, run, adapters))
    with ThreadPoolExecutor(len(slots) if review.parallel else 1, thread_name_prefix="review") as pool:
        results = list(pool.map(lambda slot: _turn(job, review, slot, run, cooling), slots))
    return _combined(job.id, results, time.monotonic() - began)


def skipped_findings(logs: LogDir, secrets: tuple[str, ...]) -> tuple[str, ...]:
    """Return every finding of the session the agent decided to skip, without secrets: pull requests list them."""
    stored = (read_stored(path) for path in logs.reviews())
    found = (finding for one in stored if one for finding in one.findings if finding.status == "skipped")
    return tuple(dict.fromkeys(masked(str(finding), secrets) for finding in found))


def _healthy(review: Review, run: Run, cooling: Cooling) -> list[Adapter]:
    names = review.cli_preference or run.project.default_preference
    known = [adapter for name in names if (adapter := adapter_of(name))]
    return [one for one in known if is_installed(one, run.environment) and not cooling.is_cooling(one.name)]


def _slots(job: Job, review: Review, run: Run, adapters: list[Adapter]) -> list[Slot]:
    whole = run.differences.whole().of(job.files)
    last = {number: path for _, _, number, path in run.logs.slots(run.stems[job.id])} if run.is_rerun else {}
    slots = []
    for number in range(1, review.num_reviews + 1):
        previous = _read(last[number], run) if number in last else None
        since = run.differences.since(previous.tree) if previous and previous.tree else None
        turn = next_turn(previous, whole, since.of(_scope(job, previous)) if since is not None else None)
        slots.append(Slot(number, adapters[(number - 1) % len(adapters)], previous, turn))
    return slots


def _read(path: Path, run: Run) -> Stored | None:
    """Return what a reviewer found, from our own copy, and what the agent decided, from the file it edits."""
    original, edited = read_stored(run.originals / path.name), read_stored(path)
    return decided(original, edited) if original and edited else None


def _keep(file: Path, stored: Stored, raw: str, run: Run) -> None:
    text = stored_text(stored, at=_now(), raw=raw[:LONGEST_RAW])
    keeping.keep(run.originals / file.name, text)
    file.write_bytes(text)


def _scope(job: Job, previous: Stored | None) -> set[str]:
    """Return the files a review is about: those of its entry point, and those it spoke of before."""
    return {*job.files, *(finding.file for finding in (previous.findings if previous else ()))}


def _waiting(slots: list[Slot]) -> list[Slot]:
    """Spare reviewers that had nothing to say as long as another one looks at the newest changes anyway."""
    passed = [slot for slot in slots if slot.previous and slot.previous.has_passed and isinstance(slot.turn, Ask)]
    if not passed:
        return slots
    others = [slot for slot in slots if slot not in passed and isinstance(slot.turn, Ask)]
    spared = passed if others else passed[1:]
    return [replace(slot, turn=Keep()) if slot in spared else slot for slot in slots]


def _turn(job: Job, review: Review, slot: Slot, run: Run, cooling: Cooling) -> SlotResult:
    file = run.logs.slot(run.stems[job.id], slot.adapter.name, slot.number, run=run.number)
    match slot.turn:
        case Keep(findings):
            return _kept(slot, findings, file, run)
        case Ask(patch) if not patch.files and not slot.turn.earlier:
            return _stored(slot, Stored(slot.adapter.name, "pass", tree=run.differences.after), file, run)
        case Ask():
            return _asked(review, slot, slot.turn, file=file, run=run, cooling=cooling)


def _kept(slot: Slot, findings: tuple[Finding, ...], file: Path, run: Run) -> SlotResult:
    previous = slot.previous
    if previous and previous.has_passed:
        # Its last look keeps its tree: what it was spared is shown to it when it is asked again.
        iteration = previous.pass_iteration or run.number - 1
        kept = Stored(slot.adapter.name, "skipped_prior_pass", tree=previous.tree, pass_iteration=iteration)
        return _stored(slot, kept, file, run)
    status = "fail" if findings else "pass"
    return _stored(slot, Stored(slot.adapter.name, status, findings, run.differences.after), file, run)


def _asked(review: Review, slot: Slot, turn: Ask, *, file: Path, run: Run, cooling: Cooling) -> SlotResult:  # noqa: PLR0913  # who, what and where
    prompt = whole_prompt(
        review.prompt,
        turn.patch.text,
        fixed=tuple(str(one) for one in turn.fixed),
        still_open=tuple(str(one) for one in turn.still_open),
    )
    asked = ask(slot.adapter, review, prompt, run=run, log=file.with_suffix(".log"), cooling=cooling)
    if asked.answer is None:
        return _broken(slot, turn, asked, file, run)
    found = cleaned(asked.answer.findings, _known_paths(turn), str(run.project.root))
    open_now = judged(turn, found, run.project.rerun_threshold)
    status = "fail" if open_now else "pass"
    return _stored(slot, Stored(slot.adapter.name, status, open_now, run.differences.after), file, run, asked.raw)


def _known_paths(turn: Ask) -> frozenset[str]:
    return turn.patch.paths | {finding.file for finding in turn.earlier}


def _broken(slot: Slot, turn: Ask, asked: Asked, file: Path, run: Run) -> SlotResult:
    """Keep what was open before an answer that could not be had: it is neither resolved nor new."""
    stored = Stored(slot.adapter.name, "error", turn.earlier, slot.previous.tree if slot.previous else "")
    _keep(file, stored, asked.raw, run)
    return SlotResult(Outcome.BROKEN, asked.trouble, file)


def _stored(slot: Slot, stored: Stored, file: Path, run: Run, raw: str = "") -> SlotResult:
    _keep(file, stored, raw, run)
    outcome = Outcome.FAILED if stored.findings else Outcome.PASSED
    return SlotResult(outcome, f"{slot.adapter.name}: {len(stored.findings)} open", file, len(stored.findings))


def _combined(job_id: str, results: list[SlotResult], seconds: float) -> JobResult:
    failed = [one for one in results if one.outcome is Outcome.FAILED]
    broken = [one for one in results if one.outcome is Outcome.BROKEN]
    if failed:
        count = sum(one.count for one in failed)
        message = f"{count} finding{'' if count == 1 else 's'}"
        return JobResult(job_id, Outcome.FAILED, message, seconds, findings=tuple(one.file for one in failed))
    if broken:
        return JobResult(job_id, Outcome.BROKEN, "; ".join(one.message for one in broken), seconds)
    return JobResult(job_id, Outcome.PASSED, "", seconds)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
