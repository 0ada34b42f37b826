"""Finds the worktree a hook or command is about, with `os` alone, so that the quiet path can afford it."""

import os

CLAIM_NAME = ".agent-claim.json"
SETTINGS_NAME = ".agent-sync.toml"
STATE_NAME = "agentsync"
CLAUDE_SETTINGS = (os.path.join(".claude", "settings.json"), os.path.join(".claude", "settings.local.json"))
GATE_CONFIG = os.path.join(".gauntlet", "config.yml")


class Place:
    """One git worktree: its root, its own git directory and the one it shares with its siblings."""

    __slots__ = ("common_dir", "git_dir", "root")

    def __init__(self, root: str, git_dir: str, common_dir: str) -> None:
        self.root = root
        self.git_dir = git_dir
        self.common_dir = common_dir

    @property
    def claim_file(self) -> str:
        """Where the claim of this worktree is written."""
        return os.path.join(self.root, CLAIM_NAME)

    @property
    def settings_file(self) -> str:
        """Where this worktree's settings are read from."""
        return os.path.join(self.root, SETTINGS_NAME)

    @property
    def state_dir(self) -> str:
        """Where stamp, outbox and locks of this worktree live."""
        return os.path.join(self.git_dir, STATE_NAME)

    @property
    def shared_dir(self) -> str:
        """Where what all worktrees of the repository share lives."""
        return os.path.join(self.common_dir, STATE_NAME)


def trust_file(place: Place) -> str:
    """Return where a clone keeps what its user approved of what the repository's files ask for."""
    return os.path.join(place.shared_dir, "trust.json")


def user_settings_file(xdg_config_home: str, home: str) -> str:
    """Return where the user's own settings are, or "" where there is no home."""
    directory = xdg_config_home if os.path.isabs(xdg_config_home) else os.path.join(home, ".config") if home else ""
    return os.path.join(directory, "agent-sync", "config.toml") if directory else ""


def place_of(starts: list[str], project_dir: str) -> Place | None:
    """Return the first start's worktree that belongs to the project's repository.

    A submodule or a nested repository is not the project; without a project directory the first worktree wins.
    """
    project = worktree(project_dir) if project_dir else None
    for start in [*starts[:1], project_dir, *starts[1:]]:
        found = worktree(start) if start else None
        if found and (project is None or found.common_dir == project.common_dir):
            return found
    return None


def gate_root(start: str, top: str) -> str | None:
    """Return the nearest directory with gates from `start` up to the worktree's root; one root serves all else."""
    path = os.path.realpath(start) if start else top
    found = None
    while path.startswith(top + os.sep):
        if found is None and os.path.isfile(os.path.join(path, GATE_CONFIG)):
            found = path
        if os.path.lexists(os.path.join(path, ".git")):
            # Another repository lies inside this one: its gates are its own.
            found = None
        path = os.path.dirname(path)
    return found or (top if os.path.isfile(os.path.join(top, GATE_CONFIG)) else None)


def worktree(start: str) -> Place | None:
    """Return the worktree that holds `start`, found as git finds it: the nearest parent with a `.git`."""
    path = os.path.realpath(start)
    while True:
        git_dir = _git_dir(path)
        if git_dir:
            return Place(path, git_dir, _common_dir(git_dir))
        parent = os.path.dirname(path)
        if parent == path:
            return None
        path = parent


def _git_dir(root: str) -> str | None:
    """Return the git directory of `root`, through the `.git` file of a linked worktree or submodule."""
    dot_git = os.path.realpath(os.path.join(root, ".git"))
    if os.path.isfile(os.path.join(dot_git, "HEAD")):
        return dot_git
    pointer = _first_line(dot_git)
    if not pointer.startswith("gitdir: "):
        return None
    git_dir = os.path.realpath(os.path.join(root, pointer[len("gitdir: ") :]))
    return git_dir if os.path.isfile(os.path.join(git_dir, "HEAD")) else None


def _common_dir(git_dir: str) -> str:
    shared = _first_line(os.path.join(git_dir, "commondir"))
    return os.path.realpath(os.path.join(git_dir, shared)) if shared else git_dir


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline().rstrip("\n")
    except OSError:
        return ""
