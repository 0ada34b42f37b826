"""Writes on a pull request that is open: its text, whether it is a draft, and what settings ask for besides."""

from collections.abc import Callable, Mapping
from typing import Any

from agent_sync.errors import GitHubDown, MissingScope, NotFound, Refused
from agent_sync.gateway.transport.line import Call, Line
from agent_sync.gateway.transport.token import Area
from agent_sync.gateway.writes import TaskWrites, board_trouble, send_order
from agent_sync.system.masking import masked
from agent_sync.task.decision.actions import CardChange
from agent_sync.task.decision.facts import Pull
from agent_sync.task.decision.pull_orders import PullExtras, PullUpdate
from agent_sync.task.decision.pull_text import with_digests

# What is refused here says nothing about the pull request itself, which is open.
_REFUSALS = (MissingScope, NotFound, Refused)


class PullWrites(TaskWrites):
    """Orders about a pull request that is open."""

    def update_pull(self, pull: Pull, update: PullUpdate, change: CardChange | None) -> tuple[tuple[str, ...], str]:
        """Write title and body, make a draft ready and move the card, in one request; return what was refused."""
        title = masked(update.title)
        wants = {"retitle": update.retitle, "rewrite": update.rewrite, "ready": update.ready}
        texts = {"title": title, "body": with_digests(title, masked(update.body))}
        call = _call("update_pull", {"pull": pull.id, **texts, **wants}, f"updating pull request #{pull.number}")
        try:
            answer, trouble = send_order(self, call, change, is_needed=any(wants.values()))
        except _REFUSALS as refusal:
            return (f"PR #{pull.number} could not be updated: {refusal.happened}",), ""
        parts = {"title": "Its title", "body": "Its body", "ready": "That it is ready for review"}
        refused = ((said, answer.trouble_at(name)) for name, said in parts.items())
        notes = tuple(f"{said} could not be written: {part.message}" for said, part in refused if part)
        return notes, trouble or board_trouble(self, answer, change)

    def add_extras(self, pull: Pull, extras: PullExtras) -> tuple[str, ...]:
        """Ask for reviews, put labels on and order the merge: one request each; return what was refused."""
        orders: list[tuple[str, Callable[[], None]]] = []
        if extras.labels:
            orders.append((f"Labels {_listed(extras.labels)}", lambda: _label(self, pull, extras.labels)))
        if extras.reviewers:
            orders.append((f"Reviews by {_listed(extras.reviewers)}", lambda: _ask(self, pull, extras.reviewers)))
        if extras.auto_merge:
            orders.append(("Auto-merge", lambda: _order_merge(self, pull, extras.auto_merge)))
        return tuple(note for name, order in orders if (note := _attempt(name, order)))


def _attempt(name: str, order: Callable[[], None]) -> str:
    try:
        order()
    except (*_REFUSALS, GitHubDown) as error:
        return f"{name} could not be set: {error.happened}"
    return ""


def _label(line: Line, pull: Pull, labels: tuple[str, ...]) -> None:
    from agent_sync.gateway.transport.rest import Rest

    Rest(line).add_labels(pull.number, labels, _call("", {}, f"labelling pull request #{pull.number}"))


def _ask(line: Line, pull: Pull, reviewers: tuple[str, ...]) -> None:
    from agent_sync.gateway.transport.rest import Rest

    people = [name for name in reviewers if "/" not in name]
    teams = [name.rpartition("/")[2] for name in reviewers if "/" in name]
    call = _call("", {}, f"asking for reviews of pull request #{pull.number}")
    Rest(line).request_reviews(pull.number, people, teams, call)


def _order_merge(line: Line, pull: Pull, method: str) -> None:
    values = {"pull": pull.id, "method": method.upper(), "head": pull.head_sha}
    line.ask(_call("auto_merge", values, f"ordering the merge of pull request #{pull.number}"))


def _call(name: str, values: Mapping[str, Any], attempted: str) -> Call:
    return Call(name, dict(values), attempted, Area.PULLS, is_write=True)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names)
