"""What git would answer without a process: the same as git itself, and only as long as it is true."""

import os
import subprocess
import time
import zlib

import pytest
from support.step_costs import with_counting_git

from agent_sync.leases.refs.git_refs import list_refs, read_files, write_commit
from agent_sync.leases.refs.transports import RemoteTransport
from agent_sync.leases.refs.values import FileAt, NewCommit, PushResult, RefUpdate, TooLarge
from agent_sync.system import git_branches, git_history
from agent_sync.system.git import Git
from agent_sync.system.processes import Processes


def sh(root, *command):
    return subprocess.run(["git", *command], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def counted(repo, tmp_path):
    """Set up a git whose processes are counted."""
    calls = tmp_path / "calls"
    calls.touch()
    path = f"{with_counting_git(tmp_path / 'counting')}:{os.environ['PATH']}"
    return Git(str(repo), Processes(), {**os.environ, "PATH": path, "GIT_CALLS_FILE": str(calls)}), calls


def _settle(repo):
    past = time.time() - 10
    for name in ("config", "index"):
        if (repo / ".git" / name).exists():
            os.utime(repo / ".git" / name, (past, past))


STATES = {
    "loose": [],
    "packed": [["pack-refs", "--all"]],
    "packed and then moved": [["pack-refs", "--all"], ["commit", "-q", "--allow-empty", "-m", "More"]],
    "detached": [["checkout", "-q", "--detach"]],
    "before the first commit": [["checkout", "-q", "--orphan", "fresh"]],
    "a remote with a default": [
        ["update-ref", "refs/remotes/origin/main", "HEAD"],
        ["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"],
        ["update-ref", "refs/remotes/upstream/main", "HEAD"],
    ],
    "a remote that is packed": [["update-ref", "refs/remotes/origin/main", "HEAD"], ["pack-refs", "--all"]],
    "a ref store that is not known": "reftable",
}


@pytest.mark.parametrize("state", STATES)
def test_refs_are_what_git_says_they_are(repo, counted, state):
    """Branches, remotes' branches, HEAD and the newest change are as git tells them, however they are stored."""
    git, _ = counted
    if STATES[state] == "reftable":
        (repo / ".git" / "reftable").mkdir()
    else:
        for command in STATES[state]:
            sh(repo, *command)
    names = ("HEAD", "refs/heads/main", "refs/heads/none", "refs/remotes/origin/main", "refs/remotes/origin/HEAD")
    asked = [git.ask("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").stdout.strip() for name in names]
    assert [git.commit_at(name) or "" for name in names] == asked
    branch = git.ask("symbolic-ref", "--quiet", "--short", "HEAD").stdout.strip()
    assert (git.current_branch() or "") == branch
    default = git.ask("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD").stdout.strip()
    assert (git.default_branch("origin") or "") == default.removeprefix("origin/")
    listed = git.ask("for-each-ref", "--format=%(refname)", "refs/heads/main", "refs/remotes/*/main").stdout.split()
    assert sorted(git_history.refs_of_branch(git, "main")) == sorted(listed)
    moved = git.ask("reflog", "show", "-n", "1", "--format=%H %gs", "refs/heads/main").stdout.strip()
    last = git_history.last_change(git, "refs/heads/main")
    assert (f"{last.commit} {last.reason}" if last else "") == moved


REFS_BELOW = {
    "none": [],
    "loose": [["update-ref", "refs/agentsync/claims/7", "HEAD"], ["update-ref", "refs/agentsync/claims/9/x", "HEAD"]],
    "packed": [["update-ref", "refs/agentsync/claims/7", "HEAD"], ["pack-refs", "--all"]],
    "packed and then moved": [
        ["update-ref", "refs/agentsync/claims/7", "HEAD"],
        ["update-ref", "refs/agentsync/claims/70", "HEAD"],
        ["pack-refs", "--all"],
        ["commit", "-q", "--allow-empty", "-m", "More"],
        ["update-ref", "refs/agentsync/claims/7", "HEAD"],
    ],
    "one that stands for another": [["symbolic-ref", "refs/agentsync/claims/7", "refs/heads/main"]],
    "an odd name": [["update-ref", "refs/agentsync/claims/ü", "HEAD"]],
}


@pytest.mark.parametrize("state", REFS_BELOW)
def test_all_refs_below_a_name_are_those_git_lists(repo, counted, state):
    """Refs below a name are listed as git lists them, however they are stored; a lock is none of them."""
    git, calls = counted
    for command in REFS_BELOW[state]:
        sh(repo, *command)
    (repo / ".git" / "refs" / "agentsync" / "claims").mkdir(parents=True, exist_ok=True)
    (repo / ".git" / "refs" / "agentsync" / "claims" / "8.lock").touch()
    listed = sh(repo, "for-each-ref", "--format=%(refname) %(objectname)", "refs/agentsync/claims/").splitlines()
    for with_kinds in (False, True):
        found = list_refs(git, "refs/agentsync/claims/", with_kinds=with_kinds)
        assert [f"{ref.name} {ref.sha}" for ref in found] == listed
    is_clear = state not in {"one that stands for another", "an odd name"}
    assert calls.read_text().count("for-each-ref") == (not is_clear) + bool(listed)


def test_worktrees_are_those_git_lists(repo, counted, tmp_path):
    """A clone alone is its only worktree, and where it has others all of them are told, with their branches."""
    git, calls = counted
    assert git_branches.worktrees(git) == (sh(repo, "worktree", "list", "--porcelain").split()[1],)
    assert [git_branches.worktree_of(git, name) for name in ("main", "side")] == [str(repo), ""]
    assert calls.read_text() == ""
    sh(repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    assert git_branches.worktrees(git) == (str(repo), str(tmp_path / "side"))
    assert [git_branches.worktree_of(git, name) for name in ("main", "side")] == [str(repo), str(tmp_path / "side")]


def test_a_linked_worktree_has_a_head_of_its_own(repo, tmp_path):
    """In a linked worktree HEAD is its own, and branches are shared."""
    sh(repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    git = Git(str(tmp_path / "side"), Processes(), os.environ)
    assert (git.current_branch(), git.head_of("main")) == ("side", sh(repo, "rev-parse", "main"))


@pytest.mark.parametrize("name", ["../../HEAD", "a..b", "x.lock", ".hidden", "@{0}", "a b", "ü"])
def test_odd_names_are_left_to_git(repo, counted, name):
    """A name that is not plain is never looked for on disk."""
    git, calls = counted
    (repo / ".git" / "refs" / "heads" / "x.lock").write_text("0" * 40 + "\n")
    assert git.head_of(name) is None
    assert "rev-parse" in calls.read_text()


def test_an_answer_is_given_again_while_it_holds(repo, counted):
    """A remote's address is asked for once; a changed configuration, or a program of others, makes git answer anew."""
    git, calls = counted
    sh(repo, "remote", "add", "origin", "/first")
    _settle(repo)
    assert [git.remote_url("origin"), git.remote_url("origin")] == ["/first", "/first"]
    assert calls.read_text().count("remote -v") == 1
    sh(repo, "remote", "set-url", "origin", "/second")
    assert git.remote_url("origin") == "/second"
    _settle(repo)
    git.remote_url("origin")
    before = calls.read_text().count("remote -v")
    git.processes.run(["true"], directory=str(repo), environment=os.environ)
    git.remote_url("origin")
    assert calls.read_text().count("remote -v") == before + 1


def test_a_fresh_file_is_not_relied_on(repo, counted):
    """An index that may change again within the same tick of the clock is read anew."""
    git, calls = counted
    os.utime(repo / ".git" / "index", (time.time() + 5, time.time() + 5))
    assert [git.tracks("a"), git.tracks("a")] == [False, False]
    assert calls.read_text().count("ls-files") == 2


def test_addresses_are_those_git_uses(repo, counted):
    """Push addresses, rewritten ones and remotes without an address are told as git itself tells them."""
    git, _ = counted
    sh(repo, "config", "url./srv/.insteadOf", "short:")
    sh(repo, "remote", "add", "one", "short:one")
    sh(repo, "remote", "set-url", "--push", "one", "/push")
    sh(repo, "config", "remote.bare.prune", "true")
    found = git.remote("one")
    assert (found.url, found.push_url) == (sh(repo, "remote", "get-url", "one"), "/push")
    assert (git.remote("bare"), git.remote("none"), git.remote_url("one")) == (None, None, "/srv/one")


def test_ignored_paths_are_asked_for_together(repo, counted):
    """Of several paths those are told that git passes over, odd names included, with one process."""
    git, calls = counted
    (repo / ".gitignore").write_text("logs/\nö*\n")
    (repo / "logs").mkdir()
    assert git.ignored(["logs", "kept", "ö dd"]) & {"logs", "kept", "ö dd"} == {"logs", "ö dd"}
    assert calls.read_text().count("check-ignore") == 1


def test_one_look_at_the_working_tree(repo, counted):
    """Within one look the state of the working tree counts; after it, and after an order of ours, it is asked for."""
    git, calls = counted
    with git.one_look():
        first = git_history.tree_status(git).changed
        (repo / "new.txt").write_text("x")
        assert git_history.tree_status(git).changed == first == ()
        git.ask("update-ref", "refs/heads/other", "HEAD")
        assert git_history.tree_status(git).changed == ("new.txt",)
    (repo / "newer.txt").write_text("x")
    assert git_history.tree_status(git).changed == ("new.txt", "newer.txt")
    assert calls.read_text().count("status") == 3


def _fresh(git):
    """Return git as the next process has it."""
    return Git(git.root, Processes(), git.environment)


@pytest.fixture
def noted(repo, counted):
    """Let a process note that a file is not tracked."""
    git, calls = counted
    (repo / ".git" / "agentsync").mkdir()
    (repo / "a").touch()
    sh(repo, "add", "a")
    sh(repo, "commit", "-qm", "More")
    _settle(repo)
    assert not git.tracks("b")
    return git, calls


def test_the_next_process_knows_what_is_tracked(noted):
    """Whether a file is tracked is asked once for a HEAD and an index, whichever process asks."""
    git, calls = noted
    assert not _fresh(git).tracks("b")
    assert calls.read_text().count("ls-files") == 1


CHANGES = {
    "the index": ["add", "b"],
    "HEAD alone": ["reset", "-q", "--soft", "other"],
    "an object in place of another": ["replace", "HEAD", "other"],
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_next_process_asks_again_after_a_change(repo, noted, change):
    """What may change the answer makes the next process ask git, which then knows of it."""
    git, _ = noted
    (repo / "b").touch()
    tree = sh(repo, "mktree", "--missing").strip()
    sh(repo, "branch", "other", sh(repo, "commit-tree", "-m", "Other", tree))
    if change != "the index":
        # A commit that has the file, while the index has not.
        sh(repo, "add", "b")
        sh(repo, "branch", "-f", "other", sh(repo, "commit-tree", "-m", "Other", sh(repo, "write-tree")))
        sh(repo, "reset", "-q")
        _settle(repo)
        assert not _fresh(git).tracks("b")
    sh(repo, *CHANGES[change])
    assert _fresh(git).tracks("b")


@pytest.mark.parametrize("content", [b"", b"\0" * 50, b"[]", b'{"ls-files": 7}', b"{", b'{"a": ["b"]}'])
def test_odd_notes_say_nothing(repo, noted, content):
    """Notes that a power cut or a person has spoiled are not used, and no trouble."""
    git, calls = noted
    (repo / ".git" / "agentsync" / "git-answers.json").write_bytes(content)
    assert not _fresh(git).tracks("b")
    assert calls.read_text().count("ls-files") == 2


def test_a_clone_without_files_of_ours_gets_none(repo, counted):
    """Where agent-sync keeps nothing, a question to git leaves nothing behind."""
    git, _ = counted
    _settle(repo)
    git.tracks("b")
    assert not (repo / ".git" / "agentsync").exists()


def test_following_a_branch_leaves_the_addresses_known(repo, counted):
    """What the configuration says of branches does not make an address be asked for again."""
    git, calls = counted
    sh(repo, "remote", "add", "origin", "/first")
    sh(repo, "config", "branch.main.remote", "origin")
    git.remote_url("origin")
    sh(repo, "config", "branch.side.remote", "origin")
    sh(repo, "config", "--unset", "branch.main.remote")
    assert git.remote_url("origin") == "/first"
    assert calls.read_text().count("remote -v") == 1


STORED = {
    "loose": [],
    "packed": [["repack", "-qad"]],
    "replaced": [["replace", "HEAD", "HEAD~1"]],
    "replaced and packed": [["replace", "HEAD", "HEAD~1"], ["pack-refs", "--all"]],
}


@pytest.mark.parametrize("state", STORED)
def test_what_is_in_a_commit_is_what_git_reads(repo, counted, state):
    """Files and the tree of a commit are as git tells them, however its objects are stored."""
    git, calls = counted
    for number in range(2):
        (repo / "folder").mkdir(exist_ok=True)
        (repo / "folder" / "a").write_text(f"{number}\n")
        (repo / "long").write_text("x" * 50)
        sh(repo, "add", "-A")
        sh(repo, "commit", "-qm", "More")
    for command in STORED[state]:
        sh(repo, *command)
    head = sh(repo, "rev-parse", "HEAD")
    assert git_history.tree_of(git, head) == sh(repo, "rev-parse", f"{head}^{{tree}}")
    wanted = [FileAt(head, name) for name in ("folder/a", "long", "folder", "missing", "long/x")]
    text = sh(repo, "show", f"{head}:folder/a") + "\n"
    assert read_files(git, wanted, largest=20) == [text.encode(), TooLarge(50), None, None, None]
    assert (calls.read_text() == "") == (state == "loose")


def test_a_damaged_object_is_left_to_git(repo, counted):
    """An object whose file is not what its name says is never used."""
    git, calls = counted
    head = sh(repo, "rev-parse", "HEAD")
    file = repo / ".git" / "objects" / head[:2] / head[2:]
    whole = file.read_bytes()
    file.chmod(0o644)
    for content in (b"", whole[:-8], zlib.compress(zlib.decompress(whole).replace(b"Begin", b"Other"))):
        file.write_bytes(content)
        assert git_history.tree_of(git, head) == ""
    assert calls.read_text().count("rev-parse") == 3


def test_a_shared_repository_is_written_by_git_alone(tmp_path, counted):
    """Where others write too, git stores objects, with the modes that it works out."""
    git, calls = counted
    root = tmp_path / "shared"
    sh(tmp_path, "init", "-q", "--shared=group", str(root))
    write_commit(Git(str(root), Processes(), git.environment), NewCommit("First", {"a": b""}))
    assert "unpack-objects" in calls.read_text()
    modes = [path.stat().st_mode & 0o070 for path in (root / ".git" / "objects").glob("??/*")]
    assert modes == [0o040] * 3


@pytest.mark.parametrize("name", ["origin", "odd.name"])
def test_a_push_notes_what_landed(repo, counted, tmp_path, name):
    """Refs that were pushed are known here at once: by the push itself where the remote's name is plain."""
    git, calls = counted
    sh(tmp_path, "init", "-q", "--bare", str(tmp_path / "bare"))
    sh(repo, "remote", "add", name, str(tmp_path / "bare"))
    transport = RemoteTransport(git, git.must_have(name))
    claim, probe = "refs/agentsync/claims/7", "refs/agentsync/probe/x"
    first = transport.write(NewCommit("First"))
    assert transport.swap([RefUpdate(claim, "", first), RefUpdate(probe, "", first)]).result is PushResult.LANDED
    assert [ref.sha for ref in transport.known(claim)] == [first]
    assert transport.known(probe) == ()
    assert ("update-ref" in calls.read_text()) == (name != "origin")
    assert sh(repo, "config", "--get-all", f"remote.{name}.fetch").count("\n") == 0


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_a_commit_is_stored_without_a_process(tmp_path, counted, kind):
    """A commit with files and a folder is whole, as git checks it, whatever names objects have there."""
    root = tmp_path / kind
    sh(tmp_path, "init", "-q", f"--object-format={kind}", str(root))
    git = Git(str(root), Processes(), counted[0].environment)
    files = {"claim.json": b"{}\n", "evidence/a.txt": "é\n".encode(), "evidence-b": b"x" * 5000}
    first = write_commit(git, NewCommit("First\n\nwhy", files, when=7))
    second = write_commit(git, NewCommit("Second", {"claim.json": b"2"}, parents=(first,)))
    shown = sh(root, "show", "--no-patch", "--format=%an|%ae|%at|%P|%B", second, first).split("\n")
    assert shown[0] == f"agent-sync|agent-sync@localhost|0|{first}|Second"
    listed = sh(root, "ls-tree", "-r", "--name-only", first).split("\n")
    assert sorted(listed) == sorted(files)
    assert sh(root, "show", f"{first}:evidence/a.txt") == "é"
    sh(root, "fsck", "--strict", "--no-dangling", second)
    assert "unpack-objects" not in counted[1].read_text()
    modes = {path.stat().st_mode & 0o777 for path in (root / ".git" / "objects").glob("??/*")}
    assert modes == {0o444}
