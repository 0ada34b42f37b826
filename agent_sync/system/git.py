"""One function per question or order to git; no name from outside can become an option of it."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from functools import cached_property
from typing import IO

from agent_sync.errors import BadInput, GitFailed
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.system import git_answers
from agent_sync.system.git_answers import UnclearRef
from agent_sync.system.git_memory import GitMemory
from agent_sync.system.git_refusals import is_sign_in_trouble, moved_to, no_remote
from agent_sync.system.masking import masked
from agent_sync.system.processes import FinishedProcess, Processes
from agent_sync.system.scratch import scratch_file
from agent_sync.worktree import Place, worktree

# Variables of a surrounding git hook would point every call at another repository or index.
_MISLEADING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_COMMON_DIR")
_ASKED = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
_BRANCH = pattern(r"[^\x00-\x20~^:?*\[\\\x7f]+")
# A clone that leaves objects out says so behind the address.
_REMOTE = pattern(r"(?P<name>[^\t]+)\t(?P<url>.*) \((?P<use>fetch|push)\)(?: \[.*\])?")
# `worktree list -z` came with it.
OLDEST = (2, 36)
LOCAL_LIMIT = 30.0
NETWORK_LIMIT = 120.0
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
    memory: GitMemory = field(default_factory=GitMemory, repr=False, compare=False)

    @cached_property
    def place(self) -> Place | None:
        """Where the worktree's git directory is; None where only git can tell."""
        found = worktree(self.root)
        return found if found and found.root == self.root else None

    def one_look(self) -> AbstractContextManager[None]:
        """Let what git says of the working tree count until the end, unless we change something ourselves."""
        return self.memory.one_look()

    def commit_at(self, ref: str) -> str | None:
        """Return the commit a ref, named in full, is at."""
        try:
            if self.place:
                return git_answers.commit_at(self.place, ref)
        except UnclearRef:
            pass
        asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        return self._run(*asked).stdout.strip() or None

    def refs_named(self, patterns: Sequence[str]) -> dict[str, str] | None:
        """Return refs with their commits, as they lie on disk; None where only git can tell."""
        try:
            return git_answers.refs_named(self.place, patterns) if self.place else None
        except UnclearRef:
            return None

    def refs_below(self, name: str) -> dict[str, str] | None:
        """Return a ref and all below it with their commits, as they lie on disk; None where only git can tell."""
        try:
            return git_answers.refs_below(self.place, name.rstrip("/")) if self.place else None
        except UnclearRef:
            return None

    def head_of(self, branch: str) -> str | None:
        """Return the commit a local branch is at."""
        return self.commit_at(f"refs/heads/{branch}")

    def remote_head_of(self, remote: str, branch: str) -> str | None:
        """Return the commit a remote's branch was at when this clone last looked."""
        return self.commit_at(f"refs/remotes/{remote}/{branch}")

    def current_branch(self) -> str | None:
        """Return the branch that is checked out; None on a detached HEAD."""
        found = self.target_of("HEAD") or ""
        return found.removeprefix("refs/heads/") or None

    def default_branch(self, remote: str) -> str | None:
        """Return the remote's default branch, as far as this clone has been told."""
        prefix = f"refs/remotes/{remote}/"
        return (self.target_of(f"{prefix}HEAD") or "").removeprefix(prefix) or None

    def target_of(self, ref: str) -> str | None:
        """Return the ref that another one stands for."""
        try:
            if self.place:
                return git_answers.target_of(self.place, ref)
        except UnclearRef:
            pass
        return self._run("symbolic-ref", "--quiet", ref).stdout.strip() or None

    def remote_url(self, remote: str) -> str | None:
        """Return where a configured remote is, as git itself would use it."""
        found = self.remote(remote)
        return found.url if found else None

    def remote(self, name: str) -> Remote | None:
        """Return a remote that is configured in this clone, or None.

        To be asked before every use of a name: git takes one that is not configured for a folder or an address.
        """
        found = [line for line in self._remote_lines() if line["name"] == name]
        url, push_url = (next((line["url"] for line in found if line["use"] == use), "") for use in ("fetch", "push"))
        # Git repeats the name of a remote that has settings and no address.
        is_known = url and push_url and name not in {url, push_url}
        return Remote(name, url, push_url) if is_known else None

    def remotes(self) -> tuple[str, ...]:
        """Return the names of all remotes."""
        return tuple(dict.fromkeys(line["name"] for line in self._remote_lines()))

    def _remote_lines(self) -> list[re.Match[str]]:
        lines = self._run("remote", "-v").stdout.split("\n")
        return [found for line in lines if (found := _REMOTE.fullmatch(line))]

    def must_have(self, name: str) -> Remote:
        """Return a remote that is configured in this clone, or stop."""
        found = self.remote(name)
        if found is None:
            raise no_remote(name, self.remotes())
        return found

    def talk(
        self, address: str, *words: str, variables: Mapping[str, str] | None = None, timeout: float = NETWORK_LIMIT
    ) -> FinishedProcess:
        """Run git where it speaks to a remote; with the token where git has no credentials of its own."""
        done = self._run(*words, variables=variables, timeout=timeout)
        if done.status and is_sign_in_trouble(done.stderr):
            signed_in = self.credentials(address)
            if signed_in:
                done = self._run(*words, variables={**(variables or {}), **signed_in}, timeout=timeout)
        if "repository moved" in done.stderr:
            self.memory.moved_to = moved_to(done.stderr)
        return done

    def last_change(self, ref: str) -> tuple[str, str] | None:
        """Return the commit after the newest change of a ref, and why it came; None where no changes are noted."""
        try:
            if self.place:
                return git_answers.last_change(self.place, ref)
        except UnclearRef:
            pass
        found = self._run("reflog", "show", "-n", "1", "--format=%H %gs", ref).stdout.strip()
        commit, _, reason = found.partition(" ")
        return (commit, reason) if found else None

    def ignored(self, paths: Sequence[str]) -> frozenset[str]:
        """Return which of these paths git passes over; one that is tracked is not passed over."""
        asked = "".join(f"{path}\0" for path in paths)
        return frozenset(self._run("check-ignore", "-z", "--stdin", stdin=asked).stdout.split("\0"))

    def is_ignored(self, path: str) -> bool:
        """Tell whether git passes a file over; one that is tracked is not passed over."""
        return self._run("check-ignore", "--quiet", "--", path).status == 0

    def tracks(self, path: str) -> bool:
        """Tell whether the index or HEAD has a file, under whatever spelling a file system takes for the same."""
        named = f":(top,literal,icase){path}"
        listed = self._run("ls-files", "-z", "--with-tree=HEAD", "--", named)
        if listed.status:
            # A repository without a commit has no HEAD, and so only an index; where that fails too nothing is known.
            listed = self.must(["ls-files", "-z", "--", named], attempted=f"asking whether git tracks {path}")
        return bool(listed.stdout)

    def holds(self, commit: str, name: str) -> bool:
        """Tell whether the top directory of a commit has a name, under whatever spelling."""
        commit = (self.commit_at(commit) if commit.startswith("refs/") else None) or commit
        if commit == self.commit_at("HEAD") and not self.tracks(name):
            return False
        listed = self.must(["ls-tree", "-z", "--name-only", "--full-tree", commit], attempted=f"listing {commit}")
        return name.casefold() in listed.stdout.casefold().split("\0")

    def changes(self) -> tuple[str, ...]:
        """Return the files that differ from HEAD, untracked ones included, the claim file apart."""
        arguments = ["status", "--porcelain", "-z", "--untracked-files=all"]
        arguments += ["--", ".", ":(exclude,top).agent-claim.json*"]
        found = self.must(arguments, attempted="looking for uncommitted changes")
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

    def feed(self, *arguments: str, stdin: IO[bytes], errors: IO[bytes]) -> int:
        """Run git with bytes to read; return its exit status."""
        with scratch_file() as output:
            command, variables = ["git", "-C", self.root, *arguments], self._variables(None)
            return self.processes.stream(
                command, directory=self.root, environment=variables, stdin=stdin, output=output, errors=errors
            )

    def _cat_files(self, option: str, names: Sequence[str]) -> bytes:
        return self.memory.objects(self.root, (option, *names), lambda: self._read_objects(option, names))

    def _read_objects(self, option: str, names: Sequence[str]) -> bytes:
        with scratch_file() as asked, scratch_file() as found, scratch_file() as errors:
            asked.write("".join(f"{name}\n" for name in names).encode(errors="surrogateescape"))
            asked.seek(0)
            command = ["git", "-C", self.root, "cat-file", option]
            variables = self._variables(None)
            self.processes.stream(
                command, directory=self.root, environment=variables, stdin=asked, output=found, errors=errors
            )
            found.seek(0)
            return found.read()

    def must(self, arguments: list[str], *, attempted: str, timeout: float = LOCAL_LIMIT) -> FinishedProcess:
        """Run git where it has to succeed."""
        done = self._run(*arguments, timeout=timeout)
        if done.status:
            raise self.failure(done, attempted=attempted)
        return done

    def failure(self, done: FinishedProcess, *, attempted: str) -> GitFailed:
        """Return the error for what git could not do."""
        reason = masked(" ".join(done.stderr.split()))[:300]
        return GitFailed(f"git said: {reason}", attempted=attempted)

    def _run(
        self, *arguments: str, variables: Mapping[str, str] | None = None, stdin: str = "", timeout: float = LOCAL_LIMIT
    ) -> FinishedProcess:
        def ask() -> FinishedProcess:
            try:
                return self._start(arguments, self._variables(variables), stdin, timeout)
            finally:
                self.memory.forget_after(arguments)

        is_plain = not variables and not stdin
        return self.memory.answer(self.place, arguments, self.processes, ask) if is_plain else ask()

    def _start(
        self, arguments: Sequence[str], environment: Mapping[str, str], stdin: str, timeout: float
    ) -> FinishedProcess:
        words = ["git", "-C", self.root, *arguments]
        try:
            return self.processes.run(words, directory=self.root, environment=environment, stdin=stdin, timeout=timeout)
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
