"""Writers that keep the hook waiting: they say nothing, half an object, or far too much."""

import json
import os
import subprocess

import pytest
from support.command import COMMAND, HOOKS
from support.prove import PROVE

from agent_sync.quiet.answer import LARGEST

EVERY = [[hook] for hook in HOOKS] + [["gauntlet", "stop-hook"], ["statusline"]]
SAID = {"nothing": b"", "half an object": b'{"cwd": "/tm', "half an object, with a brace": b'{"tool_input": {"a": 1}'}
# Far above what these take, and below every limit of the client's.
PATIENCE = 25


@pytest.fixture
def gated(repo):
    """Give the project a gate, so that stops are answered."""
    (repo / ".gauntlet" / "checks").mkdir(parents=True)
    (repo / ".gauntlet" / "config.yml").write_text("entry_points:\n  - path: .\n    checks: [lint]\n")
    (repo / ".gauntlet" / "checks" / "lint.yml").write_text("command: 'false'\n")
    return repo


def kept_waiting(cwd, said):
    """Run every command at once, each with an input that stays open; return statuses and what was printed."""
    pipes = [os.pipe() for _ in EVERY]
    try:
        running = [
            subprocess.Popen([COMMAND, *arguments], cwd=cwd, stdin=reading, stdout=subprocess.PIPE)
            for arguments, (reading, _) in zip(EVERY, pipes, strict=True)
        ]
        for _, writing in pipes:
            os.write(writing, said)
        printed = [process.communicate(timeout=PATIENCE)[0].decode() for process in running]
    finally:
        for end in (end for pipe in pipes for end in pipe):
            os.close(end)
    return [process.returncode for process in running], printed


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_silent_writer_is_not_waited_for(gated, said):
    """Each ends by itself, exit 0, silent or with the approval that invalid input gets."""
    statuses, printed = kept_waiting(gated, said)
    assert set(statuses) == {0}
    for arguments, text in zip(EVERY, printed, strict=True):
        if arguments[-1] in {"on-stop", "stop-hook"}:
            assert (json.loads(text)["decision"], json.loads(text)["status"]) == ("approve", "invalid_input")
        else:
            assert text == "", arguments


def test_pieces_are_put_together(gated):
    """An object that comes in pieces is understood, and not taken for invalid input."""
    reading, writing = os.pipe()
    process = subprocess.Popen([COMMAND, "on-stop"], cwd=gated, stdin=reading, stdout=subprocess.PIPE)
    os.close(reading)
    with os.fdopen(writing, "wb", buffering=0) as pipe:
        for piece in (
            b'{"cwd": ',
            json.dumps(str(gated)).encode(),
            b', "a": {"b": 1}',
            b', "stop_hook_active": false}',
        ):
            pipe.write(piece)
            # The reader has taken the piece before the next one comes.
            subprocess.run(["sleep", "0.2"], check=True)
    printed, _ = process.communicate(timeout=PATIENCE)
    assert json.loads(printed)["status"] == "failed"


@pytest.mark.parametrize("hook", HOOKS if PROVE else ("on-stop", "on-prompt"))
def test_too_much_is_invalid(gated, tmp_path, hook):
    """More than a hook can be sent is invalid input, however it begins."""
    sent = tmp_path / "sent"
    sent.write_bytes(b'{"a": "' + b"x" * LARGEST + b'"}')
    with sent.open("rb") as given:
        ran = subprocess.run([COMMAND, hook], cwd=gated, stdin=given, capture_output=True, check=True)
    answer = json.loads(ran.stdout or "{}")
    assert answer.get("status", "invalid_input") == "invalid_input"


def test_shared_input_stays_as_it_was(repo):
    """Whoever shares the hook's input finds it as blocking as before."""
    reading, writing = os.pipe()
    try:
        os.write(writing, b"{}")
        subprocess.run([COMMAND, "on-stop"], cwd=repo, stdin=reading, check=True)
        assert os.get_blocking(reading)
    finally:
        os.close(reading)
        os.close(writing)
