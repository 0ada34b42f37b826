"""The branch of a task as the last session left it: fetched, moved forward, and looked at for work that is there."""

from agent_sync.context import Context


def bring_up_to_date(context: Context, branch: str) -> str:
    """Fetch a branch and move the local one forward; return what is in the way, if they went apart."""
    remote = context.settings.git.remote
    tracked = f"refs/remotes/{remote}/{branch}"
    context.git.try_to_fetch(remote, branch)
    there, here = _commit(context, tracked), context.git.head_of(branch)
    if not there or not here or there == here or _is_ancestor(context, there, here):
        return ""
    if not _is_ancestor(context, here, there):
        return f"branch {branch} here and on {remote} have diverged"
    if context.git.current_branch() == branch:
        moved = context.git.ask("merge", "--quiet", "--ff-only", tracked)
    else:
        moved = context.git.ask("update-ref", f"refs/heads/{branch}", there, here)
    return f"branch {branch} here is behind {remote} and could not be moved forward" if moved.status else ""


def has_own_commits(context: Context, branch: str) -> bool:
    """Tell whether a branch holds work that the default branch does not have."""
    remote = context.settings.git.remote
    head = context.git.head_of(branch) or _commit(context, f"refs/remotes/{remote}/{branch}")
    default = context.git.default_branch(remote)
    base = f"refs/remotes/{remote}/{default}" if default else "HEAD"
    if not head:
        return False
    counted = context.git.ask("rev-list", "--count", "--max-count=1", head, f"^{base}", "--").stdout.strip()
    return counted not in {"", "0"}


def _commit(context: Context, ref: str) -> str:
    return context.git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}").stdout.strip()


def _is_ancestor(context: Context, older: str, newer: str) -> bool:
    return context.git.ask("merge-base", "--is-ancestor", older, newer).status == 0
