import json

import pytest
from support.claims import NOW

from agent_sync.system import masking as log_module
from agent_sync.system.masking import Log
from agent_sync.worktree import worktree


@pytest.fixture
def log(repo):
    return Log(worktree(str(repo)), secrets=("hunter2-secret",))


@pytest.mark.parametrize(
    "secret",
    [
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "github_pat_11ABCDEFG0_abcdefghijklmnop",
        "ghs_abcdefghij0123456789",
        "hunter2-secret",
        "https://octo:s3cr3t@example.invalid/x",
        "Authorization: Bearer abcdefghijklmnopqrst",
        "authorization: token abcdefghijklmnopqrst",
    ],
)
def test_secrets_are_masked(log, secret):
    """No token reaches the file, whatever it stands in."""
    log.write(NOW, "x", error=f"it said {secret} and went")
    text = log.file.read_text()
    assert "***" in text
    assert secret.split()[-1].split("@")[0].split("/")[-1] not in text


def test_records_come_back_in_order(log):
    """What was written is read back, oldest first; empty fields are left out."""
    log.write(NOW, "one", ms=1, nothing=None)
    log.write(NOW, "two", odd="\n\u2028\udcff")
    records = list(log.records())
    assert [record["what"] for record in records] == ["one", "two"]
    assert "nothing" not in records[0]


def test_cut_off_line_is_passed_over(log):
    """A line that a crash cut off does not hide the others."""
    log.write(NOW, "one")
    with log.file.open("a") as file:
        file.write('{"what": "tw')
    assert [record["what"] for record in log.records()] == ["one"]


def test_log_is_rotated(log, monkeypatch):
    """The log keeps to its size and the oldest part goes first."""
    monkeypatch.setattr(log_module, "LARGEST", 200)
    for number in range(40):
        log.write(NOW, f"record-{number}")
    numbers = [int(record["what"].split("-")[1]) for record in log.records()]
    assert numbers[-1] == 39
    assert numbers == sorted(numbers)
    assert len(list(log.file.parent.glob("log.jsonl*"))) == 4


def test_unwritable_log_never_stops_the_work(log):
    """Where the log cannot be written, nothing is raised."""
    log.file.parent.mkdir(parents=True)
    log.file.mkdir()
    log.write(NOW, "x")
    assert list(log.records()) == []


def test_one_record_is_one_line(log):
    """Each record is one JSON object on one line."""
    log.write(NOW, "x", text="a\nb")
    assert {"at": NOW.isoformat(), "what": "x", "text": "a\nb"} == json.loads(log.file.read_text())


def test_short_values_are_no_secrets(repo):
    """A variable that only looks like a token's does not make the log unreadable."""
    log = Log(worktree(str(repo)), secrets=("1", "on"))
    log.write(NOW, "one")
    assert [record["what"] for record in log.records()] == ["one"]
