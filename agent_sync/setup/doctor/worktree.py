"""Checks of this repository on disk: worktrees, claim, ignore lines, settings."""

from pathlib import Path

from agent_sync.errors import AgentSyncError
from agent_sync.settings import LoadedSettings
from agent_sync.settings.approvals import held_back_line, printable
from agent_sync.settings.sources import named_in_checkout
from agent_sync.setup.doctor.result import Result, fail, ok, warn
from agent_sync.system import git_branches
from agent_sync.system.git import Git
from agent_sync.task.claim.store import ClaimStore
from agent_sync.task.decision.outside_text import one_line
from agent_sync.worktree import CLAIM_NAME, SETTINGS_NAME, Place


def check_worktrees(git: Git) -> Result:
    """Check that every worktree git knows is there."""
    try:
        roots = git_branches.worktrees(git)
    except AgentSyncError as error:
        return fail("worktrees", error.happened, error.helps or "git worktree list")
    gone = [root for root in roots if not Path(root).is_dir()]
    if gone:
        says = f"{len(gone)} of {len(roots)} are gone: {one_line(', '.join(gone))}"
        return warn("worktrees", says, "git worktree prune")
    holding = sum(1 for root in roots if (Path(root) / CLAIM_NAME).is_file())
    return ok("worktrees", f"{len(roots)}, of which {holding} hold a claim")


def check_claim(place: Place, git: Git) -> Result:
    """Check that the claim file, if there is one, can be used."""
    try:
        claim = ClaimStore(place, lambda: git.tracks(CLAIM_NAME)).read()
    except AgentSyncError as error:
        return fail("claim file", error.happened, error.helps)
    if claim is None:
        return ok("claim file", "none is held here")
    return ok("claim file", f"issue #{claim.issue_number}, phase {claim.phase}")


def check_ignored(git: Git) -> Result:
    """Check that the claim can get into no commit."""
    try:
        is_ignored = git.is_ignored(CLAIM_NAME)
    except AgentSyncError as error:
        return fail("ignored", error.happened, error.helps)
    if not is_ignored and not Path(git.root, CLAIM_NAME).exists() and not git.tracks(CLAIM_NAME):
        return ok("ignored", f"{CLAIM_NAME} is not there; a claim keeps it out of commits")
    if not is_ignored:
        says = f"{CLAIM_NAME} is tracked or not ignored by git, so a commit may take it along"
        return fail("ignored", says, f"agent-sync init, and if it is tracked: git rm {CLAIM_NAME}")
    return ok("ignored", f"git ignores {CLAIM_NAME}")


def check_settings(place: Place, loaded: LoadedSettings | AgentSyncError) -> Result:
    """Check that the settings could be read and every one is known; an error says what kept them from being read."""
    if isinstance(loaded, AgentSyncError):
        return fail("settings", loaded.happened, f"correct {SETTINGS_NAME} or the variable")
    if loaded.unknown:
        return fail("settings", " ".join(one.text for one in loaded.unknown), "correct or remove what is named")
    if not Path(place.settings_file).is_file():
        return warn("settings", f"there is no {SETTINGS_NAME}; the defaults and AGENT_SYNC_* count", "agent-sync init")
    return ok("settings", f"{SETTINGS_NAME} can be read")


def check_trust(place: Place, loaded: LoadedSettings) -> Result:
    """Check whether the repository's files ask for something that the user has not approved."""
    if loaded.held_back:
        return warn("trust", held_back_line(loaded.held_back), "agent-sync trust --show, then agent-sync trust")
    named = named_in_checkout((place.root, str(Path(place.common_dir).parent)))
    approved = {one.variable for one in loaded.approved}
    exported = {printable(name): file for name, file in named.items() if name not in approved}
    if exported:
        where = " and ".join(dict.fromkeys(exported.values()))
        says = f"{where} exports {', '.join(exported)}, which only you may set: agent-sync ignores it"
        return warn("trust", says, f"remove it from `env` in {where}")
    if loaded.approved:
        keys = ", ".join(dict.fromkeys(printable(one.key) for one in loaded.approved))
        return ok("trust", f"you approved {keys} for this clone")
    return ok("trust", "this repository's files ask for nothing that only you may decide")
