"""Why checks failed: the end of the failing step, the same failure again, and what looks like infrastructure."""

from dataclasses import replace

from hypothesis import given, strategies as st
from support.claims import NOW, claim
from support.github import pull

from agent_sync.settings import Settings
from agent_sync.task.claim.model import FailuresSeen
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision import actions as a
from agent_sync.task.decision.decide import decide
from agent_sync.task.decision.evolve import evolve, report
from agent_sync.task.decision.facts import Facts, Trigger
from agent_sync.task.decision.feedback.checks import CheckRun
from agent_sync.task.decision.feedback.feedback_actions import JobsRerun, RerunJobs
from agent_sync.task.decision.needs import AskFailures, needs
from agent_sync.task.failures.failure import Failure, fingerprint_of
from agent_sync.task.failures.infrastructure import PATTERNS, infrastructure_pattern
from agent_sync.task.failures.log_text import LONGEST_LINE, TAIL_LINES, failing_tail, log_lines

LOG = (
    "2026-11-17T10:00:00.1234567Z ##[group]Run actions/checkout@v4\n"
    "2026-11-17T10:00:00.1234567Z ##[endgroup]\n"
    "2026-11-17T10:00:01.1234567Z done\n"
    "2026-11-17T10:00:02.1234567Z ##[group]Run make test\n"
    "2026-11-17T10:00:02.1234567Z ##[endgroup]\n"
    "2026-11-17T10:00:03.1234567Z 10%\r50%\r100%\n"
    "2026-11-17T10:00:03.1234567Z \x1b[31mE  assert 1 == 2\x1b[0m\n"
    "2026-11-17T10:00:03.1234567Z ##[error]Process completed with exit code 1.\n"
    "2026-11-17T10:00:04.1234567Z Post job cleanup.\n"
    "2026-11-17T10:00:05.1234567Z ##[group]Run upload logs\n"
    "2026-11-17T10:00:05.1234567Z uploaded\n"
)


def test_the_end_of_the_failing_step():
    """The section with the error, without what follows it, time stamps, escape codes and overwritten progress."""
    expected = ("Run make test", "100%", "E  assert 1 == 2", "error: Process completed with exit code 1.")
    assert failing_tail(log_lines(LOG), "Test") == expected
    assert failing_tail(log_lines(LOG), "upload logs") == ("Run upload logs", "uploaded")


def test_a_log_without_sections_is_shown_from_its_end():
    """Without any marks the last lines are shown, none of them too long."""
    lines = failing_tail(log_lines("\n".join([*(f"line {n}" for n in range(500)), "x" * 9000])), "")
    assert (len(lines), lines[0], len(lines[-1])) == (TAIL_LINES, "line 441", LONGEST_LINE)
    assert failing_tail(log_lines(""), "x") == ()


@given(
    st.text(st.characters(codec="utf-8") | st.sampled_from("\x1b\r\n\u202e\u200b#[]m"), max_size=400),
    st.text(max_size=9),
)
def test_any_log_becomes_harmless_lines(log, step):
    """Whatever a job prints: no control or invisible character is left, and no line is too long."""
    tail = failing_tail(log_lines("##[group]Run x\n" + log), step)
    assert all(len(line) <= LONGEST_LINE and not set(line) & set("\x1b\r\n\u202e\u200b\x07") for line in tail)


EXAMPLES = {
    "runner lost": "The self-hosted runner lost communication with the server.",
    "runner lacks space": "OSError: [Errno 28] No space left on device",
    "job was not picked up": "The job was not acquired by Runner of type hosted even after multiple attempts",
    "GitHub had trouble": "remote: Internal Server Error",
    "download failed": "fatal: early EOF",
    "network failed": "npm ERR! code ECONNRESET",
    "registry failed": "toomanyrequests: You have reached your pull rate limit",
}


def test_infrastructure_is_known_by_name():
    """Each pattern has an example; a failing test is none of them."""
    assert {infrastructure_pattern((text,)) for text in EXAMPLES.values()} == set(PATTERNS) == set(EXAMPLES)
    hosted = "The hosted runner: GitHub Actions 8 lost communication with the server."
    assert infrastructure_pattern((hosted,)) == "runner lost"
    assert infrastructure_pattern(("E   assert 1 == 2", "FAILED tests/test_a.py::test_timeout")) == ""


def test_the_same_failure_has_the_same_fingerprint():
    """Times, numbers and hashes do not make a failure another one; another step or text does."""
    first = Failure("test", step="s", tail=("E at 0x7f01 in 1.23s", "commit abcdef1234"))
    again = Failure("test", step="s", tail=("E at 0x8a22 in 9.01s", "commit 1234abcdef"))
    assert fingerprint_of((first,), ("test",)) == fingerprint_of((again,), ("test",))
    assert fingerprint_of((first,), ("test",)) != fingerprint_of((Failure("test", step="t"),), ("test",))
    assert fingerprint_of((), ("a",)) != fingerprint_of((), ("b",))


URL = "https://github.com/octo/demo/actions/runs/5/job/7"
FAILED = CheckRun("test", "FAILURE", "CI", "1", "pull_request", URL)
OPEN = claim(Phase.PR_CREATED, pr_number=107, status="In Review", last_synced_status="In Review")
REAL = Failure("test", URL, "Run tests", (), ("E  assert 1 == 2",), 1)
FLAKY = Failure("test", URL, "Install", (), ("ECONNRESET",), 1, infrastructure="network failed")


def facts(*failures, checks=(FAILED,), sha="a" * 40):
    """Return a look at failing checks, with what was read of them."""
    seen = replace(pull(checks=checks), head_sha=sha)
    return Facts(NOW, Settings(), pull=seen, failures=failures or None, is_head_here=True, is_ahead=False)


def test_a_failure_is_looked_into_once():
    """The logs are asked for when runs have failed that were not looked into, unless that is off."""
    assert needs(Trigger.REWAKE, OPEN, facts()) == (AskFailures("a" * 40, (FAILED,)),)
    assert needs(Trigger.REWAKE, OPEN, facts(REAL)) == ()
    known = OPEN.model_copy(
        update={"failures": FailuresSeen(sha="a" * 40, runs=("test@1",), fingerprint="f", rounds=1)}
    )
    assert needs(Trigger.REWAKE, known, facts()) == ()


def test_logs_can_be_left_alone():
    """With `checks.logs = false` nothing is asked."""
    off = replace(facts(), settings=Settings.model_validate({"checks": {"logs": False}}))
    assert needs(Trigger.REWAKE, OPEN, off) == ()


def test_infrastructure_is_run_again_once_for_each_commit():
    """All failed jobs must look like it, nothing may run any more, and it was not done before."""
    assert [type(action) for action in decide(Trigger.REWAKE, OPEN, facts(FLAKY))] == [RerunJobs]
    done = evolve(OPEN, JobsRerun(pull(), ("test",), "network failed"))
    assert [type(action) for action in decide(Trigger.REWAKE, done, facts(FLAKY))] == [a.RecordOutcome]
    assert [type(action) for action in decide(Trigger.REWAKE, done, facts(FLAKY, sha="b" * 40))] == [RerunJobs]
    mixed = facts(FLAKY, REAL, checks=(FAILED, CheckRun("lint", "FAILURE")))
    assert [type(action) for action in decide(Trigger.REWAKE, OPEN, mixed)] == [a.RecordOutcome]


def test_a_failure_that_may_be_rerun_is_held_back_while_others_run():
    """While other checks run nothing can be run again, and nothing is said of the failure yet."""
    (held,) = decide(Trigger.REWAKE, OPEN, facts(FLAKY, checks=(FAILED, CheckRun("slow", "QUEUED"))))
    assert held.outcome.is_held
    assert report(Trigger.REWAKE, OPEN, held.outcome, facts()) == ()


def unsettled(held, *failures, sha="a" * 40):
    """Return the outcome of a look at failing checks."""
    (action,) = decide(Trigger.REWAKE, held, facts(*failures, sha=sha))
    return action.outcome


def test_rounds_without_progress_end_in_a_question():
    """The same failure on every commit wakes twice and then asks a human; another failure starts anew."""
    held, woke = OPEN, []
    for sha in "abc":
        outcome = unsettled(held, REAL, sha=sha * 40)
        said = report(Trigger.REWAKE, held, outcome, facts())
        woke.append((any(notice.wakes for notice in said), len(said)))
        held = evolve(held, outcome)
    assert woke == [(True, 2), (True, 1), (False, 1)]
    assert held.failures.is_stuck
    other = Failure("test", URL, "Run tests", (), ("E  another thing",), 1)
    assert evolve(held, unsettled(held, other, sha="d" * 40)).failures.rounds == 1
