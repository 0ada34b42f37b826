"""Whose branch it is decides whose gate definitions apply; the base of the comparison is no matter of the branch."""

import copy
import shutil
import subprocess
from typing import ClassVar

import pytest
from support.gauntlet import GatedProject, write_files

from agent_sync.gates.definitions.which_definitions import gate_definitions
from agent_sync.gates.run.execute import execute_run

THEIRS = "command: touch ../THEIRS\n"


class Clone(GatedProject):
    """A clone of a project with gates, whose remote also has a branch of somebody else with other gates."""

    def __init__(self, root):
        self.root = root / "clone"
        source = GatedProject(root / "source", ok="command: 'true'\n")
        source.git("switch", "-q", "-c", "theirs", "main")
        source.write({".gauntlet/checks/ok.yml": THEIRS})
        source.commit("Other gates")
        source.git("switch", "-q", "main")
        self.source = source
        subprocess.run(["git", "clone", "-q", str(source.root), str(self.root)], check=True)

    def is_own(self):
        """Run the gates; tell whether the definitions of the work tree were the ones that ran."""
        self.write({"src/a": "1"})
        (self.root / "THEIRS").unlink(missing_ok=True)
        execute_run(self.context(), self.root)
        return (self.root / "THEIRS").exists()


@pytest.fixture(scope="module")
def made():
    """Keep what is made once for all who ask."""
    return {}


@pytest.fixture
def clone(made, tmp_path_factory):
    """Clone a project with gates: it is put back as it was for each test."""
    if not made:
        here = tmp_path_factory.mktemp("cloned")
        subprocess.run(["git", "init", "-q", "-b", "main", str(here / "source")], check=True)
        subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "Begin"], cwd=here / "source", check=True)
        made |= {"clone": Clone(here), "here": here, "kept": here.rename(here.with_name(f"{here.name}-kept"))}
    shutil.rmtree(made["here"], ignore_errors=True)
    shutil.copytree(made["kept"], made["here"], symlinks=True)
    return copy.copy(made["clone"])


def take(clone):
    """Bring their definitions onto the present branch, as a commit of one's own."""
    clone.write({".gauntlet/checks/ok.yml": THEIRS})
    clone.commit("Take")


def behind(clone):
    """Create a branch from a remote's while that still is where the base is, and pull what comes later."""
    clone.source.git("branch", "-q", "later", "main")
    clone.git("fetch", "-q")
    clone.git("switch", "-q", "later")
    clone.source.git("branch", "-q", "-f", "later", "theirs")
    clone.git("pull", "-q")


OWN = {
    "default branch": take,
    "new branch": lambda clone: (clone.git("switch", "-q", "-c", "mine"), take(clone)),
    "from the base": lambda clone: (clone.git("switch", "-q", "-c", "mine", "origin/main"), take(clone)),
    "stacked": lambda clone: (
        clone.git("switch", "-q", "-c", "mine"),
        take(clone),
        clone.git("switch", "-q", "-c", "upon"),
    ),
    "stacked and renamed": lambda clone: (
        clone.git("switch", "-q", "-c", "mine"),
        take(clone),
        clone.git("switch", "-q", "-c", "upon"),
        clone.git("branch", "-q", "-m", "other"),
    ),
    "orphan": lambda clone: (
        clone.git("switch", "-q", "--orphan", "o"),
        clone.git("checkout", "main", "."),
        take(clone),
    ),
    "merged": lambda clone: (clone.git("switch", "-q", "-c", "mine"), clone.git("merge", "-q", "origin/theirs")),
    "uncommitted on theirs": lambda clone: (
        clone.git("switch", "-q", "theirs"),
        clone.write({".gauntlet/checks/ok.yml": f"# mine\n{THEIRS}"}),
    ),
    "untracked on theirs": lambda clone: (
        clone.git("rm", "-q", "--cached", ".gauntlet/checks/ok.yml"),
        clone.git("commit", "-q", "-m", "Untrack"),
        clone.write({".gauntlet/checks/ok.yml": THEIRS}),
        clone.git("checkout", "-q", "--detach"),
    ),
}

NOT_OWN = {
    "switched to": lambda clone: clone.git("switch", "-q", "theirs"),
    "tracked": lambda clone: clone.git("switch", "-q", "-c", "x", "--track", "origin/theirs"),
    "named in full": lambda clone: clone.git("switch", "-q", "-c", "x", "refs/remotes/origin/theirs"),
    "steps back": lambda clone: clone.git("switch", "-q", "-c", "x", "origin/theirs~0"),
    "by commit": lambda clone: clone.git("switch", "-q", "-c", "x", clone.git("rev-parse", "origin/theirs")),
    "fetched into": lambda clone: (clone.git("fetch", "-q", "origin", "theirs:x"), clone.git("switch", "-q", "x")),
    "pulled later": behind,
    "detached": lambda clone: clone.git("checkout", "-q", "--detach", "origin/theirs"),
    "stacked upon": lambda clone: (clone.git("switch", "-q", "theirs"), clone.git("switch", "-q", "-c", "x")),
    "hidden edit": lambda clone: (
        clone.git("switch", "-q", "theirs"),
        clone.git("update-index", "--assume-unchanged", ".gauntlet/checks/ok.yml"),
    ),
    "without a reflog": lambda clone: (
        clone.git("switch", "-q", "theirs"),
        clone.git("reflog", "delete", "--rewrite", "theirs@{0}"),
    ),
    "worktree": lambda clone: (
        clone.git("worktree", "add", "-q", "../beside", "theirs"),
        setattr(clone, "root", clone.root.parent / "beside"),
    ),
    "tag that poses as the base": lambda clone: (
        clone.git("tag", "origin/main", "origin/theirs"),
        clone.git("switch", "-q", "theirs"),
    ),
}


@pytest.mark.parametrize("way", OWN.values(), ids=OWN)
def test_own_definitions_apply(clone, way):
    """On a branch made here, and wherever they are not committed, definitions run as they lie; the change is said."""
    way(clone)
    assert clone.is_own()
    assert "changed: check ok, command" in gate_definitions(clone.context(), str(clone.root)).changes


@pytest.mark.parametrize("way", NOT_OWN.values(), ids=NOT_OWN)
def test_definitions_of_the_base_apply(clone, way):
    """On a branch that came from elsewhere the base's definitions run instead of the committed ones."""
    way(clone)
    assert not clone.is_own()
    found = gate_definitions(clone.context(), str(clone.root))
    assert found.changes == ("changed: check ok, command",)
    assert "the gate definitions of origin/main apply" in found.remarks[0]


def test_cloned_branch_of_somebody_else(clone, tmp_path):
    """A clone that begins on another branch than the default one runs the base's definitions."""
    subprocess.run(["git", "clone", "-q", "-b", "theirs", str(clone.source.root), str(tmp_path / "second")], check=True)
    clone.root = tmp_path / "second"
    assert not clone.is_own()


def test_without_a_base(tmp_path):
    """Where there is neither a remote nor a main branch the definitions are the clone's own."""
    subprocess.run(["git", "init", "-q", "-b", "trunk", str(tmp_path)], check=True)
    write_files(tmp_path, {".gauntlet/config.yml": "entry_points:\n  - path: .\n"})
    project = object.__new__(GatedProject)
    project.root = tmp_path
    found = gate_definitions(project.context(), str(tmp_path))
    assert (found.root, found.directory, found.news) == (tmp_path, None, ())


class TestBase:
    """What definitions are compared with."""

    def test_base_names_another_branch(self, clone):
        """The base's own configuration may name another branch, and that one counts."""
        clone.source.git("branch", "-q", "develop", "main")
        clone.source.git("switch", "-q", "develop")
        clone.source.write({".gauntlet/checks/more.yml": "command: 'true'\n"})
        clone.source.commit("More")
        clone.source.git("switch", "-q", "main")
        config = clone.source.root / ".gauntlet" / "config.yml"
        config.write_text(config.read_text().replace("base_branch: main", "base_branch: origin/develop"))
        clone.source.commit("Name the base")
        clone.git("fetch", "-q")
        clone.git("switch", "-q", "-c", "mine", "origin/develop")
        clone.git("rm", "-q", ".gauntlet/checks/more.yml")
        assert gate_definitions(clone.context(), str(clone.root)).changes == ("removed: check more",)

    def test_branch_names_another_base(self, clone):
        """A branch that names itself as the base is compared with the base all the same, and that is said."""
        clone.git("switch", "-q", "-c", "mine")
        config = clone.root / ".gauntlet" / "config.yml"
        config.write_text(config.read_text().replace("base_branch: main", "base_branch: mine"))
        clone.commit("Another base")
        assert gate_definitions(clone.context(), str(clone.root)).changes == ("changed: base_branch from main to mine",)

    def test_branch_from_before_the_gates(self, clone):
        """A branch that left the base before there were gates has none, which is said."""
        clone.git("switch", "-q", "-c", "mine", "main~1")
        found = gate_definitions(clone.context(), str(clone.root))
        assert (found.root, found.changes) == (None, ("origin/main has gates that this branch does not have",))

    def test_base_that_moved_on(self, clone):
        """What the base changes after a branch has left it is no change of the branch."""
        clone.git("switch", "-q", "-c", "mine")
        clone.source.write({".gauntlet/checks/ok.yml": "command: make test\n"})
        clone.source.commit("Other gates")
        clone.git("fetch", "-q")
        assert gate_definitions(clone.context(), str(clone.root)).news == ()

    def test_gates_below_that_stand_before_others(self, clone):
        """New gates in a directory, which apply to work in it instead of the project's own, are told of."""
        clone.write({"part/.gauntlet/config.yml": "entry_points:\n  - path: .\n"})
        found = gate_definitions(clone.context(), str(clone.root / "part"))
        assert (found.root, found.changes) == (clone.root / "part", ("the gates in part/ are new on this branch",))

    def test_files_beside_the_definitions(self, clone):
        """Whatever else lies below `.gauntlet/`, a script of a check for example, is compared too."""
        clone.write({".gauntlet/scripts/lint.sh": "exit 0\n"})
        assert gate_definitions(clone.context(), str(clone.root)).changes == ("changed: .gauntlet/scripts/lint.sh",)

    MOVED: ClassVar = {
        "by hand": (("update-ref", "refs/remotes/origin/main", "HEAD"), "the base origin/main was moved in this clone"),
        "with a reason": (
            ("update-ref", "-m", "because", "refs/remotes/origin/main", "HEAD"),
            "the base origin/main was moved in this clone",
        ),
        "by fetch": (("fetch", "-q", "origin"), ""),
        "by push": (("push", "-q", "origin", "HEAD:refs/heads/other"), ""),
    }

    @pytest.mark.parametrize(("arguments", "said"), MOVED.values(), ids=MOVED)
    def test_moved_base(self, clone, arguments, said):
        """A base whose last change came from this clone, not from the remote, is named."""
        clone.git("switch", "-q", "-c", "mine")
        clone.write({"src/a": "1"})
        clone.commit()
        clone.git(*arguments)
        remarks = execute_run(clone.context(), clone.root).remarks
        assert [one for one in remarks if said and said in one] == list(remarks)
        assert bool(remarks) == bool(said)

    def test_local_base_ahead(self, clone):
        """A local base branch with commits that its remote copy lacks is named: it hides what was committed there."""
        clone.write({"src/a": "1"})
        clone.commit()
        remarks = execute_run(clone.context(), clone.root).remarks
        assert remarks == ("the base main was moved in this clone: it has commits that origin/main does not have",)
