import hashlib
import io
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from support.prove import PROVE

from agent_sync.errors import AgentSyncError, BadInput
from agent_sync.record.receipts import running
from agent_sync.record.receipts.running import Artifacts, Outlet, RunSettings
from agent_sync.system.processes import Processes

EMPTY = hashlib.sha256(b"").hexdigest()


@pytest.fixture
def artifacts(tmp_path):
    """Say where output is kept."""
    return Artifacts(tmp_path / "task" / "artifacts", "rcpt-001")


@pytest.fixture
def run(tmp_path, artifacts):
    """Run a command in an empty directory."""
    (tmp_path / "work").mkdir()

    def perform(command, *, shown=None, processes=None, cwd=tmp_path / "work", **options):
        surroundings = RunSettings(cwd, dict(os.environ), processes or Processes(), **options)
        return running.run(command, surroundings, artifacts, shown=shown)

    return perform


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_what_is_taken_down(run, artifacts, tmp_path):
    """A command's text, arguments, directory, times, exit code and output are what a receipt is made from."""
    ran = run("echo one; echo two >&2; exit 3")
    assert (ran.command, ran.argv) == ("echo one; echo two >&2; exit 3", ("sh", "-c", "echo one; echo two >&2; exit 3"))
    assert (ran.cwd, ran.exit_code) == (str(tmp_path / "work"), 3)
    assert (artifacts.stdout.read_bytes(), artifacts.stderr.read_bytes()) == (b"one\n", b"two\n")
    assert (ran.stdout_hash, ran.stderr_hash) == (sha256(artifacts.stdout), sha256(artifacts.stderr))
    assert ran.started_at <= ran.completed_at
    assert ran.started_at.utcoffset().total_seconds() == 0


def test_arguments_are_not_read_by_a_shell(run, artifacts):
    """An argument list reaches the program as it is, and its text can be pasted into a shell."""
    ran = run(["printf", "%s.", "a b", "$HOME", ""])
    assert artifacts.stdout.read_bytes() == b"a b.$HOME.."
    assert ran.command == "printf %s. 'a b' '$HOME' ''"


def test_time_is_taken(run):
    """The duration is that of the command."""
    assert run("sleep 0.2").duration_ms >= 200


ENDINGS = {
    "passed": ("true", 0),
    "failed": ("exit 42", 42),
    "unknown in the shell": ("no-such-program-here", 127),
    "unknown program": (["no-such-program-here"], 127),
    "not executable": (["/dev/null"], 126),
    "killed": ("kill -9 $$", 137),
    "terminated": ("kill -15 $$", 143),
    "segmentation fault": ("kill -11 $$", 139),
}


@pytest.mark.parametrize(("command", "exit_code"), ENDINGS.values(), ids=ENDINGS)
def test_exit_codes(run, command, exit_code):
    """However a command ends, its exit code is the one a shell would say."""
    assert run(command).exit_code == exit_code


def test_file_without_a_program(run, tmp_path):
    """A file that is executable and yet no program cannot be executed."""
    odd = tmp_path / "odd"
    odd.write_bytes(b"\x00\x01")
    odd.chmod(0o755)
    assert run([str(odd)]).exit_code == 126


def test_time_limit(run, artifacts):
    """At its time limit a command is ended with all it started, and what it printed until then is kept."""
    ran = run("sleep 60 & echo $!; wait", timeout=0.5)
    assert ran.exit_code == 124
    assert ran.stdout_hash == sha256(artifacts.stdout)
    pid = int(artifacts.stdout.read_text())
    assert ended(pid)


def ended(pid):
    """Wait a moment for a process to be gone."""
    give_up = time.monotonic() + 5
    while time.monotonic() < give_up:
        state = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=False)
        if state.stdout.strip() in {"", "Z"}:
            return True
        time.sleep(0.02)
    return False


def test_what_is_left_running_is_not_waited_for(run, artifacts, tmp_path):
    """A process that escapes its group and holds the output open keeps nobody waiting, and adds nothing later."""
    go = tmp_path / "go"
    late = f"echo $$ > {tmp_path}/pid; for i in $(seq 100); do [ -e {go} ] && break; sleep 0.05; done; echo late"
    line = f"setsid sh -c '{late}' & "
    ran = run(line + f"while [ ! -s {tmp_path}/pid ]; do sleep 0.02; done; echo early")
    go.touch()
    assert ended(int((tmp_path / "pid").read_text()))
    assert artifacts.stdout.read_bytes() == b"early\n"
    assert ran.stdout_hash == sha256(artifacts.stdout)


def test_nothing_printed(run, artifacts):
    """Silence has a hash too, and its files."""
    ran = run("true")
    assert (ran.stdout_hash, ran.stderr_hash) == (EMPTY, EMPTY)
    assert (artifacts.stdout.stat().st_size, artifacts.stdout.stat().st_mode & 0o777) == (0, 0o600)


def test_all_bytes_are_kept(run, artifacts):
    """Output is bytes, and every one of them counts."""
    ran = run([sys.executable, "-c", "import sys; sys.stdout.buffer.write(bytes(range(256)) * 1000)"])
    assert artifacts.stdout.read_bytes() == bytes(range(256)) * 1000
    assert ran.stdout_hash == sha256(artifacts.stdout)


LARGE = """
import os, resource, sys
from pathlib import Path
from agent_sync.system.processes import Processes
from agent_sync.record.receipts.running import Artifacts, RunSettings, run
surroundings = RunSettings(Path("/"), dict(os.environ), Processes())
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
line = f"head -c {sys.argv[2]} /dev/zero; head -c {int(sys.argv[2]) // 5} /dev/zero >&2"
ran = run(line, surroundings, Artifacts(Path(sys.argv[1]), "r"))
print(ran.stdout_hash, ran.stderr_hash, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_large_output_needs_no_memory(tmp_path):
    """Many megabytes pass through without being held: what is needed for it stays below five."""
    size = (50 if PROVE else 15) << 20
    command = [sys.executable, "-c", LARGE, str(tmp_path), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    stdout_hash, stderr_hash, grown = done.stdout.split()
    assert (tmp_path / "r.stdout").stat().st_size == size
    assert (stdout_hash, stderr_hash) == (sha256(tmp_path / "r.stdout"), sha256(tmp_path / "r.stderr"))
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(grown) * unit < 5 << 20


def test_output_is_shown(run, artifacts):
    """Where someone watches, everything is shown as well, each stream on its own."""
    shown = Outlet(io.BytesIO(), io.BytesIO())
    run("echo one; echo two >&2", shown=shown)
    assert (shown.output.getvalue(), shown.errors.getvalue()) == (b"one\n", b"two\n")
    assert artifacts.stdout.read_bytes() == b"one\n"


def test_output_is_shown_while_it_comes(run, tmp_path):
    """What a command prints is seen while it still runs."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as seen, os.fdopen(writing, "wb") as shown:
        line = f"echo first; while [ ! -e {tmp_path}/go ]; do sleep 0.02; done"
        worker = threading.Thread(target=run, args=(line,), kwargs={"shown": Outlet(shown, io.BytesIO())})
        worker.start()
        assert seen.readline() == b"first\n"
        assert worker.is_alive()
        (tmp_path / "go").touch()
        worker.join(timeout=10)
        assert not worker.is_alive()


def test_spectator_who_leaves(run, artifacts):
    """A terminal that goes away ends neither the command nor the keeping of its output."""
    reading, writing = os.pipe()
    os.close(reading)
    gone = os.fdopen(writing, "wb", buffering=0)
    ran = run("echo one; sleep 0.1; echo two", shown=Outlet(gone, gone))
    gone.close()
    assert ran.exit_code == 0
    assert artifacts.stdout.read_bytes() == b"one\ntwo\n"


def test_rest_of_an_interrupted_run_is_replaced(run, artifacts):
    """What an earlier try left under the same name is not added to, and a link there is not followed."""
    artifacts.directory.mkdir(parents=True)
    artifacts.stdout.write_text("old and longer than the new one")
    precious = artifacts.directory / "precious"
    precious.write_text("precious")
    artifacts.stderr.symlink_to(precious)
    run("echo new; echo new >&2")
    assert (artifacts.stdout.read_text(), artifacts.stderr.read_text()) == ("new\n", "new\n")
    assert precious.read_text() == "precious"
    assert not artifacts.stderr.is_symlink()


UNUSABLE = {
    "nothing": ("", "no command"),
    "blanks": ("  \n", "no command"),
    "no words": ([], "no command"),
    "an empty word": ([""], "no command"),
    "a zero byte": (["printf", "a\0b"], "contains a NUL character"),
    "half a character": ("echo \ud800", "contains a character that cannot be encoded"),
}


@pytest.mark.parametrize(("command", "said"), UNUSABLE.values(), ids=UNUSABLE)
def test_what_cannot_be_run(run, artifacts, command, said):
    """What is no command is refused before anything is written."""
    with pytest.raises(BadInput, match=said):
        run(command)
    assert not artifacts.directory.exists()


def test_directory_that_is_missing(run, tmp_path):
    """A missing directory is not a missing program."""
    with pytest.raises(BadInput, match="does not exist"):
        run("true", cwd=tmp_path / "nowhere")


def test_bytes_that_are_no_characters(run, artifacts):
    """A file name that is no text reaches the program unchanged, and is spelled out in what is signed."""
    ran = run(["printf", "%s", "\udcff"])
    assert artifacts.stdout.read_bytes() == b"\xff"
    assert ran.argv == ("printf", "%s", "\\xff")


def test_output_that_cannot_be_kept(run, artifacts):
    """A full disk makes no receipt: the command is not stuck, and the error says why."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, limit[1]))
    try:
        with pytest.raises(AgentSyncError, match="No receipt was made"):
            run(["head", "-c", "4000000", "/dev/zero"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, before)
    assert artifacts.stdout.stat().st_size <= 1 << 16


def test_no_place_for_output(run, artifacts):
    """Where output cannot be kept, nothing is run."""
    artifacts.directory.parent.mkdir()
    artifacts.directory.write_text("a file in the way")
    with pytest.raises(AgentSyncError, match="File exists"):
        run("touch ran")
    assert not (artifacts.directory.parent.parent / "work" / "ran").exists()


def test_leaving_process_starts_nothing(run):
    """When programs are being ended because we leave, nothing is run and nothing is said to have failed."""
    processes = Processes()
    processes.close()
    with pytest.raises(InterruptedError):
        run("true", processes=processes)


def test_no_descriptor_is_left_open(run):
    """Many runs leave as many descriptors and threads open as none."""
    run("true")
    before = len(list(Path("/dev/fd").iterdir())), threading.active_count()
    for command in ("echo a", ["no-such-program-here"], "kill -9 $$"):
        run(command)
    assert (len(list(Path("/dev/fd").iterdir())), threading.active_count()) == before
