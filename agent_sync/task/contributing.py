"""Working from a fork: the parent as a remote of this clone, and what a viewer who may only read it can do there."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from agent_sync.context import Context
from agent_sync.errors import BadConfig, GitFailed, NotFound, Refused
from agent_sync.gateway.transport.address import address_of, sibling_address
from agent_sync.gateway.transport.remotes import BASE, remote_naming
from agent_sync.system.git_branches import add_remote, note_remote
from agent_sync.system.masking import masked
from agent_sync.task.decision.tasks import Task

# What gh calls a fork's parent, and what to call it where that name is taken.
# How gh notes at a remote that its repository has the issues.
_NOTE = ("gh-resolved", BASE)
_NAMES = ("upstream", "parent")


def refuse_unseen_claim(context: Context, task: Task, *, local: bool) -> None:
    """Stop where the claim would have to be written to a repository that the viewer may not write to."""
    if task.may_write or not context.remotes.fork or local or context.settings.lease.where == "clone":
        return
    here = address_of(context)[0].full_name
    message = f"You may not write to {here}, where the claim of #{task.number} would tell others of it."
    helps = f'agent-sync claim {task.number} --local, which only this clone sees (for good: lease.where = "clone")'
    raise Refused(message, attempted=f"claiming issue #{task.number}", helps=helps)


def is_onlooker(context: Context, task: Task) -> bool:
    """Tell whether the viewer works from a fork and may not say on GitHub that the issue is theirs."""
    return bool(context.remotes.fork) and not task.may_triage


def onlooker_note(context: Context) -> str:
    """Return what GitHub does not show of a claim, and why."""
    here = address_of(context)[0].full_name
    return (
        f"you may only read {here}: the issue is not assigned to you and its card stays; comment there to tell others"
    )


@contextmanager
def naming_fork(context: Context) -> Iterator[None]:
    """Say with what was not found that this is a fork, if that is why, and how to work on its parent's issues."""
    try:
        yield
    except NotFound as error:
        parent = _parent(context)
        if parent:
            here = address_of(context)[0].full_name
            error.happened = f"{error.happened.rstrip()} {here} is a fork of {parent}, whose issues are worked on."
            error.helps = f"gh repo set-default {parent}"
        raise


def at_parent(context: Context) -> Context | None:
    """Return the context of a fork's clone that now has its parent as a remote; None where this is no such fork."""
    parent = context.remotes.named if context.remotes.fork else _parent(context)
    return _with_parent(context, parent) if parent else None


def looking_at_parent(context: Context) -> Context:
    """Return the context in which a fork's questions go to its parent; nothing is written."""
    parent = _parent(context)
    if not parent:
        return context
    github = context.settings.github.model_copy(update={"repository": parent})
    return replace(context, settings=context.settings.model_copy(update={"github": github}))


def _parent(context: Context) -> str:
    return "" if context.remotes.fork else context.gateway.parent()


def _with_parent(context: Context, parent: str) -> Context:
    """Note the remote that is the parent, or add it, as `gh repo clone` does; the settings are read as they were."""
    known = remote_naming(context, parent)
    if known:
        return _noted(context, note_remote(context.git, known, _NOTE))
    origin = context.git.remote_url(context.remotes.push) or ""
    free = next((name for name in _NAMES if not context.git.remote_url(name)), "")
    address = sibling_address(origin, parent)
    if not (free and address):
        message = f"The repository of the issues, {parent}, is no remote of this clone."
        raise BadConfig(message, helps=f"git remote add NAME URL for it, then gh repo set-default {parent}")
    return _noted(context, add_remote(context.git, free, address) or note_remote(context.git, free, _NOTE))


def _noted(context: Context, trouble: str) -> Context:
    if trouble:
        raise GitFailed(f"git said: {masked(trouble)[:300]}", attempted="making the fork's parent a remote")
    return replace(context)
