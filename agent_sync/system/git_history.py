"""What git knows of commits, refs, the files in them and what is not committed: one function per question."""

from collections.abc import Iterable, Iterator, Sequence

from agent_sync.errors import GitFailed
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.system import git_answers
from agent_sync.system.git import Git
from agent_sync.system.git_answers import NotLoose
from agent_sync.worktree import CLAIM_NAME

# Whatever the user has set for `git log`, these are its lines and nothing else.
_LOG = ("log", "--no-show-signature", "--encoding=UTF-8", "--format=%H %ct %s")
_LOG_LINE = pattern(r"([0-9a-f]{40,64}) (\d+) (.*)")
_COMMIT = pattern(r"[0-9a-f]{40,64}")
# Our own files are not the work: the claim with its temporary copies, and the view of the work hooks.
_OWN_FILES_APART = ("--", ".", f":(exclude,top){CLAIM_NAME}*", ":(exclude,top).forge")
# How many fields stand before the path in each kind of line of `status --porcelain=v2`.
_FIELDS = {"1": 8, "2": 9, "u": 10, "?": 1}
_RENAMED = "2"
_MOST_COMMITS = 50
# Where GitHub looks for a template of pull requests, in its order.
_TEMPLATE_FOLDERS = (".github/", "", "docs/")
_TEMPLATE = "pull_request_template"
_TEMPLATES = frozenset({f"{_TEMPLATE}.md", f"{_TEMPLATE}.txt", _TEMPLATE})
_LONGEST_TEMPLATE = 30_000
# How git lists what is a commit of another repository.
_LINK = "160000 "


@dataclass(frozen=True)
class Commit:
    """One commit: when it was made, and its first line."""

    sha: str
    time: int
    subject: str


@dataclass(frozen=True)
class TreeStatus:
    """The working tree: its branch (empty on a detached HEAD), commit (empty before the first), and changed files."""

    branch: str
    head: str
    changed: tuple[str, ...]


@dataclass(frozen=True)
class TreeEntry:
    """One file of a commit: what kind it is and which object holds it."""

    mode: str
    object_name: str
    size: int


@dataclass(frozen=True)
class RefTarget:
    """Where a ref is: the commit, and which other ref it stands for."""

    commit: str
    symref: str = ""


@dataclass(frozen=True)
class RefMove:
    """One line of a reflog: the commit after it, and why."""

    commit: str
    reason: str


def head_commit(git: Git) -> str:
    """Return the commit that is checked out; empty before the first."""
    return git.commit_at("HEAD") or ""


def tree_of(git: Git, commit: str) -> str:
    """Return the tree of a commit; empty where there is no such commit."""
    try:
        if git.place and _COMMIT.fullmatch(commit):
            return git_answers.tree_of(git.place, commit)
    except NotLoose:
        pass
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{tree}}")
    return git.ask(*asked).stdout.strip() if commit else ""


def refs_of_branch(git: Git, branch: str) -> dict[str, str]:
    """Return the commits that a local branch and the remotes' branches of the same name are at, by ref."""
    if not branch:
        return {}
    patterns = (f"refs/heads/{branch}", f"refs/remotes/*/{branch}")
    on_disk = git.refs_named(patterns)
    if on_disk is not None:
        return on_disk
    lines = git.ask("for-each-ref", "--format=%(objectname) %(refname)", *patterns).stdout.splitlines()
    found = {ref: sha for sha, _, ref in (line.partition(" ") for line in lines)}
    return {ref: sha for ref, sha in found.items() if ref.endswith(f"/{branch}")}


def commits_by_sha(git: Git, shas: Iterable[str]) -> dict[str, Commit]:
    """Return those of these commits that are still there, in one question."""
    wanted = "".join(f"{sha}\n" for sha in shas)
    if not wanted:
        return {}
    arguments = ("--no-walk=unsorted", "--ignore-missing", "--stdin")
    return {commit.sha: commit for commit in _commits(git.ask(*_LOG, *arguments, stdin=wanted).stdout)}


def commits_between(git: Git, base: str, head: str, *, most: int) -> tuple[Commit, ...]:
    """Return the last commits on the way from one to another, oldest first, without those that a merge brought.

    Without a base these are all that lead to `head`; where the base is gone, only the end of the way is known.
    """
    question = (*_LOG, "--first-parent", f"--max-count={most}", head)
    found = git.ask(*question, f"^{base}", "--") if base else git.ask(*question, "--")
    if found.status:
        found = git.ask(*_LOG, "--max-count=1", head, "--")
    return tuple(reversed(tuple(_commits(found.stdout))))


def own_commits(git: Git, base: str, head: str) -> tuple[tuple[str, str], ...]:
    """Return the newest commits that a base does not have, oldest first: each with its first line."""
    found = commits_between(git, base, head, most=_MOST_COMMITS) if base else ()
    return tuple((commit.sha, commit.subject) for commit in found)


def pull_template(git: Git, commit: str) -> str:
    """Return the template for pull requests that a commit has; of several to choose from, none."""
    commit = commit_of(git, commit) or commit
    for folder in _TEMPLATE_FOLDERS:
        for path in sorted(_entries(git, commit, folder)):
            name = path.removeprefix(folder).lower()
            if name in _TEMPLATES and (found := file_in(git, commit, path)).strip():
                return found[:_LONGEST_TEMPLATE]
            inside = _entries(git, commit, f"{path}/") if name == _TEMPLATE else frozenset()
            if len(inside) == 1:
                return file_in(git, commit, next(iter(inside)))[:_LONGEST_TEMPLATE]
    return ""


def _entries(git: Git, commit: str, folder: str) -> frozenset[str]:
    """Return the paths directly in a folder of a commit."""
    listed = names_in(git, commit, [])
    if folder:
        listed = names_in(git, commit, [folder]) if folder.partition("/")[0] in listed else frozenset()
    return frozenset(path for path in listed if path.startswith(folder) and path not in {"", folder.rstrip("/")})


def tree_status(git: Git) -> TreeStatus:
    """Return how the working tree stands, untracked files included and our own apart."""
    arguments = ("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all")
    found = git.ask(*arguments, *_OWN_FILES_APART)
    if found.status:
        raise GitFailed(f"git said: {' '.join(found.stderr.split())[:300]}", attempted="looking at the working tree")
    lines = found.stdout.split("\0")
    branch, head = _header(lines, "# branch.head "), _header(lines, "# branch.oid ")
    changed = tuple(_changed_names(lines))
    return TreeStatus("" if branch == "(detached)" else branch, "" if head == "(initial)" else head, changed)


def files_committed_since(git: Git, base: str, head: str = "") -> tuple[str, ...]:
    """Return the files that commits up to `head` or HEAD have changed since `base`; one that is gone says nothing."""
    head = head or git.commit_at("HEAD") or "HEAD"
    if not _COMMIT.fullmatch(base) or base == head:
        return ()
    # Named in full, in words whose answer is remembered.
    arguments = ("diff-tree", "-r", "--name-only", "--no-renames", "-z", base, head)
    return tuple(name for name in git.ask(*arguments, *_OWN_FILES_APART).stdout.split("\0") if name)


def commit_of(git: Git, name: str) -> str | None:
    """Return the commit a name stands for."""
    if name == "HEAD" or name.startswith(("refs/heads/", "refs/remotes/")):
        return git.commit_at(name)
    return git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").stdout.strip() or None


def merge_base(git: Git, one: str, other: str) -> str | None:
    """Return the youngest commit both have; none in unrelated or cut-off histories."""
    return one if one == other else git.ask("merge-base", one, other).stdout.strip() or None


def is_ancestor(git: Git, old: str, new: str) -> bool:
    """Tell whether `new` contains `old`."""
    return git.ask("merge-base", "--is-ancestor", old, new).status == 0


def has_merged(git: Git, base: str, commit: str) -> bool:
    """Tell whether a base contains a commit that is named in full; where they part is often known already."""
    return bool(_COMMIT.fullmatch(commit)) and merge_base(git, base, commit) == commit


def is_ahead(git: Git, branch: str, commit: str | None) -> bool:
    """Tell whether a local branch has commits on top of a commit; one that is not here cannot be below it."""
    local = git.head_of(branch) if commit else None
    if commit is None or local is None or local == commit:
        return False
    return git.ask("merge-base", "--is-ancestor", commit, local).status == 0


def has_commits_beyond(git: Git, head: str, base: str) -> bool:
    """Tell whether a commit's history has any that another's does not have."""
    counted = git.ask("rev-list", "--count", "--max-count=1", head, f"^{base}", "--").stdout.strip()
    return counted not in {"", "0"}


def file_in(git: Git, commit: str, path: str) -> str:
    """Return what a file of a commit holds; nothing where there is no such file."""
    # First whether it is there: the answer is remembered, a refusal is not.
    return git.ask("cat-file", "blob", f"{commit}:{path}").stdout if path in names_in(git, commit, [path]) else ""


def files_in(git: Git, commit: str, paths: Sequence[str]) -> dict[str, TreeEntry]:
    """Return the files of a commit at or below some paths, by path from the repository's top."""
    found: dict[str, TreeEntry] = {}
    listed = git.ask("ls-tree", "-r", "-z", "-l", "--full-tree", commit, "--", *paths).stdout
    for line in listed.split("\0"):
        described, tab, path = line.partition("\t")
        if tab:
            mode, _, object_name, size = described.split()
            found[path] = TreeEntry(mode, object_name, int(size) if size.isdigit() else 0)
    return found


def names_in(git: Git, commit: str, paths: Sequence[str]) -> frozenset[str]:
    """Return which of these paths a commit has."""
    listed = git.ask("ls-tree", "-z", "--name-only", "--full-tree", commit, "--", *paths)
    return frozenset(listed.stdout.split("\0"))


def links_in(git: Git, commit: str) -> frozenset[str]:
    """Return the paths of which a commit notes a commit only: submodules and other repositories within."""
    listed = git.ask("ls-tree", "-r", "-z", commit).stdout.split("\0")
    return frozenset(entry.partition("\t")[2] for entry in listed if entry.startswith(_LINK))


def refs(git: Git, *patterns: str) -> dict[str, RefTarget]:
    """Return refs by their full names."""
    on_disk = git.refs_named(patterns)
    if on_disk is not None:
        return {name: RefTarget(commit, git.target_of(name) or "") for name, commit in on_disk.items()}
    listed = git.ask("for-each-ref", "--format=%(refname)%00%(objectname)%00%(symref)", *patterns).stdout
    rows = (line.split("\0") for line in listed.splitlines())
    return {name: RefTarget(commit, symref) for name, commit, symref in rows}


def refs_containing(git: Git, commit: str, below: str) -> tuple[str, ...]:
    """Return the refs below a prefix whose history has a commit."""
    return tuple(git.ask("for-each-ref", f"--contains={commit}", "--format=%(refname)", below).stdout.splitlines())


def default_ref(git: Git) -> str:
    """Return the default branch of origin as people write it; nothing where this clone has not been told."""
    return git.ask("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD").stdout.strip()


def reflog(git: Git, ref: str) -> tuple[RefMove, ...]:
    """Return the changes of a ref, the newest first."""
    lines = git.ask("reflog", "show", "--format=%H %gs", ref).stdout.splitlines()
    return tuple(RefMove(commit, reason) for commit, _, reason in (line.partition(" ") for line in lines))


def last_change(git: Git, ref: str) -> RefMove | None:
    """Return the newest change of a ref; None where it has no reflog."""
    found = git.last_change(ref)
    return RefMove(*found) if found else None


def _commits(output: str) -> Iterator[Commit]:
    for line in output.split("\n"):
        found = _LOG_LINE.fullmatch(line)
        if found:
            yield Commit(found[1], int(found[2]), found[3])


def _header(lines: list[str], title: str) -> str:
    return next((line.removeprefix(title) for line in lines if line.startswith(title)), "")


def _changed_names(lines: list[str]) -> Iterator[str]:
    """Yield every path; a renamed file is followed by a line of its own with the name it had."""
    rest = iter(lines)
    for line in rest:
        fields = _FIELDS.get(line[:1])
        if fields is None or line[1:2] != " ":
            continue
        yield line.split(" ", fields)[fields]
        if line.startswith(_RENAMED):
            yield next(rest, "")


def diffstat(git: Git, base: str) -> str:
    """Return which files this branch changes since it left its base, and how much; empty where that is unknown."""
    done = git.ask("diff", "--stat=100", f"{base}...HEAD", "--")
    return "" if done.status else done.stdout
