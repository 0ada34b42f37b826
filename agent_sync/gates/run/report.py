"""Puts a run into words: the lines while it goes on, the summary at its end, the part for a pull request."""

from agent_sync.gates.run.results import JobResult, Outcome, RunResult
from agent_sync.gates.status import HEADLINES, Status

WIDTH = 72
MOST_NAMED = 5


def progress(result: JobResult) -> str:
    """Return one aligned line about a gate that ended."""
    reason = f" ({result.message})" if result.message and result.outcome is not Outcome.PASSED else ""
    took = f" {result.seconds:.1f} s" if result.outcome in {Outcome.PASSED, Outcome.FAILED} else ""
    return f"{_dotted(result.id)}{result.outcome}{reason}{took}"


def skipped_line(job_id: str, reason: str) -> str:
    """Return one aligned line about a gate that did not run."""
    return f"{_dotted(job_id)}Skipped ({reason})"


def summary(result: RunResult) -> list[str]:
    """Return the end of the console's text: what failed and where to read it, warnings, and the status."""
    lines = [""] if result.results else []
    for failed in (*result.failed, *result.broken):
        lines.append(f"{failed.id}: {failed.outcome.lower()}: {failed.message}")
        lines += [f"  Review: {path}" for path in failed.findings]
        lines += [f"  Log: {failed.log}"] if failed.log else []
    lines += [f"Skipped finding: {warning}" for warning in result.warnings]
    lines += [f"Note: {note}" for note in (*result.notes, *result.definitions, *result.remarks)]
    lines += [result.message] if result.message else []
    lines += result.error.splitlines()
    return [*lines, f"Status: {HEADLINES.get(result.status, result.status)}"]


def said(results: tuple[JobResult, ...], status: Status, *, warnings: int) -> str:
    """Return one sentence on a run that had gates to run."""
    count = _counted(len([one for one in results if one.outcome is not Outcome.SKIPPED]), "gate")
    failed = [one.id for one in results if one.outcome is Outcome.FAILED]
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
            broken = [f"{one.id}: {one.message}" for one in results if one.outcome is Outcome.BROKEN]
            return f"Not all gates could run: {_named(broken, '; ')}."


def for_pull(result: RunResult) -> str:
    """Return the part of a pull request's body about the gates: each with its result, and the tree they ran on."""
    lines = [f"Gates: {HEADLINES.get(result.status, result.status)} — {result.message}"]
    lines += [f"- {one.id}: {one.outcome}" + _because(one) for one in result.results]
    lines += [f"- {one.id}: Skipped ({one.reason})" for one in result.skipped]
    lines += [f"- skipped finding: {warning}" for warning in result.warnings]
    lines += about_definitions(result.definitions, result.remarks)
    lines += [f"Tree: `{result.tree}`"] if result.tree else []
    return "\n".join(lines)


def about_definitions(changes: tuple[str, ...], remarks: tuple[str, ...]) -> list[str]:
    """Return what a pull request's body says about the definitions of its gates."""
    return [*(f"- gate definitions: {line}" for line in changes), *(f"- {line}" for line in remarks)]


def _because(result: JobResult) -> str:
    return f" ({result.message})" if result.message and result.outcome is not Outcome.PASSED else ""


def _dotted(job_id: str) -> str:
    shown = job_id.encode("utf-8", "replace").decode().replace("\n", "\\n")
    return f"{shown} {'.' * max(3, WIDTH - len(shown) - 1)} "


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _named(names: list[str], separator: str = ", ") -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return separator.join(names[:MOST_NAMED]) + more
