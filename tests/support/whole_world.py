"""What must be true of the world when a whole task is over, however it went: nothing gone, nothing there twice."""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field

from support.whole_task import PULL, Play

from agent_sync.record.disk.store import RecordStore
from agent_sync.record.machine.states import RecordState
from agent_sync.record.receipts.integrity import Intact

# Each of these must have reached a reader at least once.
TOLD = {
    "that the PR is open": re.compile(rf"PR #{PULL} (created|already exists|is open)"),
    "that CI failed": re.compile(r"FAILED"),
    "that the PR is merged": re.compile(rf"PR #{PULL} (is )?merged"),
    "that the issue is closed": re.compile(r"[Ii]ssue #42 (is |was )?(already )?closed"),
}
EVENTS = ["Sling issue-42 to main/w1", "Start issue-42", "Complete issue-42"]


@dataclass
class Findings:
    """What is gone, and what is there twice."""

    lost: list[str] = field(default_factory=list)
    duplicated: list[str] = field(default_factory=list)

    def expect_one(self, found: int, what: str) -> None:
        """Note what is not there exactly once."""
        if found > 1:
            self.duplicated.append(f"{found} {what}")
        elif not found:
            self.lost.append(f"no {what}")

    def expect(self, is_so: object, otherwise: str) -> None:
        """Note something that is not as it should be."""
        if not is_so:
            self.lost.append(otherwise)


def findings(play: Play) -> Findings:
    """Look at GitHub, the clone and the record after the last event."""
    found = Findings()
    play.theatre.git("fetch", "-q", "origin", "+refs/agentsync/*:refs/proof/*", "+refs/heads/*:refs/remotes/origin/*")
    for look in (_on_github, _on_refs, _in_the_clone, _in_the_record):
        try:
            look(play, found)
        except (subprocess.CalledProcessError, OSError, ValueError, KeyError) as error:
            # What cannot even be looked at is not there as it should be.
            found.lost.append(f"{look.__name__.strip('_').replace('_', ' ')}: {error}")
    told = "\n".join(play.told)
    for what, words in TOLD.items():
        found.expect(words.search(told), f"nobody was told {what}")
    return found


def _on_github(play: Play, found: Findings) -> None:
    theatre = play.theatre
    found.expect_one(len(theatre.pulls()), "pull request")
    found.expect_one(len(theatre.comments()), "closing comment")
    issue, card = theatre.issue(), theatre.card()
    found.expect(issue["state"] == "closed", f"the issue is {issue['state']}")
    found.expect_one(len(issue["assignees"]), "assignee")
    found.expect(card == {"Status": "Done", "Priority": "P1"}, f"the card shows {card}")
    on_main = set(theatre.git("log", "--format=%s", "origin/main").splitlines())
    found.expect({"Fix", "Mend"} <= on_main, f"origin/main has only {sorted(on_main)}")


def _on_refs(play: Play, found: Findings) -> None:
    theatre = play.theatre
    lease = json.loads(theatre.git("show", "refs/proof/claims/42:claim.json"))
    found.expect(lease["state"] == "done", f"the lease is {lease['state']}")
    events = list(_events(play))
    found.expect(events == EVENTS, f"the work hook has {events}")
    shown = json.loads(theatre.stage.run("worker", "show", "w1", "--json", stdin="")[1])
    found.expect(shown["status"]["status"] == "COMPLETE", f"the work hook is {shown['status']['status']}")
    found.expect(shown["verified"], "the evidence of the work hook does not fit")


def _events(play: Play) -> Iterator[str]:
    _, stdout, _ = play.stage.run("ledger", "--format", "jsonl", stdin="")
    for line in stdout.splitlines():
        yield from (event["event"] for event in json.loads(line)["events"])


def _in_the_clone(play: Play, found: Findings) -> None:
    root, theatre = play.stage.root, play.theatre
    found.expect(play.stage.claim() is None, "the claim file is still there")
    found.expect(play.litter() == [], f"temporaries are left: {[path.name for path in play.litter()]}")
    found.expect((root / "notes.txt").read_text() == "my own notes\n", "an ignored file has changed")
    found.expect(theatre.git("log", "-1", "--format=%s", "mine") == "Unpushed work of mine", "a branch has moved")
    status = theatre.git("status", "--porcelain")
    found.expect(status == "", f"the worktree is not clean: {status}")
    found.expect(not list((root / ".git").glob("*.lock")), "git is locked")
    intents = list((root / ".git" / "agentsync" / "intents").glob("*.json"))
    found.expect(not intents, f"intents are left: {[path.name for path in intents]}")
    stashes = theatre.git("stash", "list").splitlines()
    found.expect_one(len(stashes), "stash")
    found.expect(not stashes or theatre.git("show", "stash@{0}^3:half.txt") == "half done", "the stash has changed")


def _in_the_record(play: Play, found: Findings) -> None:
    directories = [file.parent for file in play.home.rglob("hook.json")]
    found.expect_one(len(directories), "recovery record")
    for directory in directories:
        store = RecordStore(directory)
        record = store.read()
        if record is None:
            found.lost.append("the record cannot be read")
            continue
        found.expect(record.state is RecordState.COMPLETED, f"the record is {record.state}")
        found.expect(store.integrity(record) == Intact(), f"the record is not whole: {store.integrity(record)}")
        found.expect(not store.damaged_copies(), "the record was damaged")
        commits = set(play.theatre.git("log", "--format=%H", "--grep=^Fix$", "--grep=^Mend$", "origin/main").split())
        seen = {checkpoint.git_commit for checkpoint in record.checkpoints}
        found.expect(commits <= seen, "a commit is not in the record")
        for receipt in sorted((directory / "artifacts").glob("rcpt-*.json")):
            status, stdout, stderr = play.stage.run("record", "verify", str(receipt), stdin="")
            found.expect(status == 0, f"{receipt.name} does not verify: {stdout}{stderr}")
