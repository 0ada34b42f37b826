"""What git knows of trees, and how the work tree becomes one: one function per question."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_sync.errors import GitFailed
from agent_sync.system.git import Git

# Hashing a large working directory takes its time.
SLOW_LIMIT = 120.0
# Neither a file monitor nor a hook of the user may see, or write because of, what happens in an index of ours.
_ALONE = (
    "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "core.splitIndex=false",
    "-c", "core.hooksPath=/dev/null", "-c", "advice.addEmbeddedRepo=false", "-c", "gc.auto=0",
)  # fmt: skip
_COMPARING, _LOOKING = "comparing what changed", "looking at the working directory"
_KEEPING = "keeping what is not committed"


def tree_of(git: Git, name: str) -> str:
    """Return the tree of a commit."""
    return _must(git, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{tree}}", attempted=_COMPARING)


def committed_tree(git: Git) -> str:
    """Return the tree of HEAD; nothing in an empty repository."""
    head = git.commit_at("HEAD")
    return tree_of(git, head) if head else ""


def empty_tree(git: Git) -> str:
    """Return the name of the tree that holds nothing, in this repository's kind of hash."""
    return _must(git, "hash-object", "-t", "tree", "/dev/null", attempted=_COMPARING)


def has_tree(git: Git, tree: str, variables: Mapping[str, str]) -> bool:
    """Tell whether a tree is kept."""
    return git.ask("cat-file", "-e", f"{tree}^{{tree}}", variables=variables).status == 0


def difference(git: Git, before: str, after: str, *how: str, below: str, variables: Mapping[str, str]) -> str:
    """Return how two trees differ below a directory, told as `how` says."""
    if before == after:
        return ""
    # Renames stay pairs of a deletion and an addition: both places matter.
    fixed = ("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/")
    inside = (f"--relative={below}",) if below else ()
    arguments = ("-c", "core.quotePath=false", "diff-tree", "-r", *fixed, *inside, *how, before, after)
    return _must(git, *arguments, attempted=_COMPARING, variables=variables, is_exact=True)


def edited_below(git: Git, directory: str) -> frozenset[str]:
    """Return the files of HEAD below a directory that were edited or deleted here and not committed."""
    how = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "HEAD", "--", f":(top,literal){directory}")
    found = git.ask("-c", "core.fsmonitor=false", "diff", *how)
    return frozenset(name for name in found.stdout.split("\0") if name)


def unwatched(git: Git) -> tuple[tuple[str, bool], ...]:
    """List the files that git was told not to look at, each with whether it was told to leave it out of the tree."""
    listed = git.ask("ls-files", "-v", "-z", timeout=SLOW_LIMIT).stdout.split("\0")
    return tuple((entry[2:], entry[0] == "S") for entry in listed if entry[:1] == "S" or entry[:1].islower())


def is_dirty(git: Git, pathspecs: Sequence[str]) -> bool:
    """Tell whether the working directory differs from HEAD, untracked files and submodules included."""
    how = ("--porcelain", "-z", "--ignore-submodules=none", "--untracked-files=normal", "--", ".", *pathspecs)
    return bool(_must(git, "-c", "core.fsmonitor=false", "status", *how, attempted=_LOOKING))


def watch_again(git: Git, names: Sequence[str], variables: Mapping[str, str]) -> None:
    """Let an index of ours look at files that git was told not to look at."""
    listed = "".join(f"{name}\0" for name in names)
    for flag in ("--no-assume-unchanged", "--no-skip-worktree"):
        git.ask(*_ALONE, "update-index", "-z", flag, "--stdin", variables=variables, stdin=listed)


def add_all(git: Git, pathspecs: Sequence[str], variables: Mapping[str, str]) -> bool:
    """Bring an index of ours to what lies on disk; False where a file could not be read."""
    arguments = ("add", "-A", "--ignore-errors", "--", ".", *pathspecs)
    return git.ask(*_ALONE, *arguments, variables=variables, timeout=SLOW_LIMIT).status == 0


def has_clean_submodules(git: Git, pathspecs: Sequence[str], variables: Mapping[str, str]) -> bool:
    """Tell whether every submodule lies as an index of ours has it."""
    arguments = ("diff-files", "--quiet", "--ignore-submodules=none", "--", ".", *pathspecs)
    return git.ask(*_ALONE, *arguments, variables=variables, timeout=SLOW_LIMIT).status == 0


def write_tree(git: Git, variables: Mapping[str, str]) -> str:
    """Write an index of ours as a tree."""
    return _must(git, *_ALONE, "write-tree", attempted=_LOOKING, variables=variables)


def fast_forward(git: Git, to: str) -> bool:
    """Move the branch that is checked out forward; tell whether it could be."""
    return git.ask("merge", "--quiet", "--ff-only", to).status == 0


def move_branch(git: Git, branch: str, *, to: str, old: str) -> bool:
    """Move a branch that is not checked out, if it still is what it was; tell whether it could be."""
    return git.ask("update-ref", f"refs/heads/{branch}", to, old).status == 0


def tracks_below(git: Git, path: str) -> bool:
    """Tell whether the index has a file at a path or below it."""
    return bool(git.ask("ls-files", "--", path).stdout)


def tree_of_files(git: Git, index: Path, *, but: str) -> str:
    """Store all files of the worktree as a tree, untracked ones included, `but` a pattern; index and files stay."""
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory(prefix="agent-sync-") as directory:
        copy = Path(directory) / "index"
        if index.exists():
            # With its time: git tells by it which entries may have changed unseen since.
            shutil.copy2(index, copy)
        variables = {"GIT_INDEX_FILE": str(copy)}
        _must(git, *_ALONE, "add", "-A", "--", ":/", but, attempted=_KEEPING, variables=variables)
        return _must(git, *_ALONE, "write-tree", attempted=_KEEPING, variables=variables)


def _must(
    git: Git, *arguments: str, attempted: str, variables: Mapping[str, str] | None = None, is_exact: bool = False
) -> str:
    done = git.ask(*arguments, variables=variables, timeout=SLOW_LIMIT)
    if done.status:
        reason = " ".join(done.stderr.split())[:300]
        raise GitFailed(f"git said: {reason or f'exit code {done.status}'}", attempted=attempted)
    return done.stdout if is_exact else done.stdout.strip()
