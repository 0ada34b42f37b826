"""Branches and worktrees: making, fetching, pushing, comparing, leaving and deleting them."""

from collections.abc import Sequence

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import git_answers
from agent_sync.system.git import Git, refuse_odd_branch, seconds_of
from agent_sync.system.git_history import is_ahead
from agent_sync.system.git_refusals import push_failure, remote_failure
from agent_sync.system.masking import masked
from agent_sync.system.processes import FinishedProcess

# A claim waits for it; a remote that is slower is worked without.
FETCH_LIMIT = 20.0
_LONGEST_REASON = 200
_NO_MATCH = 2
# How git says that a branch or a directory is there, or that another worktree has the branch.
_TAKEN = ("already exists", "already checked out at", "already used by worktree", "cannot lock ref")
# The person's own git commands tidy the repository; nobody waits for that here.
_FETCH = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules")


@dataclass(frozen=True)
class Distance:
    """How many commits a branch has that its base does not have, and the other way round."""

    ahead: int
    behind: int

    def __str__(self) -> str:
        return f"{self.behind} behind, {self.ahead} ahead"


def fetch_heads(git: Git, remote: str, *patterns: str, limit_s: float = FETCH_LIMIT) -> str:
    """Bring branches of a remote up to date, each by name or as `name*`; return why it failed, if it did."""
    for pattern in patterns:
        refuse_odd_branch(pattern.removesuffix("*"))
    found = git.remote(remote)
    if found is None:
        return ""
    specs = (f"+refs/heads/{pattern}:refs/remotes/{remote}/{pattern}" for pattern in patterns)
    done = git.talk(found.url, *_FETCH, "--prune", "--", remote, *specs, timeout=limit_s)
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
    if local in {None, commit} or is_ahead(git, branch, commit):
        return True
    return commit in git.ask("log", "--walk-reflogs", "--format=%H", f"refs/heads/{branch}", "--").stdout.split()


def worktree_of(git: Git, branch: str) -> str:
    """Return the root of the worktree in which a branch is checked out; "" where it is in none."""
    only = git_answers.only_root(git.place) if git.place else None
    if only:
        return only if git.current_branch() == branch else ""
    return git.ask("for-each-ref", "--format=%(worktreepath)", f"refs/heads/{branch}").stdout.strip()


def set_upstream(git: Git, remote: str, branch: str) -> None:
    """Let a branch that has no upstream follow its copy on a remote, so that a plain `git push` and `git pull` work."""
    if git.ask("config", "--get", f"branch.{branch}.merge").stdout.strip():
        return
    # A configuration that cannot be written costs no more than this convenience.
    if git.remote_head_of(remote, branch):
        git.ask("branch", "--quiet", f"--set-upstream-to=refs/remotes/{remote}/{branch}", branch)
    else:
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


def fetch_branch(git: Git, remote: str, branch: str) -> str | None:
    """Bring what this clone knows of a remote's branch up to date; None where the remote has no such branch."""
    refuse_odd_branch(branch)
    git.must_have(remote)
    if not _has(git, remote, branch):
        return None
    done = _fetch(git, remote, branch)
    if done.status:
        raise git.failure(done, attempted=f"fetching branch {branch} from {remote}")
    return git.remote_head_of(remote, branch)


def try_to_fetch(git: Git, remote: str, branch: str) -> None:
    """Bring what this clone knows of a remote's branch up to date, where there is such a remote and it answers."""
    refuse_odd_branch(branch)
    if git.remote(remote):
        _fetch(git, remote, branch)


def committed_at(git: Git, sha: str) -> float:
    """Return when a commit was made, in seconds since the epoch; 0 where it does not say."""
    found = git.must(["show", "--no-patch", "--format=%ct", sha], attempted="reading a commit's time")
    return seconds_of(found.stdout)


def commit_times(git: Git, shas: Sequence[str]) -> dict[str, float]:
    """Return when some commits were made, in seconds since the epoch, from one process however many there are."""
    if not shas:
        return {}
    command = ("log", "--no-walk=unsorted", "--format=%H %ct", "--stdin")
    found = git.ask(*command, stdin="".join(f"{sha}\n" for sha in shas))
    if found.status:
        raise git.failure(found, attempted="reading the times of commits")
    return {line.partition(" ")[0]: seconds_of(line.partition(" ")[2]) for line in found.stdout.splitlines()}


def start_of(git: Git, branch: str, *refs: str) -> str | None:
    """Return what a new branch begins at: the first of some refs that is here; None if it is here itself."""
    refuse_odd_branch(branch)
    if git.head_of(branch):
        return None
    return next((ref for ref in refs if git.commit_at(ref)), "HEAD")


def check_out(git: Git, branch: str, start: str | None) -> None:
    """Switch to a branch, made at `start` if it is new; local changes come along or git refuses."""
    arguments = (
        ["switch", "--quiet", branch] if start is None else ["switch", "--quiet", "--no-track", "-c", branch, start]
    )
    git.must(arguments, attempted=f"switching to branch {branch}")


def add_worktree(git: Git, directory: str, branch: str, start: str | None) -> None:
    """Make a worktree for a branch, made at `start` if it is new."""
    new = [] if start is None else ["--no-track", "-b", branch]
    arguments = ["worktree", "add", "--quiet", *new, directory, branch if start is None else start]
    git.must(arguments, attempted=f"making a worktree in {directory}")


def forget_worktree(git: Git, directory: str) -> str:
    """Let git forget a worktree whose directory is gone; return why it does not, if it does not."""
    done = git.ask("worktree", "remove", "--force", "--", directory)
    return _reason(done.stderr) if done.status else ""


def is_taken(said: str) -> bool:
    """Tell from git's words whether a branch or directory was there already."""
    return any(words in said for words in _TAKEN)


def push(git: Git, remote: str, branch: str, sha: str) -> None:
    """Push one commit to a branch of a configured remote, fast-forward only."""
    said = try_to_push(git, remote, branch, sha)
    if said:
        raise push_failure(said, remote=remote, address=git.must_have(remote).push_url, branch=branch)


def try_to_push(git: Git, remote: str, branch: str, sha: str) -> str:
    """Push as `push` does; return what git said where that failed, else nothing."""
    refuse_odd_branch(branch)
    address = git.must_have(remote).push_url
    pushed = git.talk(address, "push", "--porcelain", "--", remote, f"{sha}:refs/heads/{branch}")
    return f"{pushed.stdout}\n{pushed.stderr}" if pushed.status else ""


def worktrees(git: Git) -> tuple[str, ...]:
    """Return the roots of all worktrees of the repository."""
    only = git_answers.only_root(git.place) if git.place else None
    if only:
        return (only,)
    found = git.must(["worktree", "list", "--porcelain", "-z"], attempted="listing the worktrees")
    prefix = "worktree "
    return tuple(line.removeprefix(prefix) for line in found.stdout.split("\0") if line.startswith(prefix))


def has_own_commits(git: Git, head: str, base: str) -> bool:
    """Tell whether a commit has others below it that a base does not have; of a base that is not here, yes."""
    counted = git.ask("rev-list", "--count", "--max-count=1", head, f"^{base}", "--").stdout.strip()
    return counted != "0"


def changes_nothing(git: Git, head: str, base: str) -> bool:
    """Tell whether a commit has the same files as where it left a base; of a base that is not here, no."""
    return git.ask("diff", "--quiet", f"{base}...{head}", "--").status == 0


def knows_committer(git: Git) -> bool:
    """Tell whether git knows who commits."""
    return git.ask("var", "GIT_COMMITTER_IDENT").status == 0


def version(git: Git) -> str:
    """Return what git says its version is."""
    return git.ask("version").stdout.strip().removeprefix("git version ")


def _fetch(git: Git, remote: str, branch: str) -> FinishedProcess:
    refspec = f"+refs/heads/{branch}:refs/remotes/{remote}/{branch}"
    return git.talk(git.remote_url(remote) or "", *_FETCH, "--", remote, refspec)


def _has(git: Git, remote: str, branch: str) -> bool:
    address = git.remote_url(remote) or ""
    found = git.talk(address, "ls-remote", "--exit-code", "--", remote, f"refs/heads/{branch}")
    if found.status not in {0, _NO_MATCH}:
        attempted = f"looking for branch {branch} on {remote}"
        raise remote_failure(found.stderr, remote=remote, address=address, attempted=attempted)
    return found.status == 0


def last_common(git: Git, ref: str) -> str:
    """Return the newest commit that HEAD and a ref share; empty where there is none."""
    found = git.ask("merge-base", "HEAD", ref)
    return "" if found.status else found.stdout.strip()


def configured(git: Git, pattern: str) -> str:
    """Return the entries of git's configuration whose names fit a pattern, each ended by a zero byte."""
    return git.ask("config", "-z", "--get-regexp", pattern).stdout


def add_remote(git: Git, name: str, address: str) -> str:
    """Add a remote; return why git would not."""
    return _refusal(git, "remote", "add", "--", name, address)


def note_remote(git: Git, name: str, note: tuple[str, str]) -> str:
    """Note a key and its value at a remote, in git's configuration; return why git would not."""
    key, value = note
    return _refusal(git, "config", f"remote.{name}.{key}", value)


def _refusal(git: Git, *words: str) -> str:
    done = git.ask(*words)
    return " ".join(done.stderr.split()) if done.status else ""
