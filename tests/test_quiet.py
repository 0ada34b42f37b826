import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from support.claims import NOW, claim
from support.command import COMMAND, run, settle
from support.context import Workshop
from support.github import FakeGitHub, pull
from support.neighbours import wait_until
from support.prove import PROVE

from agent_sync.events import run as hook_run, stamp
from agent_sync.hook_event import HookEvent
from agent_sync.quiet import answer as quiet
from agent_sync.quiet.last_words import keep_input
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.facts import PullState, Trigger
from agent_sync.task.decision.notice import Notice
from agent_sync.worktree import hook_stamp, record_pointer, spool_file

FORBIDDEN = {"json", "re", "logging", "subprocess", "dataclasses", "typing", "pathlib", "enum", "click", "pydantic"}
COMMANDS = [
    trigger for trigger in Trigger if trigger in {"on-stop", "on-idle", "session-start", "on-prompt", "on-tool"}
]


def imported(root: Path, hook: str) -> set[str]:
    """Return the modules a hook loads, as the interpreter reports them."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("COVERAGE")}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", COMMAND, hook],
        input=b"{}",
        cwd=root,
        capture_output=True,
        env=environment,
        check=True,
    )
    lines = done.stderr.decode().splitlines()
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines if line.startswith("import time:")}


@pytest.mark.parametrize("held", [None, claim()], ids=["no claim", "coding"])
def test_quiet_hook_loads_os_and_sys_alone(repo, held):
    """The second stop with nothing to do loads nothing but the interpreter's own modules and our two."""
    if held:
        (repo / ".agent-claim.json").write_bytes(held.to_json())
    settle(repo)
    assert "json" in imported(repo, "on-stop")
    loaded = imported(repo, "on-stop")
    assert "agent_sync" in loaded
    assert set() == loaded & FORBIDDEN
    bare = subprocess.run([sys.executable, "-X", "importtime", "-c", "pass"], capture_output=True, check=True)
    always = {line.rpartition("|")[2].strip().partition(".")[0] for line in bare.stderr.decode().splitlines()}
    assert {"agent_sync"} == loaded - always - {"imported package"}


def test_quiet_hook_writes_nothing(repo):
    """A quiet answer changes no file, not even a log."""
    settle(repo)
    run("on-stop", cwd=repo, stdin="{}")
    before = {path: path.stat().st_mtime_ns for path in repo.rglob("*")}
    run("on-stop", cwd=repo, stdin="{}")
    assert before == {path: path.stat().st_mtime_ns for path in repo.rglob("*")}


def test_no_repository_is_quiet(tmp_path):
    """Where there is no repository there is nothing to do, and nothing is left behind."""
    assert (run("on-stop", cwd=tmp_path, stdin="{}").status, "") == (0, "")
    assert list(tmp_path.iterdir()) == []


def test_nested_run_silences_every_hook(repo):
    """Inside a run that a gate started, every hook command is silent."""
    (repo / ".agent-claim.json").write_text("broken")
    for hook in COMMANDS:
        assert run(hook, cwd=repo, stdin="{}", AGENT_SYNC_NESTED="1").stdout == ""


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"{}", ""),
        (b' {"a": 1, "cwd": "/x y"} \n', "/x y"),
        (b'{"cwd":"/x","a":{"b":2}}', "/x"),
        ('{"cwd":"/ä"}'.encode(), "/ä"),
        (b'{"a":{"cwd":"/nested"}}', None),
        (b'{"a":"cwd","b":"/x"}', None),
        (b'{"cwd":"/x","cwd":"/y"}', None),
        (b'{"cwd":"/a\\u0041"}', None),
        (b'{"cwd":3}', None),
        (b'{"session_id":"x"}', None),
        (b'{"cwd":"/a\0b"}', None),
        (b"", None),
        (b"nonsense", None),
    ],
)
def test_cwd_is_read_only_where_it_is_plain(raw, expected):
    """The directory is taken from the input without parsing, or not at all."""
    assert expected == quiet.cwd_in(raw)


@dataclass
class Scene:
    """A world in which a hook has just run, and what may happen to it before the next one."""

    root: Path
    github: FakeGitHub = field(default_factory=FakeGitHub)

    def __post_init__(self):
        subprocess.run(["git", "init", "-q", "-b", "main", str(self.root)], check=True)
        (self.root / ".git" / "logs").mkdir(exist_ok=True)
        self.workshop = Workshop(self.root)
        self.workshop.github = self.github

    def fire(self, trigger):
        """Run every part of the hook in this process."""
        settle(self.root)
        context = self.workshop.new_context()
        seen = quiet.look(context.place, trigger)
        hook_run.answer_event(context, HookEvent(trigger, session_id="s"), seen=seen)

    def is_quiet(self, trigger):
        """Ask the stamp."""
        here = f'{{"cwd":"{self.root}"}}'.encode()
        return quiet.nothing_to_do(trigger, here)

    def would_do(self, trigger):
        """Say what a full run finds to do: calls to GitHub, sentences, changes of the claim."""
        before = self.workshop.context.store.file.read_bytes() if self.workshop.context.store.file.exists() else None
        self.github.calls.clear()
        context = self.workshop.new_context()
        parts = [
            hook_run.run_part(context, HookEvent(trigger, session_id="other"), part)
            for part in hook_run.participants(trigger)
        ]
        after = context.store.file.read_bytes() if context.store.file.exists() else None
        said = [(part.human, part.agent) for part in parts if part.human or part.agent or part.gate]
        return self.github.calls, said, list(context.outbox.waiting()), before != after


CLAIMS = st.one_of(
    st.none(),
    st.builds(
        claim,
        st.sampled_from(Phase),
        pr_number=st.sampled_from([None, 107]),
        status=st.sampled_from(["In Progress", "In Review"]),
        not_before=st.sampled_from([None, NOW.replace(year=2100), NOW.replace(year=2020)]),
        last_check_poll=st.sampled_from([None, NOW.replace(year=2020)]),
    ),
)
CHANGES = st.sampled_from(
    ["nothing", "remote", "rewrite", "delete", "settings", "notice", "head", "same size", "clock"]
)


def change(scene, what, held):
    """Do to the world what people, agents and time do."""
    store = scene.workshop.context.store
    match what:
        case "rewrite":
            store.file.write_bytes((held or claim(Phase.READY_FOR_PR)).to_json())
        case "same size" if store.file.exists():
            store.file.write_bytes(store.file.read_bytes().replace(b'"In Progress"', b'"In_Progress"'))
        case "delete":
            store.file.unlink(missing_ok=True)
        case "settings":
            (scene.root / ".agent-sync.toml").write_text("[notify]\nagent = 'later'\n")
        case "notice":
            scene.workshop.context.outbox.add([Notice("n", "hello")])
        case "remote":
            (scene.root / ".git" / "config").write_text("[remote]\n")
        case "head":
            (scene.root / ".git" / "HEAD").write_text("ref: refs/heads/other\n")
        case "clock":
            stamp = Path(hook_stamp(scene.workshop.context.place, "on-stop"))
            if stamp.exists():
                due, rest = stamp.read_text().split("\n", 1)
                stamp.write_text((due if due == quiet.NEVER else str(time.time() - 1)) + "\n" + rest)


# Every example has a repository of its own.
@(settings() if PROVE else settings(max_examples=20))
@given(CLAIMS, CLAIMS, CHANGES, st.sampled_from(COMMANDS))
def test_quiet_means_nothing_to_do(tmp_path_factory, held, later, what, trigger):
    """Whenever the stamp answers "nothing to do", a full run would have done and said nothing."""
    scene = Scene(tmp_path_factory.mktemp("scene"))
    scene.github.pulls.append(pull(state=PullState.MERGED))
    if held:
        scene.workshop.hold(held)
    scene.fire(trigger)
    change(scene, what, later)
    if scene.is_quiet(trigger):
        assert scene.would_do(trigger) == ([], [], [], False)


@pytest.mark.parametrize("trigger", [Trigger.STOP, Trigger.IDLE, Trigger.PROMPT, Trigger.TOOL])
def test_coding_becomes_quiet(tmp_path, trigger):
    """The property is not empty: a claim in step with its board is answered from the stamp."""
    scene = Scene(tmp_path)
    scene.workshop.hold(claim())
    assert not scene.is_quiet(trigger)
    scene.fire(trigger)
    assert scene.is_quiet(trigger)
    scene.workshop.hold(claim(summary="new"))
    assert not scene.is_quiet(trigger)


def test_stamp_is_not_left_for_files_still_warm(tmp_path):
    """A file written a moment ago could be written again within one clock tick: no stamp is left for it."""
    scene = Scene(tmp_path)
    scene.workshop.hold(claim())
    context = scene.workshop.new_context()
    future = time.time() + 60
    os.utime(context.store.file, (future, future))
    hook_run.answer_event(context, HookEvent(Trigger.STOP), seen=quiet.look(context.place, "on-stop"))
    assert not scene.is_quiet(Trigger.STOP)


@pytest.mark.parametrize("damage", ["", "never", "x\n", "\0\0\n\0", "1e999\n"])
def test_damaged_stamp_means_the_full_run(tmp_path, damage):
    """A stamp that cannot be read is no answer."""
    scene = Scene(tmp_path)
    scene.fire(Trigger.STOP)
    Path(hook_stamp(scene.workshop.context.place, "on-stop")).write_text(damage)
    assert not scene.is_quiet(Trigger.STOP)


def test_pause_ends_the_quiet(tmp_path):
    """A claim that GitHub asked to wait is quiet until that moment, and not a second longer."""
    scene = Scene(tmp_path)
    soon = datetime.now(UTC) + timedelta(hours=1)
    scene.workshop.hold(claim(Phase.READY_FOR_PR, not_before=soon))
    scene.fire(Trigger.STOP)
    scene.fire(Trigger.STOP)
    assert scene.is_quiet(Trigger.STOP)
    change(scene, "clock", None)
    assert not scene.is_quiet(Trigger.STOP)


def test_waiting_sentence_is_not_silenced(tmp_path):
    """A sentence that this event could not deliver keeps the next one from being answered by the stamp."""
    scene = Scene(tmp_path)
    scene.workshop.context.outbox.add([Notice("n", "for the agent", for_human=False, for_agent=True)])
    settle(scene.root)
    context = scene.workshop.new_context()
    event = HookEvent(Trigger.STOP, is_continuation=True)
    hook_run.answer_event(context, event, seen=quiet.look(context.place, "on-stop"))
    assert not scene.is_quiet(Trigger.STOP)


def test_reminder_is_due_in_every_session(tmp_path):
    """What is said once per session is never answered by a stamp, which knows no session."""
    scene = Scene(tmp_path)
    scene.workshop.hold(claim(Phase.MERGED_DETECTED, pr_number=107))
    scene.fire(Trigger.PROMPT)
    scene.fire(Trigger.PROMPT)
    assert not scene.is_quiet(Trigger.PROMPT)


def test_change_behind_a_link_is_seen(tmp_path):
    """A settings file that is a link to another place is watched there too."""
    target = tmp_path / "dotfile"
    target.write_text("a")
    link = tmp_path / "link"
    link.symlink_to(target)
    before = quiet.state_of(str(link))
    target.write_text("b longer")
    assert before != quiet.state_of(str(link))


def test_gone_reader_is_no_failure(repo):
    """A quick answer that nobody reads any more ends without a trace."""
    settle(repo)
    run("on-stop", cwd=repo, stdin="{}")
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [COMMAND, "gauntlet", "stop-hook"], cwd=repo, input=b"{}", stdout=writer, capture_output=False, check=False
    )
    os.close(writer)
    assert done.returncode == 0


def test_file_a_part_watches_ends_the_quiet(tmp_path):
    """A stamp holds for the further files a part has named, and no longer than they lie as it saw them."""
    scene = Scene(tmp_path)
    watched = tmp_path / "push.log"
    watched.write_text("one\n")
    settle(tmp_path)
    place = scene.workshop.context.place
    sight = quiet.sight_of([str(watched)])
    now = datetime.now(UTC)
    stamp.leave(place, "on-tool", stamp.WatchedFiles(quiet.look(place, "on-tool"), (sight,)), due=None, now=now)
    assert scene.is_quiet("on-tool")
    watched.write_text("one\ntwo\n")
    assert not scene.is_quiet("on-tool")


@pytest.mark.parametrize("has_record", [True, False])
def test_last_words_are_laid_by_where_a_task_is_recorded(tmp_path, has_record, monkeypatch):
    """A hook with nothing to do keeps its input for the recovery record, and writes nothing where there is none."""
    scene = Scene(tmp_path)
    place = scene.workshop.context.place
    Path(place.state_dir).mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path)
    if has_record:
        Path(record_pointer(place)).write_text("w/t")
    raw = f'{{"cwd":"{tmp_path}","last_assistant_message":"hello"}}'.encode()
    keep_input("on-stop", raw)
    spool = Path(spool_file(place, "on-stop"))
    assert (spool.read_bytes() == raw) if has_record else not spool.exists()


def test_renewal_ends_the_quiet(tmp_path):
    """A claim with a lease that was got here is quiet until a quarter of the lease's time has passed."""
    lease = {"where": "clone", "epoch": 1, "nonce": "n", "renewed_at": datetime.now(UTC), "ttl_s": 3.0}
    scene = Scene(tmp_path / "repo")
    store = scene.workshop.context.store
    with store.locked() as token:
        store.create(token, claim(lease=lease))
    scene.fire(Trigger.TOOL)
    assert scene.is_quiet(Trigger.TOOL)
    wait_until(lambda: not scene.is_quiet(Trigger.TOOL))
