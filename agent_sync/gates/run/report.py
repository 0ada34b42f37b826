"""Puts a run into words: the lines while it runs, the summary at its end, the part for a pull request."""

from agent_sync.gates.plan.plan import gate_name
from agent_sync.gates.run.excerpt import failing_output
from agent_sync.gates.run.results import JobOutcome, JobResult, RunResult
from agent_sync.gates.status import HEADLINES, Status

WIDTH = 72
MOST_NAMED = 5
# Of a failed gate's output, a console shows the first and the last lines.
FIRST_LINES, LAST_LINES = 40, 20


def progress(result: JobResult) -> str:
    """Return one aligned line about a gate that ended."""
    reason = f" ({result.message})" if result.message and result.outcome is not JobOutcome.PASSED else ""
    took = f" {result.seconds:.1f} s" if result.outcome in {JobOutcome.PASSED, JobOutcome.FAILED} else ""
    return f"{_padded_name(result.id)}{result.outcome}{reason}{took}"


def shown_output(result: JobResult) -> list[str]:
    """Return what a console shows of a gate's output: nothing unless it failed."""
    if result.outcome is not JobOutcome.FAILED:
        return []
    return [f"  {line}" for line in failing_output(result, first=FIRST_LINES, last=LAST_LINES)]


def skipped_line(job_id: str, reason: str) -> str:
    """Return one aligned line about a gate that did not run."""
    return f"{_padded_name(job_id)}Skipped ({reason})"


def summary(result: RunResult) -> list[str]:
    """Return the end of the console's text: what failed and where to read it, warnings, and the status."""
    lines = [""] if result.results else []
    for failed in (*result.failed, *result.broken):
        lines.append(f"{gate_name(failed.id)}: {failed.outcome.lower()}: {failed.message}")
        lines += [f"  Review: {path}" for path in failed.findings]
        lines += [f"  Log: {failed.log}"] if failed.log else []
    lines += [f"Skipped finding: {warning}" for warning in result.warnings]
    lines += [f"Note: {note}" for note in (*result.notes, *result.definitions, *result.remarks)]
    lines += [result.message] if result.message else []
    lines += result.error.splitlines()
    return [*lines, f"Status: {HEADLINES.get(result.status, result.status)}"]


def run_message(results: tuple[JobResult, ...], status: Status, *, warnings: int) -> str:
    """Return one sentence on a run that had gates to run."""
    count = _counted(len([one for one in results if one.outcome is not JobOutcome.SKIPPED]), "gate")
    failed = [gate_name(one.id) for one in results if one.outcome is JobOutcome.FAILED]
    match status:
        case Status.PASSED:
            return f"{count} passed." if count != "1 gate" else "The gate passed."
        case Status.PASSED_WITH_WARNINGS:
            return f"{count} passed; {_counted(warnings, 'finding')} skipped."
        case Status.FAILED:
            return f"{len(failed)} of {count} failed: {_named(failed)}."
        case Status.RETRY_LIMIT_EXCEEDED:
            return f"The retry limit was exceeded; still failing: {_named(failed)}. A human should look."
        case _:
            broken = [f"{gate_name(one.id)}: {one.message}" for one in results if one.outcome is JobOutcome.BROKEN]
            return f"Not all gates could run: {_named(broken, '; ')}."


def for_pull(result: RunResult) -> str:
    """Return the part of a pull request's body about the gates: each with its result, and the tree they ran on."""
    lines = [f"Gates: {HEADLINES.get(result.status, result.status)} — {result.message}"]
    rows = [(gate_name(one.id), _mark(one.outcome) + one.outcome + _reason_of(one)) for one in result.results]
    rows += [(gate_name(one.id), f"Skipped ({one.reason})") for one in result.skipped]
    lines += _table(rows)
    lines += [f"- skipped finding: {warning}" for warning in result.warnings]
    lines += about_definitions(result.definitions, result.remarks)
    lines += [f"Tree: `{result.tree}`"] if result.tree else []
    return "\n".join(lines)


def _table(rows: list[tuple[str, str]]) -> list[str]:
    listed = [f"| `{_cell(name)}` | {_cell(said)} |" for name, said in rows]
    return ["", "| Gate | Result |", "|---|---|", *listed, ""] if rows else []


def _mark(outcome: JobOutcome) -> str:
    return {JobOutcome.PASSED: "✓ ", JobOutcome.FAILED: "✗ "}.get(outcome, "")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("`", "'")


def about_definitions(changes: tuple[str, ...], remarks: tuple[str, ...]) -> list[str]:
    """Return what a pull request's body says about the definitions of its gates."""
    return [*(f"- gate definitions: {line}" for line in changes), *(f"- {line}" for line in remarks)]


def _reason_of(result: JobResult) -> str:
    return f" ({result.message})" if result.message and result.outcome is not JobOutcome.PASSED else ""


def _padded_name(job_id: str) -> str:
    shown = gate_name(job_id).encode("utf-8", "replace").decode().replace("\n", "\\n")
    return f"{shown} {'.' * max(3, WIDTH - len(shown) - 1)} "


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _named(names: list[str], separator: str = ", ") -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return separator.join(names[:MOST_NAMED]) + more
