"""Branches: how far one is from another, what it has, where it is checked out, its upstream, its end."""

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system.git import Git, refuse_odd_branch
from agent_sync.system.masking import masked

# A claim waits for it; a remote that is slower is worked without.
FETCH_LIMIT = 20.0
_LONGEST_REASON = 200


@dataclass(frozen=True)
class Distance:
    """How many commits a branch has that its base does not have, and the other way round."""

    ahead: int
    behind: int

    def __str__(self) -> str:
        return f"{self.behind} behind, {self.ahead} ahead"


def fetch_heads(git: Git, remote: str, *patterns: str) -> str:
    """Bring branches of a remote up to date, each by name or as `name*`; return why it failed, if it did."""
    for pattern in patterns:
        refuse_odd_branch(pattern.removesuffix("*"))
    found = git.remote(remote)
    if found is None:
        return ""
    specs = (f"+refs/heads/{pattern}:refs/remotes/{remote}/{pattern}" for pattern in patterns)
    options = ("--quiet", "--no-tags", "--prune", "--no-write-fetch-head", "--no-recurse-submodules")
    done = git.talk(found.url, "fetch", *options, "--", remote, *specs, timeout=FETCH_LIMIT)
    return _reason(done.stderr) if done.status else ""


def name_head(git: Git, remote: str, branch: str) -> None:
    """Note a remote's default branch where this clone has not been told, as a clone of that remote would have been."""
    if git.default_branch(remote) is None and git.remote_head_of(remote, branch):
        git.ask("symbolic-ref", f"refs/remotes/{remote}/HEAD", f"refs/remotes/{remote}/{branch}")


def distance(git: Git, head: str, base: str) -> Distance | None:
    """Return how far a commit is from a base; None where either is not here."""
    counted = git.ask("rev-list", "--left-right", "--count", f"{base}...{head}", "--").stdout.split()
    return Distance(int(counted[1]), int(counted[0])) if len(counted) == 2 else None  # noqa: PLR2004  # left and right


def has_had(git: Git, branch: str, commit: str) -> bool:
    """Tell whether a branch here contains a commit or was ever at it; of a branch that is not here, yes."""
    local = git.head_of(branch)
    if local in {None, commit} or git.is_ahead(branch, commit):
        return True
    return commit in git.ask("log", "--walk-reflogs", "--format=%H", f"refs/heads/{branch}", "--").stdout.split()


def worktree_of(git: Git, branch: str) -> str:
    """Return the root of the worktree in which a branch is checked out; "" where it is in none."""
    return git.ask("for-each-ref", "--format=%(worktreepath)", f"refs/heads/{branch}").stdout.strip()


def set_upstream(git: Git, remote: str, branch: str) -> None:
    """Let a branch that has no upstream follow its copy on a remote, so that a plain `git push` and `git pull` work."""
    if git.ask("config", "--get", f"branch.{branch}.merge").stdout.strip():
        return
    # A configuration that cannot be written costs no more than this convenience.
    git.ask("config", f"branch.{branch}.remote", remote)
    git.ask("config", f"branch.{branch}.merge", f"refs/heads/{branch}")


def restart(git: Git, branch: str, start: str, *, is_elsewhere: bool) -> str:
    """Let a branch begin anew at `start`, checked out unless another worktree is to have it; return why git refuses."""
    order = ("branch", "--force") if is_elsewhere else ("switch", "-C")
    done = git.ask(order[0], "--quiet", "--no-track", order[1], branch, start)
    return _reason(done.stderr) if done.status else ""


def leave_for(git: Git, base: str, *, remote: str, detach: bool) -> str:
    """Check the base out, as the remote has it where it only lags behind; return why git refuses, if it does."""
    tracking = f"refs/remotes/{remote}/{base}"
    if detach:
        start = tracking if git.remote_head_of(remote, base) else f"refs/heads/{base}"
        done = git.ask("switch", "--quiet", "--detach", start)
    else:
        done = git.ask("switch", "--quiet", base)
    if done.status:
        return _reason(done.stderr)
    if not detach:
        git.ask("merge", "--quiet", "--ff-only", tracking)
    return ""


def delete_here(git: Git, branch: str) -> str:
    """Delete a local branch, merged or not; return why git refuses, if it does."""
    done = git.ask("branch", "--quiet", "-D", "--", branch)
    return _reason(done.stderr) if done.status else ""


def delete_there(git: Git, remote: str, branch: str, sha: str) -> str:
    """Delete a remote's branch if it is still at this commit; return why that failed, if it did."""
    address = git.must_have(remote).push_url
    lease = f"--force-with-lease=refs/heads/{branch}:{sha}"
    done = git.talk(address, "push", "--quiet", lease, "--", remote, f":refs/heads/{branch}")
    # GitHub may have been told to delete merged branches itself.
    is_gone = "remote ref does not exist" in done.stderr
    return _reason(done.stderr) if done.status and not is_gone else ""


def _reason(said: str) -> str:
    return masked(" ".join(said.split()))[:_LONGEST_REASON]
