"""The ledger, from the histories of hooks."""

from dataclasses import replace

from support.work_hooks import MINUTE, NOW, WORKER, complete, failed, handed_off, holding, slung, started

from agent_sync.task.decision.tasks import Convoy
from agent_sync.work.hook import moves
from agent_sync.work.hook.attempts import merged_attempts, reason_to_escalate
from agent_sync.work.hook.model import AttemptEnding
from agent_sync.work.hook.names import WorkerName
from agent_sync.work.hook.view import HookCommit
from agent_sync.work.ledger_rows import convoy_rows, evidence_rows, task_rows, unreadable_commits


def history(*hooks, worker=WORKER, start=0):
    """Return hooks as the commits of one chain, a minute apart."""
    return [
        HookCommit(worker, f"{place:040x}", (NOW + place * MINUTE).isoformat(), f"Event {place}", hook)
        for place, hook in enumerate(hooks, start=start)
    ]


def test_no_event_is_lost():
    """Every commit is an event of its task, clearing and damage included."""
    cleared = moves.after_clear(complete(), NOW, "x").hook
    chain = history(slung(), started(), handed_off(), None, complete(), cleared)
    (row,) = task_rows(chain)
    assert [event["event"] for event in row["events"]] == [f"Event {place}" for place in range(6)]
    assert [event["state"] for event in row["events"]][3] == "UNREADABLE"
    assert [entry.sha for entry in unreadable_commits(chain)] == [chain[3].sha]
    assert (row["status"], row["hook_status"], row["assignee"]) == ("closed", "COMPLETE", "main/w1")
    assert (row["title"], row["external_ref"]) == ("Fix it", "gh-42")
    assert [one["resume_point"] for one in row["handoffs"]] == ["write the test"]


def test_tasks_follow_each_other_on_one_hook():
    """A hook's history holds many tasks, each with its own events."""
    rows = task_rows(history(slung(43), started(43), complete(43), slung(9), started(9)))
    assert [(row["id"], len(row["events"]), row["status"]) for row in rows] == [
        ("issue-9", 2, "in_progress"),
        ("issue-43", 3, "closed"),
    ]


def test_attempts_on_several_hooks_are_counted_together():
    """A task that failed on one hook and is tried on another has two attempts."""
    other = WorkerName("docs", "w2")
    again = moves.after_start(slung(), holding(), NOW + 9 * MINUTE, is_resumed=False).hook
    chain = history(slung(), started(), failed()) + history(slung(), again, worker=other, start=9)
    (row,) = task_rows(chain)
    assert [(one["number"], one.get("outcome", "running")) for one in row["attempts"]] == [
        (1, "failed"),
        (2, "running"),
    ]


def test_evidence_is_listed_once_and_checked():
    """Each result is one row, however long it hangs there; a forged one is marked."""
    good, hook = complete(), failed()
    forged = replace(good, result=good.result.model_copy(update={"output": {"patch": "forged"}}))
    rows = evidence_rows(history(good, good, hook))
    assert [(row["taskId"], row["status"], row["verified"]) for row in rows] == [
        ("issue-42", "COMPLETE", True),
        ("issue-42", "FAILED", True),
    ]
    (row,) = evidence_rows(history(forged))
    assert (row["verified"], row["disagreements"]) == (False, ["the output hash does not match the output"])


def test_convoy_knows_its_issues():
    """A convoy lists GitHub's sub-issues and the tasks that hung on hooks."""
    tasks = task_rows(history(slung(42, id="convoy-7.42", convoy_id="convoy-7")))
    (row,) = convoy_rows(tasks, [Convoy(7, "Speed", is_open=True, children=((42, "a", True), (43, "b", False)))])
    assert (row["title"], row["tracks"], row["tasks"]) == ("Speed", ["gh-42", "gh-43"], ["convoy-7.42"])
    assert row["progress"] == {"closed": 1, "total": 2}
    foreign = (("acme/web#42", "c", True),)
    (shared,) = convoy_rows(tasks, [Convoy(7, "Speed", is_open=True, children=((42, "a", True),), foreign=foreign)])
    assert (shared["tracks"], shared["progress"]["total"]) == (["acme/web#42", "gh-42"], 2)
    (alone,) = convoy_rows(tasks, [])
    assert (alone["id"], alone["tracks"], alone["status"]) == ("convoy-7", ["gh-42"], "open")


def test_third_failure_asks_a_human():
    """Three tries that came to nothing, or one that failed for good, are a human's business."""
    one = failed().attempts[0]
    tries = [one.model_copy(update={"started": NOW + place * MINUTE}) for place in range(3)]
    assert reason_to_escalate(merged_attempts([tries[:2]], "issue-42"), "issue-42") == ""
    assert reason_to_escalate(merged_attempts([tries], "issue-42"), "issue-42") == "3 attempts have failed"
    assert "for good" in reason_to_escalate(failed(recoverable=False).attempts, "issue-42")
    running = one.model_copy(update={"outcome": AttemptEnding.RUNNING, "error": None})
    assert merged_attempts([[one], [running]], "issue-42") == (one,)
