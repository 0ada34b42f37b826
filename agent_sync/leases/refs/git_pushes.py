"""Pushes refs of ours, each from exactly what it was, and reads from git's table what became of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_sync.errors import GitFailed
from agent_sync.leases.refs.values import BranchHead, Pushed, PushResult, RefUpdate
from agent_sync.system.git import NETWORK_LIMIT, Git, refuse_odd_branch
from agent_sync.system.git_refusals import is_server_failure, one_line, push_rule
from agent_sync.system.processes import FinishedProcess

_DIED = 128
_PACKING = b'"pack-objects"'
_MOVED = frozenset("*+ -")
_REFUSED = "!"
# The user's own pre-push hook watches over code; a lease alone is none of its business.
_REFS_ALONE = ("--no-verify", "--no-follow-tags", "--recurse-submodules=no")


def push(  # noqa: PLR0913  # one push has as many sides
    git: Git,
    address: str,
    updates: Sequence[RefUpdate],
    branch: BranchHead | None = None,
    *,
    url: str = "",
    limit_s: float = NETWORK_LIMIT,
    noted: Mapping[str, str] | None = None,
) -> Pushed:
    """Move all refs, and a branch forward, in one push: either all of them move or none.

    Where git knows the address as a remote's name it also moves the refs `noted` here for those there.
    """
    specs = []
    if branch:
        refuse_odd_branch(branch.name)
        specs = [f"{branch.sha}:refs/heads/{branch.name}"]
    options = ["--atomic", *([] if branch else _REFS_ALONE)]
    try:
        done, was_sent = _push(
            git, address, updates, options, specs, noted=noted or {}, url=url or address, limit_s=limit_s
        )
    except GitFailed as error:
        return Pushed(PushResult.SILENT, str(error))
    return Pushed(_push_result(done, {update.ref for update in updates}), git_message(done), was_sent=was_sent)


def push_each(  # noqa: PLR0913  # one push has as many sides
    git: Git, address: str, updates: Sequence[RefUpdate], *, url: str, limit_s: float, noted: Mapping[str, str]
) -> tuple[Pushed, ...]:
    """Move every ref that still is what it was, in one push; return how each of them ended."""
    try:
        done, was_sent = _push(git, address, updates, _REFS_ALONE, (), noted=noted, url=url, limit_s=limit_s)
    except GitFailed as error:
        return tuple(Pushed(PushResult.SILENT, str(error)) for _ in updates)
    return tuple(
        Pushed(_ref_result(done, update.ref), git_message(done, update.ref), was_sent=was_sent) for update in updates
    )


def _push(  # noqa: PLR0913  # one push has as many sides
    git: Git,
    address: str,
    updates: Sequence[RefUpdate],
    options: Sequence[str],
    specs: Sequence[str],
    *,
    noted: Mapping[str, str],
    url: str,
    limit_s: float,
) -> tuple[FinishedProcess, bool]:
    """Push refs from what they were, and further refspecs; return how git ended, and whether it asked for a change."""
    import tempfile

    lead = [word for ref, here in noted.items() for word in ("-c", f"remote.{address}.fetch=+{ref}:{here}")]
    leases = [f"--force-with-lease={update.ref}:{update.old}" for update in updates]
    wanted = [*(f"{update.new}:{update.ref}" for update in updates), *specs]
    command = [*lead, "push", "--porcelain", "--no-signed", *options, *leases, "--", address, *wanted]
    with tempfile.TemporaryDirectory(prefix="agent-sync-") as directory:
        # Git's own account of its steps; a trace of what it is told would hold every ref of the repository.
        steps = Path(directory) / "steps"
        traced = {"GIT_TRACE2_EVENT": str(steps), "GIT_TRACE2_EVENT_BRIEF": "1"}
        done = git.talk(url, *command, variables=traced, timeout=limit_s)
        # Git dies of a connection in the same way before and after it has asked for the change.
        return done, done.status != _DIED or _is_sent(steps, updates)


def push_trouble(git: Git, address: str, ref: str, *, url: str, limit_s: float) -> str:
    """Return what stands against a push of a ref, asked without pushing anything; empty where nothing does."""
    command = ["push", "--dry-run", "--no-verify", "--porcelain", "--no-signed", "--", address, f"HEAD:{ref}"]
    try:
        done = git.talk(url, *command, timeout=limit_s)
    except GitFailed as error:
        return str(error)
    return (git_message(done) or f"git push ended with {done.status}") if done.status else ""


def _is_sent(steps: Path, updates: Sequence[RefUpdate]) -> bool:
    """Tell from git's account of a push whether it may have asked for a change.

    No ref moves before its objects have arrived, and they are packed after all was asked; a deletion needs none.
    """
    return not all(update.new for update in updates) or (steps.exists() and _PACKING in steps.read_bytes())


def _push_result(done: FinishedProcess, refs: set[str]) -> PushResult:
    """Read git's table; "up to date" says that nothing was done and therefore never counts."""
    flags = _flags(done)
    found = {flags.get(ref, "") for ref in refs}
    if done.status == 0 and found <= _MOVED:
        return PushResult.LANDED
    if is_server_failure(done.stdout):
        return PushResult.SILENT
    # Over HTTP git may name only the one ref for which it gave all of them up; a rule may refuse a push as a whole.
    is_refused = _REFUSED in flags.values() or push_rule(done.stderr) is not None
    return PushResult.REJECTED if is_refused else PushResult.SILENT


def _ref_result(done: FinishedProcess, ref: str) -> PushResult:
    """Read what git's table says of one ref; others may have ended otherwise."""
    flag = _flags(done).get(ref, "")
    if done.status != _DIED and flag in _MOVED:
        return PushResult.LANDED
    is_refused = flag == _REFUSED or push_rule(done.stderr) is not None
    return PushResult.REJECTED if is_refused and not is_server_failure(done.stdout) else PushResult.SILENT


def _flags(done: FinishedProcess) -> dict[str, str]:
    """Return the flag of every ref in git's table."""
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return {row[1].rpartition(":")[2]: row[0] for row in rows if len(row) > 1}


def git_message(done: FinishedProcess, ref: str = "") -> str:
    """Return what git said, of all refs or of one, in one line without secrets, and what the server said in full."""
    lines = [line for line in done.stdout.splitlines() if line.startswith(_REFUSED) and f"{ref}\t" in line]
    return one_line("\n".join([*lines, done.stderr]))
