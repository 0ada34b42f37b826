import time
from pathlib import Path

import pytest

from agent_sync.gates.config.globs import compiled
from agent_sync.gates.config.model import EntryPoint, GateCheck, GateProject, Review
from agent_sync.gates.plan.plan import Scope, plan


def check(name, **fields):
    return GateCheck(name, Path(f"{name}.yml"), "true", **fields)


def project(*entries, **checks):
    gates = {name: check(name, **fields) for name, fields in ({"t": {}} | checks).items()}
    return GateProject(Path("/p"), entry_points=entries, checks=gates, reviews={"r": Review("r", Path("r.md"), "Go.")})


def ids(found):
    return [job.id for job in found.jobs]


def planned(found, *files, directories=None, **scope):
    parents = {str(parent) for file in files for parent in Path(file).parents}
    known = parents if directories is None else directories
    return plan(found, files, Scope(**scope), known.__contains__)


ENTRIES = {
    "root": (".", ["a"], ["check:.:t"]),
    "root, nothing changed": (".", [], []),
    "directory": ("app", ["app/x", "apple/y"], ["check:app:t"]),
    "not a prefix of a word": ("app", ["apple/y"], []),
    "deep directory": ("a/b", ["a/b/c/d"], ["check:a/b:t"]),
    "a file": ("a/b.py", ["a/b.py"], ["check:a/b.py:t"]),
    "wildcard": ("pkg/*", ["pkg/a/x", "pkg/b/y", "pkg/a/z", "other/c/x"], ["check:pkg/a:t", "check:pkg/b:t"]),
    "wildcard at the root": ("*", ["a/x", "top"], ["check:a:t"]),
    "wildcard with a beginning": ("pkg/api-*", ["pkg/api-a/x", "pkg/web/y"], ["check:pkg/api-a:t"]),
    "wildcard, plain file (not a directory)": ("docs/*", ["docs/d.md"], []),
    "glob": ("src/**/*.ts", ["src/a/b/c.ts", "src/d.ts"], ["check:src/**/*.ts:t"]),
    "glob, no match": ("src/**/*.ts", ["src/a.js", "lib/a.ts"], []),
    "braces": ("src/*.{js,ts}", ["src/a.ts"], ["check:src/*.{js,ts}:t"]),
    "non-ASCII": ("grün/äpfel", ["grün/äpfel/ß"], ["check:grün/äpfel:t"]),
}


@pytest.mark.parametrize(("path", "files", "expected"), ENTRIES.values(), ids=ENTRIES)
def test_entry_points(path, files, expected):
    """Each kind of path is active exactly for its files."""
    assert ids(planned(project(EntryPoint(path, checks=("t",))), *files)) == expected


EXCLUDES = {
    "prefix": (("src/gen",), ["src/gen/a"], False),
    "prefix is no word part": (("src/gen",), ["src/general"], True),
    "glob": (("**/*.md",), ["src/a.md", "b.md"], False),
    "glob leaves others": (("**/*.md",), ["src/a.md", "b.py"], True),
    "exact file": (("src/a",), ["src/a"], False),
}


@pytest.mark.parametrize(("exclude", "files", "active"), EXCLUDES.values(), ids=EXCLUDES)
def test_excludes(exclude, files, active):
    """What is excluded does not make an entry point active."""
    assert bool(ids(planned(project(EntryPoint(".", exclude, ("t",))), *files))) is active


def test_vanished_directory_skips_checks_and_keeps_reviews():
    """A check has nowhere to run in a deleted directory; the deletion can still be reviewed."""
    entry = EntryPoint("pkg/*", checks=("t",), reviews=("r",))
    found = planned(project(entry), "pkg/a/x", directories=set())
    assert ids(found) == ["review:pkg/a:r"]
    assert [(one.id, one.reason) for one in found.skipped] == [("check:pkg/a:t", "pkg/a is gone")]


def test_order_and_duplicates():
    """Jobs follow the entry points, checks first; a check runs once per directory, a review per entry point."""
    entries = (EntryPoint("a", checks=("t", "root"), reviews=("r",)), EntryPoint("b", checks=("root",), reviews=("r",)))
    found = planned(project(*entries, root={"working_directory": "."}), "a/x", "b/y")
    assert ids(found) == ["check:a:t", "check:.:root", "review:a:r", "review:b:r"]


def test_working_directory():
    """A check runs in its entry point, in a directory of its own, or for patterns at the root."""
    checks = {"own": {"working_directory": "tools"}, "same": {"working_directory": "entrypoint"}}
    found = planned(
        project(EntryPoint("a", checks=("t", "own", "same")), EntryPoint("**/*.py", checks=("t",)), **checks), "a/x.py"
    )
    assert [job.directory for job in found.jobs] == ["a", "tools", "a", "."]


WHERE = {
    "here": ({}, ["check:.:t", "check:.:here"]),
    "ci": ({"is_ci": True}, ["check:.:t", "check:.:ci"]),
    "by name": ({"gate": "here"}, ["check:.:here"]),
    "reviews only": ({"kinds": frozenset({"review"})}, []),
}


@pytest.mark.parametrize(("scope", "expected"), WHERE.values(), ids=WHERE)
def test_where_gates_run(scope, expected):
    """Gates are left out where they say so, with a reason, and run in CI by default."""
    gates = project(EntryPoint(".", checks=("t", "ci", "here")), ci={"run_locally": False}, here={"run_in_ci": False})
    found = planned(gates, "x", **scope)
    assert ids(found) == expected
    assert all(one.reason for one in found.skipped)


GLOBS = {
    "star stops at slash": ("*.py", "a/b.py", False),
    "star": ("*.py", "b.py", True),
    "double star": ("**/*.py", "a/b/c.py", True),
    "double star, none": ("**/*.py", "c.py", True),
    "double star at the end": ("a/**", "a/b/c", True),
    "question mark": ("a?c", "abc", True),
    "question mark is no slash": ("a?c", "a/c", False),
    "class": ("[ab].py", "a.py", True),
    "negated class": ("[!ab].py", "a.py", False),
    "range": ("[0-9]", "5", True),
    "open bracket": ("[ab", "[ab", True),
    "bad range": ("[z-a]", "[z-a]", True),
    "braces": ("{a,b*}/x", "bc/x", True),
    "dot is a dot": ("a.b", "axb", False),
    "dot files": ("**/*", ".env", True),
    "newline in a name": ("a*", "a\nb", True),
}


@pytest.mark.parametrize(("pattern", "path", "matches"), GLOBS.values(), ids=GLOBS)
def test_globs(pattern, path, matches):
    """Patterns mean what shells and editors mean by them."""
    assert bool(compiled(pattern).fullmatch(path)) is matches


def test_planning_is_linear():
    """Ten times the files take about ten times as long, not a hundred."""
    entries = [EntryPoint(f"d{number}", checks=("t",)) for number in range(100)]

    def seconds(count):
        files = [f"d{number % 100}/s/{number}.py" for number in range(count)]
        began = time.process_time()
        assert len(planned(project(*entries), *files, directories={f"d{n}" for n in range(100)}).jobs) == 100
        return time.process_time() - began

    small = min(seconds(1_000) for _ in range(3))
    assert seconds(10_000) < 40 * max(small, 0.001)
