"""`agent-sync ui`: what a person, another site and a hostile title meet at the page of the fleet."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from support.fleet_page import fleet_page

from agent_sync.fleet.web.actions import TaskAction, run_action
from agent_sync.fleet.web.door import HEADERS

TITLE = "<img src=x onerror=alert(1)> \x1b[31mred"


@pytest.fixture
def story(theatre):
    """Play a task up to a failed check and a review thread."""
    stage = theatre.stage
    stage.act("add_issue", title=TITLE, status="Todo")
    stage.command("claim", "42")
    stage.commit("cache.py", "LOCK = 1\n", "Lock the cache per key")
    stage.command("handoff", "--summary", "Fix the race")
    stage.act("add_check", pull=46, name="test", status="completed", conclusion="failure", log="one\ntwo failed\n")
    thread = {"path": "cache.py", "line": 1, "body": "Why <script>here</script>?"}
    stage.act("review", pull=46, by="mona", state="COMMENTED", body="See below.", threads=[thread])
    stage.command("sync")
    return stage


def test_page_says_what_the_command_says_to_nobody_else_and_brings_news(story):
    """Whoever has the link sees the fleet live until Ctrl-C; strangers get nothing, and the port is taken."""
    story.environment["AGENT_SYNC_CHECKS_BACKOFF_S"] = "1"
    with fleet_page(story) as page:
        page.enter()
        says_what_the_command_says(story, page)
        strangers_get_nothing(page)
        played = story.command("ui", "--no-open", "--port", str(page.port))
        assert played.status == 2
        assert f"Port {page.port} cannot be used" in played.stderr
        news_comes_by_itself_and_the_server_stops_at_once(story, page)


def says_what_the_command_says(story, page):
    """The page shows the same tasks, lanes, reasons and commands as `status --all`, and one task in full."""
    shown, said = page.values("fleet.json"), json.loads(story.command("status", "--all", "--json").stdout)
    task = page.values("task/42.json")
    for name in ("lane", "reason", "next", "situation", "title"):
        assert [row[name] for row in shown["tasks"]] == [row[name] for row in said["tasks"]]
    assert {"agent", "agent-sync", "GitHub"} <= {row["who"] for row in task["timeline"]}
    assert "committed: Lock the cache per key" in [row["text"] for row in task["timeline"]]
    assert task["logs"][0]["tail"].endswith("two failed")
    assert task["threads"][0]["remarks"][0]["body"] == "Why <script>here</script>?"
    assert "cache.py" in task["diffstat"]
    assert task["actions"] == []


def strangers_get_nothing(page):
    """Without the link there is no data on any address, and every answer carries every security header."""
    own, page.cookie = page.cookie, ""
    for path in (page.place, f"{page.place}fleet.json", f"{page.place}task/42.json", f"{page.place}events", "/"):
        answer = page.ask(path)
        assert (answer.status, b"race" in answer.read().lower()) == (403, False)
    assert page.ask("/enter?token=wrong").status == 403
    page.cookie = own
    statuses = {}
    for name, headers in STRANGE.items():
        answer = page.ask(f"{page.place}fleet.json", headers=headers)
        statuses[name] = answer.status
        assert {answer.headers[name] for name in HEADERS} == set(HEADERS.values())
    assert statuses == {"host": 421, "origin": 403, "site": 403, "own": 200}
    assert page.ask(f"{page.place}task/42/act", method="POST", body="{}").status == 405
    assert page.ask(f"{page.place}nothing.js").status == 404


STRANGE = {
    "host": {"Host": "evil.example"},
    "origin": {"Origin": "http://evil.example"},
    "site": {"Sec-Fetch-Site": "same-site"},
    "own": {"Sec-Fetch-Site": "same-origin"},
}


def news_comes_by_itself_and_the_server_stops_at_once(story, page):
    """A change reaches an open stream without a question, and Ctrl-C ends the server while streams are open."""
    stream = page.ask(f"{page.place}events")
    first = _event(stream)
    assert [row["issue"] for row in first["tasks"] if row["issue"] == 42]
    story.act("merge_pull", pull=46, method="squash")
    while (now := next(row for row in _event(stream)["tasks"] if row["issue"] == 42))["lane"] != "needs_you":
        pass
    assert now["next"] == "agent-sync done"
    assert page.stop() in {0, -2, 130}


def _event(stream):
    """Return the next view of a stream."""
    while not (line := stream.readline()).startswith(b"data: "):
        assert line, "the stream has ended"
    return json.loads(line[6:])


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="a process's CPU is read from /proc")
def test_an_open_page_without_news_costs_nothing(theatre):
    """While nothing happens the server sleeps, also where the backoff is set to nothing."""
    theatre.stage.environment["AGENT_SYNC_CHECKS_BACKOFF_S"] = "0"
    with fleet_page(theatre.stage) as page:
        page.enter()
        _event(page.ask(f"{page.place}events"))
        before = _cpu_ticks(page.process.pid)
        time.sleep(3)
        # A loop that spins takes most of these three seconds even on a busy machine; a tick is a hundredth.
        assert _cpu_ticks(page.process.pid) - before < 30


def _cpu_ticks(pid):
    """Return the CPU a process has used, in ticks."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_a_person_acts_once_from_the_page(story):
    """With --actions a confirmed button runs its command in the worktree, once, on what was shown, and no other code."""
    story.act("merge_pull", pull=46, method="squash")
    with fleet_page(story, "--actions") as page:
        page.enter()
        key = page.ask(f"{page.place}task/42").read().decode().partition('"action-key" content="')[2].partition('"')[0]
        task = page.values("task/42.json")
        assert "done" in [action["name"] for action in task["actions"]]
        headers = {
            "Content-Type": "application/json",
            "X-Agent-Sync-Key": key,
            "Origin": f"http://127.0.0.1:{page.port}",
        }
        wanted = {"action": "done", "version": task["version"], "once": "a1"}
        address = f"{page.place}task/42/act"
        stale = page.ask(address, method="POST", body=json.dumps(wanted | {"version": "x"}), headers=headers)
        assert stale.status == 409
        foreign = page.ask(
            address, method="POST", body=json.dumps(wanted), headers=headers | {"X-Agent-Sync-Key": "no"}
        )
        assert foreign.status == 403
        done = page.ask(address, method="POST", body=json.dumps(wanted), headers=headers)
        assert json.loads(done.read())["exit_code"] == 0
        again = page.ask(address, method="POST", body=json.dumps(wanted), headers=headers)
        assert again.status == 409
    issue = next(one for one in story.world()["issues"] if one["number"] == 42)
    assert issue["state"] == "closed"
    buttons_run_nothing_of_the_checkout(story)


def buttons_run_nothing_of_the_checkout(story):
    """A branch may bring modules with the names of ours or of the library: none of them is loaded."""
    marker = story.root / "loaded"
    for name in ("click.py", "json.py", "agent_sync.py"):
        (story.root / name).write_text(f"open({str(marker)!r}, 'w')\n")
    answer = run_action(TaskAction("status", "?", ("status", "--offline")), str(story.root), story.environment)
    assert (answer["exit_code"], marker.exists()) == (0, False), answer


def test_an_agent_gets_no_buttons(theatre):
    """Inside a session the page only shows: its buttons would be a person's consent."""
    inside = replace(theatre.stage, environment=theatre.stage.environment | {"CLAUDECODE": "1"})
    played = inside.command("ui", "--actions", "--no-open")
    assert played.status == 1
    assert played.stderr.startswith(
        "error[humans-only]: Only a human may have buttons on the page, and Claude Code runs"
    )
