"""Checks of this machine: which agent-sync the hooks find, what it does there, and git."""

import re
import shutil
from collections.abc import Mapping

from agent_sync import __version__
from agent_sync.errors import AgentSyncError
from agent_sync.quiet.answer import NESTED
from agent_sync.setup.doctor.result import Result, fail, ok, skip, warn
from agent_sync.setup.install.entries import command
from agent_sync.system import git_branches
from agent_sync.system.git import OLDEST, Git
from agent_sync.system.processes import FinishedProcess, Processes

INSTALL = "uv tool install agent-sync-github, or pipx install agent-sync-github"
LIMIT_S = 30.0


def check_command(environment: Mapping[str, str], processes: Processes, *, directory: str) -> Result:
    """Check which agent-sync a hook would find, and that it is this version."""
    found = shutil.which("agent-sync", path=environment.get("PATH"))
    if found is None:
        return fail("command", "agent-sync is not on PATH, so the hooks do nothing", INSTALL)
    asked = _run([found, "--version"], environment, processes, directory)
    version = asked.stdout.rpartition(" ")[2].strip() if asked else "of unknown version"
    if version != __version__:
        return warn("command", f"{found} is {version}; this is {__version__}", INSTALL)
    return ok("command", f"{found} ({version})")


def check_effect(environment: Mapping[str, str], processes: Processes, *, directory: str) -> Result:
    """Check that the shell line of the Stop hook runs; marked as nested, it touches nothing."""
    if shutil.which("agent-sync", path=environment.get("PATH")) is None:
        return skip("hook effect", "not tried, because agent-sync is not on PATH")
    if shutil.which("sh", path=environment.get("PATH")) is None:
        return skip("hook effect", "not tried, because sh is not on PATH")
    asked = _run(["sh", "-c", command("on-stop")], {**environment, NESTED[0]: "1"}, processes, directory)
    if asked is None or asked.status:
        seen = "does not end" if asked is None else f"exits {asked.status}: {asked.stderr.strip()[-200:]}"
        return fail("hook effect", f"`agent-sync on-stop` {seen}", "echo '{}' | agent-sync on-stop")
    return ok("hook effect", "`agent-sync on-stop` runs and exits 0")


def check_git(git: Git) -> Result:
    """Check that git is there and new enough."""
    wanted = ".".join(str(number) for number in OLDEST)
    try:
        version = git_branches.version(git)
    except AgentSyncError as error:
        return fail("git", error.happened, error.helps)
    found = tuple(int(number) for number in re.findall(r"\d+", version)[:2])
    if found < OLDEST:
        return fail("git", f"git {version} is older than {wanted}", f"install git {wanted} or newer")
    return ok("git", f"git {version}")


def check_gh(environment: Mapping[str, str]) -> Result:
    """Tell whether gh is there, which some suggestions need."""
    if shutil.which("gh", path=environment.get("PATH")):
        return ok("gh", "gh is installed")
    return ok("gh", "gh is not installed: use the links of suggestions that begin with `gh`, or install it")


def check_identity(git: Git) -> Result:
    """Check that git knows who commits."""
    try:
        is_known = git_branches.knows_committer(git)
    except AgentSyncError:
        return skip("git identity", "not known, because git does not run")
    if is_known:
        return ok("git identity", "git knows who commits")
    fix = 'git config --global user.name "YOUR NAME", and user.email'
    return fail("git identity", "git does not know who commits, so no commit can be made", fix)


def _run(
    arguments: list[str], environment: Mapping[str, str], processes: Processes, directory: str
) -> FinishedProcess | None:
    try:
        return processes.run(arguments, directory=directory, environment=environment, stdin="{}", timeout=LIMIT_S)
    except (OSError, TimeoutError):
        return None
