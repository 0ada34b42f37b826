"""The sweep behind `make prove`: it resumes, keeps to its budget, and fails on a loss."""

import os
import signal
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from prove import __main__ as program
from prove.by_pytest import ending_of
from prove.case import Case, Ending, Family, Verdict
from prove.journal import Journal, tree_of
from prove.sweep import SourcesChangedError, Sweep
from prove.table import BEGIN, END, bad_endings, markdown, rows, text, write

FINE = Ending(Verdict.SURVIVED)


def family(name, *cases, counted=None):
    """Return a family of these cases; `counted` hears when they are listed."""
    by_name = {case.name: case for case in cases}

    def names(_nursery):
        if counted is not None:
            counted.append(name)
        return list(by_name)

    return Family(name, f"what {name} does", names, by_name.__getitem__)


def case(name, ending=FINE, seconds=0.0, does=lambda: None):
    """Return a case that ends like this."""

    def run(_nursery):
        does()
        return ending

    return Case(name, run, seconds)


class NoNursery:
    """Stands for a nursery where no case has a client."""

    def close(self):
        """Have nothing to end."""


@pytest.fixture
def without_clients(monkeypatch):
    """Spare the command the loading of what clients need."""
    monkeypatch.setattr(program, "Nursery", NoNursery)


@pytest.fixture
def journal(tmp_path):
    """Return an empty journal."""
    return Journal.opened(tmp_path / "journal.jsonl", "tree")


def play(journal, *families, seconds=float("inf"), **options):
    """Play what is left, one case at a time; return what was said."""
    said = []
    Sweep(families, journal, said.append, **options).play([None], ends_at=time.monotonic() + seconds)
    return said


def test_every_case_is_played_and_noted(journal):
    """Each case ends once, and the journal has it with its sentence and what was tried in it."""
    play(journal, family("a", case("1"), case("2", Ending(Verdict.SKIPPED, "not here"))), family("b", case("1")))
    assert {key: ending.verdict for key, ending in journal.endings.items()} == {
        ("a", "1"): Verdict.SURVIVED,
        ("a", "2"): Verdict.SKIPPED,
        ("b", "1"): Verdict.SURVIVED,
    }


def test_second_run_plays_what_is_left(journal, tmp_path):
    """What has ended on the same sources is not played again, nor are the cases counted again."""
    counted, marks = [], tmp_path / "marks"
    marks.touch()

    def leave_a_mark():
        with marks.open("a") as file:
            file.write("x")

    cases = family("a", *(case(str(number), does=leave_a_mark) for number in range(4)), counted=counted)
    journal.list_cases("a", cases.names(None))
    journal.note("a", "2", FINE, 1.0)
    play(Journal.opened(journal.file, "tree"), cases)
    assert (marks.read_text(), counted) == ("xxx", ["a"])
    play(Journal.opened(journal.file, "tree"), cases)
    assert marks.read_text() == "xxx"
    play(Journal.opened(journal.file, "another tree"), cases)
    assert marks.read_text() == "xxxxxxx"


def test_line_that_a_kill_has_cut_is_passed_over(journal):
    """An interrupted journal can be read and written: only the last line is lost."""
    journal.note("a", "1", FINE, 1.0)
    journal.note("a", "2", FINE, 1.0)
    with journal.file.open("r+b") as file:
        file.truncate(journal.file.stat().st_size - 10)
    again = Journal.opened(journal.file, "tree")
    assert list(again.endings) == [("a", "1")]
    again.note("a", "3", FINE, 1.0)
    assert list(Journal.opened(journal.file, "tree").endings) == [("a", "1"), ("a", "3")]


def test_fresh_start_forgets_this_tree_only(journal):
    """Beginning again leaves what is known of other sources."""
    other = Journal.opened(journal.file, "other")
    other.note("a", "1", FINE, 1.0)
    journal.note("a", "1", FINE, 1.0)
    journal.forget()
    assert [len(Journal.opened(journal.file, tree).endings) for tree in ("tree", "other")] == [0, 1]


def test_budget_begins_nothing_that_would_end_too_late(journal):
    """A case longer than what is left is not begun; the table says how many of how many were tried."""
    long = family("a", case("short"), case("long", seconds=1000.0))
    play(journal, long, seconds=100.0)
    [row] = rows([long], journal)
    assert row.cells[:3] == ("a", "1 of 2", "1")


def test_budget_is_shared_fairly(journal):
    """A family with many cases does not use up the time of one with few."""
    large = family("large", *(case(str(number), seconds=10.0) for number in range(20)))
    small = family("small", *(case(str(number), seconds=10.0) for number in range(3)))
    said = play(journal, large, small)
    order = [line.split(":")[0] for line in said if "survived" in line]
    assert order[:20].count("small") == 3


def test_named_case_is_played_again(journal):
    """A case can be repeated by its name, and its last ending counts."""
    endings = iter([Ending(Verdict.LOST, "gone"), FINE])
    repeated = family("a", case("1"), case("2"))
    journal.list_cases("a", ["1", "2"])
    journal.note("a", "1", next(endings), 1.0)
    play(journal, repeated, only=frozenset({"1"}))
    assert {key[1]: ending.verdict for key, ending in journal.endings.items()} == {"1": Verdict.SURVIVED}


def raise_an_error():
    """Fail as a broken case does."""
    raise RuntimeError("broken")


@pytest.mark.parametrize(
    ("does", "says"),
    [(raise_an_error, "RuntimeError: broken"), (lambda: os.kill(os.getpid(), signal.SIGKILL), "without a word")],
    ids=["error", "killed"],
)
def test_case_that_breaks_has_failed(journal, does, says):
    """Whatever becomes of a case's process, the sweep goes on and says so."""
    broken = family("a", case("1", does=does), case("2"))
    play(journal, broken)
    [(_, name, ending)] = bad_endings([broken], journal)
    assert (name, ending.verdict, says in ending.said) == ("1", Verdict.FAILED, True)
    assert journal.endings["a", "2"] == FINE


@pytest.mark.usefixtures("without_clients")
@pytest.mark.parametrize("verdict", [Verdict.LOST, Verdict.DUPLICATED, Verdict.FAILED])
def test_planted_loss_fails_the_command(tmp_path, monkeypatch, capsys, verdict):
    """A loss is in the table, is told with the command that repeats it, and is the exit status, also when resumed."""
    planted = family("a", case("1", Ending(verdict, "a commit is gone")), case("2"))
    monkeypatch.setattr(program, "FAMILIES", (planted,))
    arguments = ["--journal", str(tmp_path / "journal.jsonl"), "-j", "2"]
    for _ in range(2):
        assert program.main(arguments) == 1
        said = capsys.readouterr().out
        assert f"{verdict}: a: 1\n  a commit is gone\n  again: make prove FAMILY=a CASE='1'" in said


@pytest.mark.usefixtures("without_clients")
def test_interrupted_sweep_goes_on(tmp_path, monkeypatch, capsys):
    """A sweep that is interrupted says so, ends what it plays, and has kept what has ended."""
    mark = tmp_path / "mark"

    def interrupt():
        if not mark.exists():
            mark.touch()
            os.kill(os.getppid(), signal.SIGINT)
            time.sleep(60)

    monkeypatch.setattr(program, "FAMILIES", (family("a", case("1"), case("2", does=interrupt), case("3")),))
    arguments = ["--journal", str(tmp_path / "journal.jsonl"), "-j", "1"]
    assert program.main(arguments) == 130
    assert "interrupted: the same command goes on" in capsys.readouterr().out
    assert program.main(arguments) == 0
    assert "3 of 3" in capsys.readouterr().out


def test_changed_sources_end_the_sweep(journal):
    """A case during which somebody has edited the sources is not noted, and none follows."""
    with pytest.raises(SourcesChangedError):
        play(journal, family("a", case("1"), case("2")), are_current=lambda: False)
    assert journal.endings == {}


def test_nothing_lost_succeeds(tmp_path, monkeypatch, capsys):
    """Where everything survived or cannot be tried, the command succeeds and prints the table."""
    monkeypatch.setattr(program, "FAMILIES", (family("a", case("1"), case("2", Ending(Verdict.SKIPPED, "not here"))),))
    assert program.main(["--journal", str(tmp_path / "journal.jsonl"), "-j", "1"]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.split() == ["a", "2", "of", "2", "1", "1", "0", "0", "0", "1"]


def test_table_is_written_between_its_marks(journal, tmp_path):
    """The document keeps its text; date and command stand above the table."""
    document = tmp_path / "page.md"
    document.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    one = family("a", case("1"))
    play(journal, one)
    write(document, markdown(rows([one], journal), "make prove", datetime(2026, 3, 1, tzinfo=UTC)))
    written = document.read_text()
    assert written.startswith(f"before\n{BEGIN}\n\n`make prove` on 2026-03-01:\n\n| what is done | cases |")
    assert "| what a does (`a`) | 1 of 1 | 1 | 1 | 0 | 0 | 0 | 0 |" in written
    assert written.endswith(f"{END}\nafter\n")
    assert text(rows([one], journal)).splitlines()[0].split()[:3] == ["family", "cases", "tried"]


def test_tree_names_the_sources_as_they_are(repo):
    """Another content of a source is another tree; a document is not."""

    def tree_with(name, content):
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(content)
        return tree_of(repo)

    first = tree_with("agent_sync/a.py", "1")
    subprocess.run(["git", "add", "-A"], cwd=repo, check=True)
    assert tree_with("docs/a.md", "1") == first
    assert tree_with("agent_sync/a.py", "2") != first
    assert tree_with("agent_sync/a.py", "1") == first


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("<testcase name='a'/><testcase name='b'><skipped message='x'/></testcase>", (Verdict.SURVIVED, "", 1)),
        ("<testcase name='a'><skipped message='not here'/></testcase>", (Verdict.SKIPPED, "not here", 1)),
        ("<testcase name='a'/><testcase name='b'><failure message='no'/></testcase>", (Verdict.LOST, "b: no", 2)),
    ],
    ids=["passed", "skipped", "failed"],
)
def test_tests_as_cases(inside, expected):
    """A failed test is a loss; tests that are all skipped cannot be tried here."""
    found = ending_of(ET.fromstring(f"<testsuite>{inside}</testsuite>"))  # noqa: S314  # a text of this file
    assert (found.verdict, found.said, found.tries) == expected


def test_every_file_of_the_families_is_there():
    """A family of tests names only files that there are."""
    named = [name for one in program.FAMILIES for name in (_names(one)) if ".py" in name]
    assert named
    assert [name for name in named if not (Path(__file__).parent / name.partition("::")[0]).exists()] == []


def _names(one):
    return one.names(None) if one.case.__module__ == "prove.by_pytest" else []


def test_what_is_sampled_elsewhere_is_whole_in_the_sweep():
    """Every file of tests that knows the long sweeps is played by a family, itself or with its folder."""
    tests = Path(__file__).parent
    knowing = [file for file in tests.rglob("test_*.py") if "\nfrom support.prove import" in file.read_text("utf-8")]
    played = {tests / name.split("::")[0] for one in program.FAMILIES for name in _names(one)}
    missing = [str(file.relative_to(tests)) for file in knowing if not {file, *file.parents} & played]
    assert (len(knowing) > 20, missing) == (True, [])
