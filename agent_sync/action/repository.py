"""Makes the place in which the Action works: an empty repository with a remote, and the project's settings file."""

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from agent_sync.action.inputs import Inputs
from agent_sync.clients import MARKS
from agent_sync.context import Context, context_at
from agent_sync.errors import GitFailed
from agent_sync.worktree import SETTINGS_NAME, worktree


@contextlib.contextmanager
def empty_repository(inputs: Inputs, environment: Mapping[str, str]) -> Iterator[Context]:
    """Yield the context of a repository that has no file but the settings, and is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="agent-sync-", dir=environment.get("RUNNER_TEMP") or None) as directory:
        root = Path(directory)
        _git(root, environment, "init", "--quiet", "--template=")
        _git(root, environment, "remote", "add", "origin", f"{inputs.address}.git")
        # As the default branch has them: what a pull request brings decides nothing here.
        settings = _context(root, environment).gateway.file_text(SETTINGS_NAME)
        if settings is not None:
            (root / SETTINGS_NAME).write_text(settings, encoding="utf-8")
        yield _context(root, environment)


def own_environment(inputs: Inputs, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what points git elsewhere; the runner itself says which server has the token."""
    # It is a person's schedule that frees claims, not an agent.
    left_out = {"GIT_DIR", "GIT_WORK_TREE", "GH_REPO", *MARKS}
    kept = {name: value for name, value in environment.items() if name not in left_out}
    return kept | {"AGENT_SYNC_GITHUB_URL": inputs.server, "GIT_TERMINAL_PROMPT": "0"}


def _context(root: Path, environment: Mapping[str, str]) -> Context:
    place = worktree(str(root))
    if place is None:
        raise GitFailed("Git made no repository.", attempted=f"making one in {root}")
    return context_at(place, environment, cwd=place.root)


def _git(root: Path, environment: Mapping[str, str], *arguments: str) -> None:
    done = subprocess.run(
        ["git", *arguments], cwd=root, env=dict(environment), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise GitFailed(f"git {arguments[0]} failed: {done.stderr.strip()[:300]}", attempted="preparing a repository")
