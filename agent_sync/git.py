"""One function per question or order to git; no name from outside can become an option of it."""

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_sync.errors import BadInput, GitFailed
from agent_sync.masking import masked
from agent_sync.processes import Finished, Processes

# Variables of a surrounding git hook would point every call at another repository or index.
_MISLEADING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_COMMON_DIR")
_ASKED = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
_BRANCH = re.compile(r"[^\x00-\x20~^:?*\[\\\x7f]+")
# `worktree list -z` came with it.
OLDEST = (2, 36)
LOCAL_LIMIT = 30.0
NETWORK_LIMIT = 120.0
_NO_MATCH = 2


@dataclass(frozen=True)
class Git:
    """The git of one worktree."""

    root: str
    processes: Processes
    environment: Mapping[str, str]

    def head_of(self, branch: str) -> str | None:
        """Return the commit a local branch is at."""
        found = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"refs/heads/{branch}^{{commit}}")
        return found.stdout.strip() or None

    def remote_head_of(self, remote: str, branch: str) -> str | None:
        """Return the commit a remote's branch was at when this clone last looked."""
        tracking = f"refs/remotes/{remote}/{branch}^{{commit}}"
        return self._run("rev-parse", "--verify", "--quiet", "--end-of-options", tracking).stdout.strip() or None

    def is_ahead(self, branch: str, commit: str) -> bool:
        """Tell whether a local branch has commits on top of a commit; one that is not here cannot be below it."""
        local = self.head_of(branch)
        if local is None or local == commit:
            return False
        return self._run("merge-base", "--is-ancestor", commit, local).status == 0

    def current_branch(self) -> str | None:
        """Return the branch that is checked out; None on a detached HEAD."""
        return self._run("symbolic-ref", "--quiet", "--short", "HEAD").stdout.strip() or None

    def default_branch(self, remote: str) -> str | None:
        """Return the remote's default branch, as far as this clone has been told."""
        prefix = f"refs/remotes/{remote}/"
        found = self._run("symbolic-ref", "--quiet", f"{prefix}HEAD").stdout.strip()
        return found.removeprefix(prefix) or None

    def remote_url(self, remote: str) -> str | None:
        """Return where a remote is, as git itself would use it."""
        return self._run("remote", "get-url", "--", remote).stdout.strip() or None

    def push_url(self, remote: str) -> str | None:
        """Return where pushes to a remote go, which may be another repository than it is fetched from."""
        return self._run("remote", "get-url", "--push", "--", remote).stdout.strip() or None

    def push(self, remote: str, branch: str, sha: str) -> None:
        """Push one commit to a branch, fast-forward only."""
        refuse_odd_branch(branch)
        refspec = f"{sha}:refs/heads/{branch}"
        pushed = self._run("push", "--porcelain", "--", remote, refspec, timeout=NETWORK_LIMIT)
        if pushed.status:
            raise self.push_failure(f"{pushed.stderr} {pushed.stdout}", remote, branch)

    def fetched(self, remote: str, branch: str) -> str | None:
        """Bring what this clone knows of a remote's branch up to date; None where the remote has no such branch."""
        refuse_odd_branch(branch)
        if not self._has(remote, branch):
            return None
        refspec = f"+refs/heads/{branch}:refs/remotes/{remote}/{branch}"
        options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"]
        arguments = ["fetch", *options, "--", remote, refspec]
        self._must(arguments, attempted=f"fetching branch {branch} from {remote}", timeout=NETWORK_LIMIT)
        return self.remote_head_of(remote, branch)

    def committed_at(self, sha: str) -> float:
        """Return when a commit was made, in seconds since the epoch."""
        found = self._must(["show", "--no-patch", "--format=%ct", sha], attempted="reading a commit's time")
        return float(found.stdout.strip())

    def start_of(self, branch: str, *, remote: str, default: str) -> str | None:
        """Return what a new branch begins at: its remote copy, or the default branch; None if it is here already."""
        refuse_odd_branch(branch)
        if self.head_of(branch):
            return None
        for ref in (f"refs/remotes/{remote}/{branch}", f"refs/remotes/{remote}/{default}"):
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
    ) -> Finished:
        """Run git with arguments the caller answers for, and with variables of its own."""
        return self._run(*arguments, variables=variables, stdin=stdin, timeout=timeout)

    def contents(self, names: Sequence[str]) -> bytes:
        """Return what `git cat-file --batch` answers to many names, byte for byte, from one process."""
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as found, tempfile.TemporaryFile() as errors:
            asked.write("".join(f"{name}\n" for name in names).encode(errors="surrogateescape"))
            asked.seek(0)
            command = ["git", "-C", self.root, "cat-file", "--batch"]
            variables = self._variables(None)
            self.processes.stream(
                command, directory=self.root, environment=variables, stdin=asked, output=found, errors=errors
            )
            found.seek(0)
            return found.read()

    def _must(self, arguments: list[str], *, attempted: str, timeout: float = LOCAL_LIMIT) -> Finished:
        done = self._run(*arguments, timeout=timeout)
        if done.status:
            reason = " ".join(done.stderr.split())[:300]
            raise GitFailed(f"git said: {reason}", attempted=attempted)
        return done

    def push_failure(self, said: str, remote: str, branch: str) -> GitFailed:
        """Return why a branch could not be pushed, and what helps."""
        attempted = f"pushing branch {branch} to {remote}"
        if "non-fast-forward" in said or "fetch first" in said:
            message = f"Branch {branch} on {remote} has commits that are not here."
            return GitFailed(message, attempted=attempted, helps=f"git pull --rebase {remote} {branch}")
        reason = masked(" ".join(said.split()))[-300:]
        return GitFailed(f"git push failed: {reason}.", attempted=attempted, helps=f"git push {remote} {branch}")

    def _has(self, remote: str, branch: str) -> bool:
        found = self._run("ls-remote", "--exit-code", "--", remote, f"refs/heads/{branch}", timeout=NETWORK_LIMIT)
        if found.status not in {0, _NO_MATCH}:
            reason = masked(" ".join(found.stderr.split()))[-300:]
            raise GitFailed(f"git said: {reason}", attempted=f"looking for branch {branch} on {remote}")
        return found.status == 0

    def _run(
        self, *arguments: str, variables: Mapping[str, str] | None = None, stdin: str = "", timeout: float = LOCAL_LIMIT
    ) -> Finished:
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


def refuse_odd_branch(branch: str) -> None:
    """Stop a branch name that git would not take, or that would mean something else."""
    odd = branch.startswith(("-", "/")) or branch.endswith(("/", ".lock", ".")) or ".." in branch or "@{" in branch
    if odd or "//" in branch or not _BRANCH.fullmatch(branch):
        raise BadInput(f"{branch!r} is not a branch name.", helps="correct `branch` in .agent-claim.json")
