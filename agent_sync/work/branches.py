"""The branch of a task as the last session left it: fetched, moved forward, and looked at for work that is there."""

from agent_sync.context import Desk


def bring_up_to_date(desk: Desk, branch: str) -> str:
    """Fetch a branch and move the local one forward; return what is in the way, if they went apart."""
    remote = desk.settings.git.remote
    tracked = f"refs/remotes/{remote}/{branch}"
    desk.git.try_to_fetch(remote, branch)
    there, here = _commit(desk, tracked), desk.git.head_of(branch)
    if not there or not here or there == here or _is_ancestor(desk, there, here):
        return ""
    if not _is_ancestor(desk, here, there):
        return f"branch {branch} here and on {remote} have diverged"
    if desk.git.current_branch() == branch:
        moved = desk.git.ask("merge", "--quiet", "--ff-only", tracked)
    else:
        moved = desk.git.ask("update-ref", f"refs/heads/{branch}", there, here)
    return f"branch {branch} here is behind {remote} and could not be moved forward" if moved.status else ""


def has_own_commits(desk: Desk, branch: str) -> bool:
    """Tell whether a branch holds work that the default branch does not have."""
    remote = desk.settings.git.remote
    head = desk.git.head_of(branch) or _commit(desk, f"refs/remotes/{remote}/{branch}")
    default = desk.git.default_branch(remote)
    base = f"refs/remotes/{remote}/{default}" if default else "HEAD"
    if not head:
        return False
    counted = desk.git.ask("rev-list", "--count", "--max-count=1", head, f"^{base}", "--").stdout.strip()
    return counted not in {"", "0"}


def _commit(desk: Desk, ref: str) -> str:
    return desk.git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}").stdout.strip()


def _is_ancestor(desk: Desk, older: str, newer: str) -> bool:
    return desk.git.ask("merge-base", "--is-ancestor", older, newer).status == 0
