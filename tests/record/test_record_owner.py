"""Who owns a task, and whether that process still lives."""

import os
import signal
import subprocess
import sys

import pytest
from support.stored_records import MadeUpProcesses, family

from agent_sync.record.crash.owner import (
    Process,
    SystemProcesses,
    client_process,
    is_other_session,
    is_transient_shell,
    owner_standing,
)
from agent_sync.record.machine.model import Owner
from agent_sync.record.machine.states import OwnerStanding

# Commands from the nearest ancestor up, and the one that owns the work.
FAMILIES: dict[str, tuple[tuple[str, ...], str]] = {
    "the client itself": (("claude", "zsh", "login"), "claude"),
    "a hook's shell": (("/bin/sh -c agent-sync", "node claude", "zsh"), "node claude"),
    "the Bash tool's shell": (("/bin/zsh -c -l source", "claude"), "claude"),
    "shells in shells": (("bash -lc x", "sh -ec x", "dash -c x", "claude"), "claude"),
    "fish": (("fish -c x", "fish --command=x", "claude"), "claude"),
    "options with a value": (("bash -o pipefail -O extglob --rcfile f -c x", "claude"), "claude"),
    "a script": (("bash ./agent.sh", "zsh"), "bash ./agent.sh"),
    "a script with its own -c": (("bash ./agent.sh -c x", "zsh"), "bash ./agent.sh -c x"),
    "a person at a prompt": (("-zsh", "login"), "-zsh"),
    "an interactive shell": (("bash -i", "login"), "bash -i"),
    "another interpreter's -c": (("python3 -c x", "zsh"), "python3 -c x"),
}


@pytest.mark.parametrize(("commands", "owner"), FAMILIES.values(), ids=FAMILIES)
def test_nearest_lasting_ancestor_owns(commands, owner):
    """Shells that were started for one command line are passed over; scripts and people are not."""
    proc = family(*commands)
    found = client_process(proc, session_id="s")
    assert " ".join(proc.processes[found.pid].command) == owner
    assert found == Owner(pid=found.pid, started=f"{found.pid}0@pid:[1]", boot_id="boot-1", host="here", session_id="s")
    assert owner_standing(found, proc) is OwnerStanding.ALIVE


@pytest.mark.parametrize("commands", [(), ("sh -c x",)], ids=["none", "only shells"])
def test_no_owner_is_said_so(commands):
    """Where no ancestor lasts, the owner has no number and its standing is unknown."""
    proc = family(*commands)
    found = client_process(proc)
    assert found == Owner(boot_id="boot-1", host="here")
    assert owner_standing(found, proc) is OwnerStanding.UNKNOWN


def test_caretaker_of_orphans_owns_nothing():
    """Whoever adopts orphans owns nothing: the first process, whatever its name, and a caretaker of any number."""
    for name, pid in (("/sbin/init", 1), ("claude", 1), ("/usr/lib/systemd/systemd", 77), ("(sd-pam)", 1)):
        processes = {100: Process(100, pid, "5", ("agent-sync",)), pid: Process(pid, 0, "1", (name, "--user"))}
        assert client_process(MadeUpProcesses(processes)).pid == 0


@pytest.mark.parametrize("wrapper", ["timeout 60", "/usr/bin/env X=1", "nice -n 5", "setsid"])
def test_wrapper_of_one_command_is_no_owner(wrapper):
    """A program that runs one command and ends with it is passed over."""
    proc = family(wrapper, "sh -c x", "claude")
    assert client_process(proc).pid == client_process(family("sh -c x", "sh -c x", "claude")).pid


def test_hidden_processes_are_not_dead():
    """A system that will not tell makes the owner unknown, never gone."""
    proc = family("claude")
    owner = client_process(proc)
    proc.is_hidden = True
    assert owner_standing(owner, proc) is OwnerStanding.UNKNOWN
    assert client_process(proc).pid == 0


STANDINGS: dict[str, tuple[dict[str, str], dict[str, str], OwnerStanding]] = {
    "the same": ({}, {}, OwnerStanding.ALIVE),
    "number used again": ({"started": "1@pid:[1]"}, {}, OwnerStanding.GONE),
    "rebooted": ({}, {"boot_id": "boot-2"}, OwnerStanding.OTHER_BOOT),
    "another machine": ({}, {"host": "there"}, OwnerStanding.OTHER_HOST),
    "another machine, another boot": ({}, {"host": "there", "boot_id": "boot-2"}, OwnerStanding.OTHER_HOST),
    "seen from a sandbox": ({}, {"namespace": "pid:[2]"}, OwnerStanding.UNKNOWN),
    "no number": ({"pid": 0}, {}, OwnerStanding.UNKNOWN),
    "no start": ({"started": ""}, {}, OwnerStanding.UNKNOWN),
    "boot not told": ({"boot_id": ""}, {}, OwnerStanding.ALIVE),
    "boot not told here": ({}, {"boot_id": ""}, OwnerStanding.ALIVE),
    "no such process": ({"pid": 7}, {}, OwnerStanding.GONE),
}


@pytest.mark.parametrize(("recorded", "machine", "expected"), STANDINGS.values(), ids=STANDINGS)
def test_standing(recorded, machine, expected):
    """An owner lives if the process of its number is the same one, on this boot of this machine."""
    proc = family("claude")
    owner = client_process(proc).model_copy(update=recorded)
    for name, value in machine.items():
        setattr(proc, name, value)
    assert owner_standing(owner, proc) is expected


SESSIONS: dict[str, tuple[tuple[str, ...], str, str, bool]] = {
    "the client itself": (("claude", "-zsh"), "claude", "", False),
    "the shell that started the client": (("claude", "-zsh"), "-zsh", "", False),
    "a script that started the client": (("claude", "python3 run.py"), "python3 run.py", "", False),
    "a session that started the client": (("claude", "claude --print"), "claude --print", "s0", True),
    "a shell elsewhere": (("claude",), "bash -i", "", False),
    "a client elsewhere": (("claude",), "claude --print", "", True),
    "a session elsewhere": (("claude",), "claude --print", "s0", True),
    "the same session elsewhere": (("claude",), "claude --print", "s1", False),
}


@pytest.mark.parametrize(("commands", "owner", "session_id", "expected"), SESSIONS.values(), ids=SESSIONS)
def test_other_session(commands, owner, session_id, expected):
    """Another client that lives is another session; whoever typed the claim and started this one is not."""
    proc = family(*commands)
    elsewhere = Process(7, 1, "70", tuple(owner.split()))
    found = next((one for one in proc.processes.values() if " ".join(one.command) == owner), elsewhere)
    proc.processes[found.pid] = found
    known = Owner(pid=found.pid, started=f"{found.started}@pid:[1]", boot_id="boot-1", host="here")
    assert is_other_session(known.model_copy(update={"session_id": session_id}), "s1", proc) is expected


def test_shell_without_arguments_is_no_transient_shell():
    """Odd command lines are judged without a crash."""
    assert [
        is_transient_shell(command) for command in ((), ("",), ("sh",), ("sh", ""), ("sh", "-"), ("sh", "--", "-c"))
    ] == [False] * 6


SCRIPT = (
    "from agent_sync.record.crash.owner import *; print(client_process(SystemProcesses(has_proc={})).model_dump_json())"
)


@pytest.fixture(params=[True, False], ids=["proc", "ps"])
def system(request):
    """Return the real machine, read in either way."""
    if request.param and not os.path.exists("/proc/self/stat"):  # noqa: PTH110  # a question about the machine
        pytest.skip("there is no /proc here")
    return SystemProcesses(has_proc=request.param)


def test_real_client_is_found_through_shells(system):
    """A real process, run by a real shell run by us, takes us for the owner."""
    script = SCRIPT.format(system._has_proc)
    command = ["sh", "-c", f"'{sys.executable}' -c '{script}'; true"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    owner = Owner.model_validate_json(said)
    assert owner.pid == os.getpid()
    assert owner_standing(owner, system) is OwnerStanding.ALIVE


def test_killed_process_is_gone(system):
    """A process that was killed is gone at once, waited for or not; before that it lives."""
    with subprocess.Popen(["sleep", "60"]) as child:
        found = system.process(child.pid)
        started = f"{found.started}@{system.namespace}" if system.namespace else found.started
        owner = Owner(pid=child.pid, started=started, boot_id=system.boot_id, host=system.host)
        assert owner_standing(owner, system) is OwnerStanding.ALIVE
        child.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert owner_standing(owner, system) is OwnerStanding.GONE
    assert owner_standing(owner, system) is OwnerStanding.GONE


def test_odd_names_do_not_confuse(tmp_path):
    """A program whose name holds brackets and spaces is read like any other."""
    program = tmp_path / "a) R 1 (b"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "60"]) as child:
        found = SystemProcesses().process(child.pid)
        child.kill()
    assert found.parent == os.getpid()
