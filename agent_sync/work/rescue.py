"""What was not committed when work was paused: the command that restores it, and what a record notes of the work."""

import shlex

from agent_sync.context import Context
from agent_sync.leases.refs.values import Where
from agent_sync.record import keep as recording
from agent_sync.record.machine.model import Record, WorkNote
from agent_sync.system import clock
from agent_sync.system.masking import masked
from agent_sync.work.hook.evidence import json_text
from agent_sync.work.hook.model import Handoff, WorkHook
from agent_sync.work.hook.names import WorkerName, issue_of_rescue

LONGEST_INPUT = 4000


def restore_command(ref: str, sha: str, *, where: Where, remote: str) -> str:
    """Return what is typed to have rescued files back; empty for a ref that agent-sync has not made.

    The text of a ref is somebody else's, and what is said here is run in a shell.
    """
    if issue_of_rescue(ref) is None or not sha:
        return ""
    fetch = f"git fetch {shlex.quote(remote)} {ref} && " if where is Where.REMOTE else ""
    return f"{fetch}git restore --source={sha} --worktree -- :/"


def restore_of(handoff: Handoff | None, context: Context, where: Where) -> str:
    """Return what restores the files of a handoff."""
    if handoff is None:
        return ""
    remote = context.remotes.base
    return restore_command(handoff.rescue_ref, handoff.rescue_sha, where=where, remote=remote)


def input_text(hook: WorkHook) -> str:
    """Return the input of the work as JSON, without secrets."""
    return masked(json_text(hook.task.input).decode())[:LONGEST_INPUT] if hook.task else ""


def note_work(context: Context, worker: WorkerName, hook: WorkHook, where: Where, *, on_branch: str) -> None:
    """Let the record of the task, and so HOOK.md, say what the hook says and what is on the branch."""
    handoff = hook.handoff
    summary = handoff.summary if handoff else ""
    note = WorkNote(
        worker=str(worker),
        input=input_text(hook),
        resume_point=handoff.resume_point if handoff else "",
        summary="\n".join(filter(None, (summary, on_branch))),
        next_steps=handoff.next_steps if handoff else (),
        rescue_ref=handoff.rescue_ref if handoff else "",
        restore=restore_of(handoff, context, where),
    )

    def noted(record: Record) -> Record:
        is_its_task = record.issue_number == hook.status.issue
        return record.model_copy(update={"work": note}) if is_its_task else record

    recording.attempt(context, lambda context: context.recorder.change(noted, clock.now()))
