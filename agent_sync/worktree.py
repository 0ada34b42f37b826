"""Finds the worktree a hook or command is about, and names the files we keep for it; `os` alone, for the quiet path."""

import os

CLAIM_NAME = ".agent-claim.json"
SETTINGS_NAME = ".agent-sync.toml"
STATE_NAME = "agentsync"
CLAUDE_SETTINGS = (os.path.join(".claude", "settings.json"), os.path.join(".claude", "settings.local.json"))

# Files and folders in `<git-dir>/agentsync/`, by the room that owns them.
# quiet: stamps of hooks and the last input of quiet ones, each with the hook's name behind it
HOOK_STAMP = "quiet."
SPOOL = "spool."
# system: what git has answered and would answer again
GIT_ANSWERS = "git-answers.json"
# events
WATCHER_LOCK = "rewake.lock"
RENEWAL_TRIED = "renewal.tried"
# gates: stamps, the lock of a run, what was sent back and said, copies of definitions, snapshots, reviews
GATE_INTERVAL_STAMP = "gauntlet-quick"
GATE_PASSED_STAMP = "gauntlet-passed"
GATE_SETTINGS_STAMP = "gauntlet-settings"
GATE_LOCK = "gauntlet.lock"
GATE_BLOCKS = "gauntlet-blocks.json"
GATE_FAILURE = "gauntlet-failure.json"
GATE_TOLD = "gauntlet-told.json"
GATE_DEFINITIONS = "definitions"
GATE_SNAPSHOTS = "snapshots"
GATE_REVIEWS = "reviews"
# gates, shared by all worktrees
GATE_PASSES = "passes"
# task: what people wrote about the claimed issue
ISSUE_NOTE = "issue.json"
# task, record, work: watched by the quiet path
OUTBOX_FILE = "outbox.json"
RECORD_POINTER = "record"
# Says how the task has ended while its record could not be written.
RECORD_ENDING = "record-ending"
WORKER_FILE = "worker.json"

# In the worktree, and in the log directory of the gates.
GATE_DIR = ".gauntlet"
GATE_CONFIG = os.path.join(GATE_DIR, "config.yml")
GATE_LOG_DIR = "gauntlet_logs"
GATE_STATE = ".execution_state"
GATE_RUN_LOCK = ".gauntlet-run.lock"

# Leases and work: in the state directory of a worktree …
WORKTREE_ID = "worktree-id"
FORGE_INDEX = "forge.json"
FORGE_LOCK = "forge.lock"
# … and in the one that its siblings share.
LEASE_INTENTS = "intents"
LEASE_LOCK = "lease.lock"
RENEWAL_LOCK = "renewal.lock"
# Which issues are being claimed from this clone, and for which worktrees that are not made yet.
CLAIMING_LOCK = "claiming.lock"
NEW_WORKTREES = "new-worktrees"
REFUSING_REMOTES = "refusals.json"
FUTURE_LEASES = "sightings.json"
# Behind it: of which refs, those of the remote or of this clone.
ENDED_CLAIMS = "ended-claims."
# task, shared by all worktrees: what a look at the pull requests of several of them has found
SHARED_LOOKS = "looks.json"
SHARED_LOOKS_LOCK = "looks.lock"
# Shared by all worktrees: for each session the worktrees in which it has claimed something.
SESSION_NOTES = "sessions"
SESSION_NOTES_LOCK = "sessions.lock"
# fleet, shared by all worktrees: what a person was told of, and when
FLEET_TOLD = "fleet-told.json"
FLEET_TOLD_LOCK = "fleet-told.lock"

_LONGEST_ID = 100
MOST_PLACES = 20
_LARGEST_NOTE = 1 << 16

# The recovery record: its home below the user's.
ATLAS_HOME = ".atlas"


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


def hook_stamp(place: Place, hook: str) -> str:
    """Return where the stamp of one hook command is."""
    return os.path.join(place.state_dir, HOOK_STAMP + hook)


def spool_file(place: Place, hook: str) -> str:
    """Return where the last input of a hook is that had nothing else to do."""
    return os.path.join(place.state_dir, SPOOL + hook)


def session_note(place: Place, session: str) -> str:
    """Return where the worktrees are noted in which a session works; "" for what is no session's id."""
    is_name = 0 < len(session) <= _LONGEST_ID and session.replace("-", "").isalnum() and session.isascii()
    return os.path.join(place.shared_dir, SESSION_NOTES, session) if is_name else ""


def record_pointer(place: Place) -> str:
    """Return where this worktree notes which recovery record is its own."""
    return os.path.join(place.state_dir, RECORD_POINTER)


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


def other_places(where: Place, session: str) -> list[Place]:
    """Return the other worktrees of this clone in which the session has claimed something that it still holds."""
    found = (worktree(root) for root in noted_roots(where, session))
    return [
        place
        for place in found
        if place
        and place.common_dir == where.common_dir
        and place.root != where.root
        and os.path.lexists(place.claim_file)
    ]


def claimed_roots(where: Place) -> list[str]:
    """Return the worktrees of a clone that have a claim file, without asking git; none where it has but one."""
    folder = os.path.join(where.common_dir, "worktrees")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    pointers = [
        os.path.realpath(os.path.join(folder, name, _first_line(os.path.join(folder, name, "gitdir"))))
        for name in names
    ]
    roots = [os.path.dirname(pointer) for pointer in [where.common_dir, *pointers]]
    return [root for root in roots if os.path.lexists(os.path.join(root, CLAIM_NAME))]


def noted_roots(where: Place, session: str) -> list[str]:
    """Return the worktrees that are noted for a session."""
    path = session_note(where, session)
    if not path:
        return []
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(_LARGEST_NOTE).splitlines()[:MOST_PLACES]
    except OSError:
        return []


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
