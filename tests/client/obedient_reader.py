"""An agent that does literally what HOOK.md says, with the rules that `init` writes, and what must not come of it."""

import json
import re
import subprocess
from dataclasses import dataclass
from typing import Any

from claude_code import ClaudeCode
from model_request import ModelRequest
from scenes import ISSUE, hook_md
from scripted_model import Block, bash, say

_TYPED = re.compile(r"`((?:agent-sync|git) [^`]+)`")
_MOST_ORDERS = 12


@dataclass(frozen=True)
class Obeyed:
    """A session that has obeyed: what it was told before its first request, what it ran, and what was there before."""

    told: str
    ran: list[str]
    client: ClaudeCode
    before: "Standing"

    @property
    def damage(self) -> list[str]:
        """What finished work was repeated, and what of others was touched."""
        before, after = self.before, standing(self.client)
        found = {
            "others": after.others != before.others,
            "commits": after.commits != before.commits,
            "pull requests": bool(before.pulls) and after.pulls != before.pulls,
            "finished steps": not before.finished.items() <= after.finished.items(),
        }
        return [name for name, is_damaged in found.items() if is_damaged]

    @property
    def receipts(self) -> list[tuple[str, int]]:
        """The commands that receipts were signed for, with the exit code they vouch for."""
        return [(one["command"], one["exit_code"]) for one in _record(self.client)["receipts"]]


@dataclass(frozen=True)
class Standing:
    """What an obedient reader may not change."""

    others: dict[str, list[Any]]
    pulls: list[int]
    commits: list[str]
    finished: dict[str, int]


def obeys(client: ClaudeCode, prompt: str = "continue please") -> Obeyed:
    """Let the next session read HOOK.md and run, one after the other, every command it names in what to do."""
    before, ran = standing(client), list[str]()
    left: list[str] | None = None

    def turn(request: ModelRequest) -> list[Block]:
        nonlocal left
        left = orders(request.text) if left is None else left
        if not left:
            return [say("I go on.")]
        ran.append(left.pop(0))
        return [bash(ran[-1])]

    client.model.plays([bash(f"cat {hook_md(client)}")], *[turn] * _MOST_ORDERS)
    run = client.ask(prompt, allowed=())
    return Obeyed(run.requests[0].briefing, ran, client, before)


def orders(text: str) -> list[str]:
    """Return the commands in what HOOK.md says to do, as they are copied from there, up to where it says to stop."""
    section = text.rpartition("## What To Do Now")[2].partition("### ❌ DO NOT")[0].partition("do nothing else")[0]
    return [typed.replace("TEXT", "'Guard the cache'") for typed in dict.fromkeys(_TYPED.findall(section))]


def standing(client: ClaudeCode) -> Standing:
    """Return what is there of others on GitHub, and what of the task is finished."""
    world, record = client.stage.world(), _record(client)
    own = (f"refs/agentsync/claims/{ISSUE}", f"refs/heads/{record['branch']}", "refs/pull/")
    others = {
        "issues": [one for one in world["issues"] if one["number"] != ISSUE],
        "items": [one for one in world["items"] if one["issue"] != ISSUE],
        "refs": [one for one in world["refs"] if not one["name"].startswith(own)],
    }
    log = ["git", "log", "--format=%H %s"]
    commits = subprocess.run(
        log, cwd=client.stage.root, env=client.environment, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    finished = {step["name"]: step["attempts"] for step in record["steps"] if step["status"] == "completed"}
    return Standing(others, [pull["number"] for pull in world["pulls"]], commits, finished)


def _record(client: ClaudeCode) -> dict[str, Any]:
    return dict(json.loads(hook_md(client).with_name("hook.json").read_text(encoding="utf-8")))
