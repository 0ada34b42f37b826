"""The section of HOOK.md about work that came from a work hook."""

from agent_sync.record.machine.model import Record, WorkNote
from agent_sync.record.machine.states import TERMINAL
from agent_sync.task.decision.outside_text import code

_LONGEST_INPUT = 2000
_STEPS_SHOWN = 10


def work_section(record: Record) -> list[str]:
    """Return what the hook says of the task: input, resume point, rescued files, and how the work ends."""
    work = record.work
    if work is None:
        return []
    said = {
        "Worker": code(work.worker),
        "Input": code(work.input, limit=_LONGEST_INPUT) if work.input else "",
        "Resume Point": code(work.resume_point, limit=1000) if work.resume_point else "",
        "Done So Far": code(work.summary, limit=2000) if work.summary else "",
    }
    lines = [f"**{name}:** {value}" for name, value in said.items() if value]
    lines += [f"- Next: {code(step, limit=300)}" for step in work.next_steps[:_STEPS_SHOWN]]
    ending = [] if record.state in TERMINAL else ["", *_ending()]
    return ["## Work From Your Hook", "", *lines, *_rescue(work), *ending]


def _rescue(work: WorkNote) -> list[str]:
    if not work.rescue_ref:
        return []
    kept = f"What was not committed at the handoff is kept in {code(work.rescue_ref)}."
    return [
        "",
        kept,
        *(["To restore it into a clean worktree, run:", "", f"    {work.restore}"] if work.restore else []),
    ]


def _ending() -> list[str]:
    return [
        "- Ready for a pull request: `agent-sync handoff`; once merged and closed, the hook is complete",
        "- Done without a pull request: commit everything, then `agent-sync worker result`",
        "- Before the context runs out: `agent-sync worker pause --resume-point TEXT`",
    ]
