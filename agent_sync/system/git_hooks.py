"""What git knows of hooks, its own kind: one function per question, for a `Git` of one worktree."""

from collections.abc import Mapping

from agent_sync.system.git import Git


def hooks_directory(git: Git) -> str:
    """Return where git looks for hooks, as it writes it: absolute, or below the root of the worktree."""
    return git.ask("rev-parse", "--git-path", "hooks").stdout.rstrip("\n")


def hooks_path_scope(git: Git) -> str:
    """Return in which of git's files core.hooksPath is set, as git calls it; "" where it is not."""
    return git.ask("config", "--show-scope", "--get", "core.hooksPath").stdout.partition("\t")[0].strip()


def run_hook(git: Git, name: str, variables: Mapping[str, str]) -> None:
    """Have git run a hook as it would by itself, with variables of the caller's."""
    git.ask("hook", "run", "--ignore-missing", name, variables=variables)
