"""What the agent is told when its stop is sent back."""

from agent_sync.gates.run.results import JobResult, RunResult

_HEAD = """\
GATES FAILED — fix the problems now. The gates did not pass, so this stop was refused. You cannot stop until \
they pass or one of the termination conditions below is met. The gates are checked again automatically the next time \
you stop; there is nothing to start by hand."""

_STEPS = """\
Review trust level: medium. Fix what you reasonably agree with or believe the human would want fixed. Skip what is \
purely a matter of style or taste, or what the human would not want changed.

How to address the failures:
1. Find the failed gates above, or in the console log.
2. For a failed CHECK: read its `.log` file and fix what it reports.
3. For a failed REVIEW: read its `.json` file; every entry in "violations" is one finding.
4. Record your decision on each finding in that JSON file, in its "status" and "result" fields:
   - "status": "fixed", with a brief description of the fix in "result", for what you fixed;
   - "status": "skipped", with a brief reason in "result", for what you decided not to change."""

_ENDS = """\
Termination conditions:
- "Status: Passed": all gates passed.
- "Status: Passed with warnings": what remains was skipped on purpose.
- "Status: Retry limit exceeded": stop, and ask the human to look; `agent-sync gate clean` then archives the \
session."""


def block_reason(result: RunResult) -> str:
    """Return the instructions for an agent whose gates failed."""
    failed = "\n".join(_failed(one) for one in result.failed)
    console = f"Console log (full details of the run): {result.console_log}" if result.console_log else ""
    changed = "\n".join(f"- {line}" for line in result.definitions)
    definitions = (
        f"Gate definitions were changed on this branch, which the human will see:\n{changed}" if changed else ""
    )
    parts = (_HEAD, f"Failed gates:\n{failed}", console, definitions, _STEPS, _ENDS)
    return "\n\n".join(part for part in parts if part)


def _failed(result: JobResult) -> str:
    places = [*(f"\n  Review: {path}" for path in result.findings), *([f"\n  Log: {result.log}"] if result.log else [])]
    return f"- {result.id}: {result.message}{''.join(places)}"
