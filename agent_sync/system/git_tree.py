"""What git knows of trees, and how the work tree becomes one: one function per question."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from agent_sync.errors import GitFailed
from agent_sync.lazy_patterns import pattern
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
_SIZES = "--batch-check"
_DESCRIBED = pattern(r"[0-9a-f]{40,64} \w+ \d+")
# So many fit on a command line.
_MOST_NAMES = 500


def tree_of(git: Git, commit: str) -> str:
    """Return the tree of a commit that is named in full."""
    (name,) = object_names(git, [f"{commit}:"])
    if not name:
        raise GitFailed(f"there is no commit {commit}", attempted=_COMPARING)
    return name


def committed_tree(git: Git) -> str:
    """Return the tree of HEAD; nothing in an empty repository."""
    head = git.commit_at("HEAD")
    return tree_of(git, head) if head else ""


def empty_tree(git: Git) -> str:
    """Return the name of the tree that holds nothing, in this repository's kind of hash."""
    return _must(git, "hash-object", "-t", "tree", "/dev/null", attempted=_COMPARING)


def object_names(git: Git, expressions: Sequence[str]) -> tuple[str, ...]:
    """Return the names of objects that are named by commit and path; nothing for one that is not there."""
    if any("\n" in one for one in expressions):
        return tuple(_parsed(git, one) for one in expressions)
    lines = git.sizes(expressions).splitlines(keepends=True)
    for one, line in zip(expressions, lines, strict=True):
        # For whoever asks for this one alone.
        git.memory.objects(git.root, (_SIZES, one), partial(bytes, line))
    return tuple(_name_in(line.decode(errors="surrogateescape").rstrip("\n")) for line in lines)


def _name_in(line: str) -> str:
    """Return the name in a line of `cat-file --batch-check`, which says of what is missing that it is."""
    return line.partition(" ")[0] if _DESCRIBED.fullmatch(line) else ""


def _parsed(git: Git, expression: str) -> str:
    return git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", expression).stdout.strip()


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


def entries_before(git: Git, before: str, after: str) -> dict[str, tuple[str, str]]:
    """Return the files that differ between two trees: mode and content in the first, the mode 000000 where absent."""
    records = difference(git, before, after, "--raw", "-z", "--no-abbrev", below="", variables={}).split("\0")
    described = (record.removeprefix(":").split(" ") for record in records[:-1:2])
    return {path: (fields[0], fields[2]) for fields, path in zip(described, records[1::2], strict=True)}


def edited_below(git: Git, directory: str) -> frozenset[str]:
    """Return the files of HEAD below a directory that were edited or deleted here and not committed."""
    how = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "HEAD", "--", f":(top,literal){directory}")
    found = git.ask("-c", "core.fsmonitor=false", "diff", *how)
    return frozenset(name for name in found.stdout.split("\0") if name)


def tracked(git: Git, head: str) -> str:
    """List the files of the index and of HEAD: a letter for how git was told to look at it, a space, its name, NUL."""
    overlaid = (f"--with-tree={head}",) if head else ()
    return _must(git, "ls-files", "-v", "-z", *overlaid, attempted=_LOOKING, is_exact=True)


def contents_now(git: Git, names: Sequence[str]) -> tuple[str, ...]:
    """Return for files on disk the names that their contents would have in git; fewer where one cannot be read."""
    found: list[str] = []
    for start in range(0, len(names), _MOST_NAMES):
        found += git.ask("hash-object", "--", *names[start : start + _MOST_NAMES], timeout=SLOW_LIMIT).stdout.split()
    return tuple(found)


def status(git: Git, variables: Mapping[str, str]) -> str:
    """Return how HEAD, an index and the working directory differ, untracked files and submodules included."""
    how = ("--porcelain=v2", "-z", "--no-renames", "--ignore-submodules=none", "--untracked-files=all")
    asked = ("-c", "core.fsmonitor=false", "status", *how)
    return _must(git, *asked, attempted=_LOOKING, variables=variables, is_exact=True)


def watch_again(git: Git, names: Sequence[str], variables: Mapping[str, str]) -> None:
    """Let an index of ours look at files that git was told not to look at."""
    listed = "".join(f"{name}\0" for name in names)
    for flag in ("--no-assume-unchanged", "--no-skip-worktree"):
        git.ask(*_ALONE, "update-index", "-z", flag, "--stdin", variables=variables, stdin=listed)


def bring_up_to_date(git: Git, names: Sequence[str], variables: Mapping[str, str], *, with_contents: bool) -> bool:
    """Bring files of an index of ours to what lies on disk, without storing contents unless asked to.

    False where one of them is nothing that git could take; then the index is as it was.
    """
    listed = "".join(f"{name}\0" for name in names)
    how = ("--add", "--remove", "--replace", *(() if with_contents else ("--info-only",)))
    asked = ("update-index", "-z", *how, "--stdin")
    return git.ask(*_ALONE, *asked, variables=variables, stdin=listed, timeout=SLOW_LIMIT).status == 0


def add_all(git: Git, pathspecs: Sequence[str], variables: Mapping[str, str]) -> bool:
    """Bring an index of ours to what lies on disk; False where a file could not be read."""
    arguments = ("add", "-A", "--ignore-errors", "--", ".", *pathspecs)
    return git.ask(*_ALONE, *arguments, variables=variables, timeout=SLOW_LIMIT).status == 0


def write_tree(git: Git, variables: Mapping[str, str]) -> str:
    """Write an index of ours as a tree; contents need not be stored."""
    return _must(git, *_ALONE, "write-tree", "--missing-ok", attempted=_LOOKING, variables=variables)


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
