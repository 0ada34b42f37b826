"""One function per question or order to git; no name from outside can become an option of it."""

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence

from agent_sync.errors import BadInput, GitFailed
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system.git_refusals import is_sign_in_trouble, no_remote, push_failure, remote_failure
from agent_sync.system.masking import masked
from agent_sync.system.processes import FinishedProcess, Processes

# Variables of a surrounding git hook would point every call at another repository or index.
_MISLEADING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_COMMON_DIR")
_ASKED = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
_BRANCH = re.compile(r"[^\x00-\x20~^:?*\[\\\x7f]+")
# `worktree list -z` came with it.
OLDEST = (2, 36)
LOCAL_LIMIT = 30.0
NETWORK_LIMIT = 120.0
_NO_MATCH = 2
_LONGEST_TIME = 12
LONGEST_BRANCH = 1000


@dataclass(frozen=True)
class Remote:
    """A configured remote: its name, and where git fetches from and pushes to."""

    name: str
    url: str
    push_url: str
    # Whether git may be told its name; one that pushes elsewhere is told by its address.
    has_name: bool = True

    @property
    def address(self) -> str:
        """What git is told to talk to where the same refs are read and written."""
        # By its name git knows more about a remote, but what is pushed must be what is read.
        return self.name if self.has_name and self.url == self.push_url else self.push_url


@dataclass(frozen=True)
class Git:
    """The git of one worktree."""

    root: str
    processes: Processes
    environment: Mapping[str, str]
    # Variables by which git signs in at an address, for the one command that needs them; empty where there are none.
    credentials: Callable[[str], Mapping[str, str]] = lambda _address: {}

    def head_of(self, branch: str) -> str | None:
        """Return the commit a local branch is at."""
        found = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"refs/heads/{branch}^{{commit}}")
        return found.stdout.strip() or None

    def remote_head_of(self, remote: str, branch: str) -> str | None:
        """Return the commit a remote's branch was at when this clone last looked."""
        tracking = f"refs/remotes/{remote}/{branch}^{{commit}}"
        return self._run("rev-parse", "--verify", "--quiet", "--end-of-options", tracking).stdout.strip() or None

    def is_ahead(self, branch: str, commit: str | None) -> bool:
        """Tell whether a local branch has commits on top of a commit; one that is not here cannot be below it."""
        local = self.head_of(branch) if commit else None
        if commit is None or local is None or local == commit:
            return False
        return self._run("merge-base", "--is-ancestor", commit, local).status == 0

    def has_own_commits(self, head: str, base: str) -> bool:
        """Tell whether a commit has others below it that a base does not have; of a base that is not here, yes."""
        counted = self._run("rev-list", "--count", "--max-count=1", head, f"^{base}", "--").stdout.strip()
        return counted != "0"

    def current_branch(self) -> str | None:
        """Return the branch that is checked out; None on a detached HEAD."""
        return self._run("symbolic-ref", "--quiet", "--short", "HEAD").stdout.strip() or None

    def default_branch(self, remote: str) -> str | None:
        """Return the remote's default branch, as far as this clone has been told."""
        prefix = f"refs/remotes/{remote}/"
        found = self._run("symbolic-ref", "--quiet", f"{prefix}HEAD").stdout.strip()
        return found.removeprefix(prefix) or None

    def remote_url(self, remote: str) -> str | None:
        """Return where a configured remote is, as git itself would use it."""
        return self._configured("remote", "get-url", "--", remote)

    def remote(self, name: str) -> Remote | None:
        """Return a remote that is configured in this clone, or None.

        To be asked before every use of a name: git takes one that is not configured for a folder or an address.
        """
        url = self.remote_url(name)
        push_url = self._configured("remote", "get-url", "--push", "--", name) if url else None
        return Remote(name, url, push_url) if url and push_url else None

    def remotes(self) -> tuple[str, ...]:
        """Return the names of all remotes."""
        return tuple(self._run("remote").stdout.split())

    def must_have(self, name: str) -> Remote:
        """Return a remote that is configured in this clone, or stop."""
        found = self.remote(name)
        if found is None:
            raise no_remote(name, self.remotes())
        return found

    def push(self, remote: str, branch: str, sha: str) -> None:
        """Push one commit to a branch of a configured remote, fast-forward only."""
        refuse_odd_branch(branch)
        address = self.must_have(remote).push_url
        refspec = f"{sha}:refs/heads/{branch}"
        pushed = self.talk(address, "push", "--porcelain", "--", remote, refspec)
        if pushed.status:
            said = f"{pushed.stdout}\n{pushed.stderr}"
            raise push_failure(said, remote=remote, address=address, branch=branch)

    def fetch_branch(self, remote: str, branch: str) -> str | None:
        """Bring what this clone knows of a remote's branch up to date; None where the remote has no such branch."""
        refuse_odd_branch(branch)
        self.must_have(remote)
        if not self._has(remote, branch):
            return None
        done = self._fetch(remote, branch)
        if done.status:
            raise self._failure(done, attempted=f"fetching branch {branch} from {remote}")
        return self.remote_head_of(remote, branch)

    def talk(
        self, address: str, *words: str, variables: Mapping[str, str] | None = None, timeout: float = NETWORK_LIMIT
    ) -> FinishedProcess:
        """Run git where it speaks to a remote; with the token where git has no credentials of its own."""
        done = self._run(*words, variables=variables, timeout=timeout)
        if done.status and is_sign_in_trouble(done.stderr):
            signed_in = self.credentials(address)
            if signed_in:
                return self._run(*words, variables={**(variables or {}), **signed_in}, timeout=timeout)
        return done

    def try_to_fetch(self, remote: str, branch: str) -> None:
        """Bring what this clone knows of a remote's branch up to date, where there is such a remote and it answers."""
        refuse_odd_branch(branch)
        if self.remote(remote):
            self._fetch(remote, branch)

    def committed_at(self, sha: str) -> float:
        """Return when a commit was made, in seconds since the epoch; 0 where it does not say."""
        found = self._must(["show", "--no-patch", "--format=%ct", sha], attempted="reading a commit's time")
        return seconds_of(found.stdout)

    def start_of(self, branch: str, *refs: str) -> str | None:
        """Return what a new branch begins at: the first of some refs that is here; None if it is here itself."""
        refuse_odd_branch(branch)
        if self.head_of(branch):
            return None
        for ref in refs:
            if self._run("rev-parse", "--verify", "--quiet", "--end-of-options", ref).stdout.strip():
                return ref
        return "HEAD"

    def check_out(self, branch: str, start: str | None) -> None:
        """Switch to a branch, made at `start` if it is new; local changes come along or git refuses."""
        arguments = (
            ["switch", "--quiet", branch] if start is None else ["switch", "--quiet", "--no-track", "-c", branch, start]
        )
        self._must(arguments, attempted=f"switching to branch {branch}")

    def add_worktree(self, directory: str, branch: str, start: str | None) -> None:
        """Make a worktree for a branch, made at `start` if it is new."""
        new = [] if start is None else ["--no-track", "-b", branch]
        arguments = ["worktree", "add", "--quiet", *new, directory, branch if start is None else start]
        self._must(arguments, attempted=f"making a worktree in {directory}")

    def worktrees(self) -> tuple[str, ...]:
        """Return the roots of all worktrees of the repository."""
        found = self._must(["worktree", "list", "--porcelain", "-z"], attempted="listing the worktrees")
        prefix = "worktree "
        return tuple(line.removeprefix(prefix) for line in found.stdout.split("\0") if line.startswith(prefix))

    def version(self) -> str:
        """Return what git says its version is."""
        return self._run("version").stdout.strip().removeprefix("git version ")

    def is_ignored(self, path: str) -> bool:
        """Tell whether git passes a file over; one that is tracked is not passed over."""
        return self._run("check-ignore", "--quiet", "--", path).status == 0

    def tracks(self, path: str) -> bool:
        """Tell whether the index or HEAD has a file, under whatever spelling a file system takes for the same."""
        named = f":(top,literal,icase){path}"
        listed = self._run("ls-files", "-z", "--with-tree=HEAD", "--", named)
        if listed.status:
            # A repository without a commit has no HEAD, and so only an index; where that fails too nothing is known.
            listed = self._must(["ls-files", "-z", "--", named], attempted=f"asking whether git tracks {path}")
        return bool(listed.stdout)

    def holds(self, commit: str, name: str) -> bool:
        """Tell whether the top directory of a commit has a name, under whatever spelling."""
        listed = self._must(["ls-tree", "-z", "--name-only", "--full-tree", commit], attempted=f"listing {commit}")
        return name.casefold() in listed.stdout.casefold().split("\0")

    def changes(self) -> tuple[str, ...]:
        """Return the files that differ from HEAD, untracked ones included, the claim file apart."""
        arguments = [
            "status",
            "--porcelain",
            "-z",
            "--untracked-files=all",
            "--",
            ".",
            ":(exclude,top).agent-claim.json*",
        ]
        found = self._must(arguments, attempted="looking for uncommitted changes")
        return tuple(entry[3:] for entry in found.stdout.split("\0") if entry[2:3] == " ")

    def ask(
        self, *arguments: str, variables: Mapping[str, str] | None = None, stdin: str = "", timeout: float = LOCAL_LIMIT
    ) -> FinishedProcess:
        """Run git with arguments the caller answers for, and with variables of its own."""
        return self._run(*arguments, variables=variables, stdin=stdin, timeout=timeout)

    def contents(self, names: Sequence[str]) -> bytes:
        """Return what `git cat-file --batch` answers to many names, byte for byte, from one process."""
        return self._cat_files("--batch", names)

    def sizes(self, names: Sequence[str]) -> bytes:
        """Return what `git cat-file --batch-check` answers to many names, one line each, from one process."""
        return self._cat_files("--batch-check", names)

    def _cat_files(self, option: str, names: Sequence[str]) -> bytes:
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as found, tempfile.TemporaryFile() as errors:
            asked.write("".join(f"{name}\n" for name in names).encode(errors="surrogateescape"))
            asked.seek(0)
            command = ["git", "-C", self.root, "cat-file", option]
            variables = self._variables(None)
            self.processes.stream(
                command, directory=self.root, environment=variables, stdin=asked, output=found, errors=errors
            )
            found.seek(0)
            return found.read()

    def _must(self, arguments: list[str], *, attempted: str, timeout: float = LOCAL_LIMIT) -> FinishedProcess:
        done = self._run(*arguments, timeout=timeout)
        if done.status:
            raise self._failure(done, attempted=attempted)
        return done

    def _failure(self, done: FinishedProcess, *, attempted: str) -> GitFailed:
        reason = masked(" ".join(done.stderr.split()))[:300]
        return GitFailed(f"git said: {reason}", attempted=attempted)

    def _configured(self, *question: str) -> str | None:
        """Return an address that is configured; git repeats the name of a remote that has settings and no address."""
        address = self._run(*question).stdout.strip()
        return address if address != question[-1] and address else None

    def _fetch(self, remote: str, branch: str) -> FinishedProcess:
        refspec = f"+refs/heads/{branch}:refs/remotes/{remote}/{branch}"
        options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"]
        return self.talk(self.remote_url(remote) or "", "fetch", *options, "--", remote, refspec)

    def _has(self, remote: str, branch: str) -> bool:
        address = self.remote_url(remote) or ""
        found = self.talk(address, "ls-remote", "--exit-code", "--", remote, f"refs/heads/{branch}")
        if found.status not in {0, _NO_MATCH}:
            attempted = f"looking for branch {branch} on {remote}"
            raise remote_failure(found.stderr, remote=remote, address=address, attempted=attempted)
        return found.status == 0

    def _run(
        self, *arguments: str, variables: Mapping[str, str] | None = None, stdin: str = "", timeout: float = LOCAL_LIMIT
    ) -> FinishedProcess:
        asked = self._variables(variables)
        command = ["git", "-C", self.root, *arguments]
        try:
            return self.processes.run(command, directory=self.root, environment=asked, stdin=stdin, timeout=timeout)
        except FileNotFoundError as error:
            raise GitFailed("git is not installed, or not on PATH.", helps="install git 2.36 or newer") from error
        except TimeoutError as error:
            raise GitFailed(f"{error}.", attempted=f"running git {arguments[0]}") from error

    def _variables(self, more: Mapping[str, str] | None) -> dict[str, str]:
        kept = {key: value for key, value in self.environment.items() if key not in _MISLEADING}
        return kept | _ASKED | dict(more or {})


def seconds_of(text: str) -> float:
    """Return a time as git prints it, in seconds since the epoch; 0 for what is none."""
    found = text.strip()
    # Longer ones lie beyond any year that a calendar knows.
    return float(found) if found.isascii() and found.isdecimal() and len(found) < _LONGEST_TIME else 0.0


def refuse_odd_branch(branch: str) -> None:
    """Stop a branch name that git would not take, or that would mean something else."""
    odd = branch.startswith(("-", "/")) or branch.endswith(("/", ".lock", ".")) or ".." in branch or "@{" in branch
    if odd or len(branch) > LONGEST_BRANCH or "//" in branch or not _BRANCH.fullmatch(branch):
        raise BadInput(f"{branch[:120]!r} is not a branch name.", helps="correct `branch` in .agent-claim.json")
