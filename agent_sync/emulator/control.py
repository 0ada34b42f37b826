"""The control interface under `/_emulator/`: look at the world, act on it, order trouble."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agent_sync.emulator.acts.act import ImpossibleActError
from agent_sync.emulator.acts.perform import perform
from agent_sync.emulator.exchange import Answer, Asked, json_answer
from agent_sync.emulator.faults import FaultList, UnknownFaultError
from agent_sync.emulator.journal import Journal
from agent_sync.emulator.sender import is_cross_site, is_page_form
from agent_sync.emulator.state import snapshot
from agent_sync.emulator.world.bare import GitFailed
from agent_sync.emulator.world.refusal import Refused
from agent_sync.emulator.world.world import World

PREFIX = "/_emulator/"


@dataclass
class Control:
    """What the control interface steers."""

    world: World
    journal: Journal = field(default_factory=Journal)
    faults: FaultList = field(default_factory=FaultList)
    latency_s: float = 0.0

    def answer(self, asked: Asked) -> Answer:
        """Answer one control request."""
        if is_cross_site(asked.headers):
            return _failed(403, "requests of other sites are refused")
        name = asked.path.removeprefix(PREFIX)
        handler = HANDLERS.get((asked.method, name))
        if handler is None:
            known = ", ".join(f"{method} {PREFIX}{path}" for method, path in HANDLERS)
            return _failed(404, f"there is no {asked.method} {asked.path}; known: {known}")
        if is_page_form(asked.headers):
            return _failed(415, "the body must be JSON, sent as such")
        try:
            return handler(self, asked)
        except json.JSONDecodeError as error:
            return _failed(400, f"the body is not JSON: {error}")
        except Refused as refusal:
            return _failed(422, refusal.message)
        except (ImpossibleActError, UnknownFaultError, GitFailed, TypeError, ValueError) as error:
            return _failed(422, str(error))


def _failed(status: int, error: str) -> Answer:
    return json_answer(status, {"ok": False, "error": error})


def _object(asked: Asked) -> dict[str, Any]:
    body = asked.json()
    if not isinstance(body, dict):
        raise ImpossibleActError("the body must be a JSON object")
    return body


def _state(control: Control, _asked: Asked) -> Answer:
    with control.world.lock:
        return json_answer(200, snapshot(control.world))


def _requests(control: Control, asked: Asked) -> Answer:
    return json_answer(200, control.journal.entries(with_git=asked.query.get("git") == "1"))


def _forget_requests(control: Control, _asked: Asked) -> Answer:
    control.journal.clear()
    return json_answer(200, {"ok": True})


def _act(control: Control, asked: Asked) -> Answer:
    with control.world.lock:
        return json_answer(200, {"ok": True, **perform(control.world, _object(asked))})


def _faults(control: Control, _asked: Asked) -> Answer:
    return json_answer(200, control.faults.left())


def _add_fault(control: Control, asked: Asked) -> Answer:
    control.faults.add(_object(asked))
    return json_answer(200, {"ok": True})


def _forget_faults(control: Control, _asked: Asked) -> Answer:
    control.faults.clear()
    return json_answer(200, {"ok": True})


def _latency(control: Control, asked: Asked) -> Answer:
    control.latency_s = float(_object(asked).get("ms", 0)) / 1000
    return json_answer(200, {"ok": True})


def _clock(control: Control, asked: Asked) -> Answer:
    with control.world.lock:
        control.world.clock.advance(float(_object(asked).get("advance_s", 0)))
        return json_answer(200, {"ok": True, "now": control.world.clock.now().isoformat()})


HANDLERS: dict[tuple[str, str], Callable[[Control, Asked], Answer]] = {
    ("GET", "state"): _state,
    ("GET", "requests"): _requests,
    ("DELETE", "requests"): _forget_requests,
    ("POST", "act"): _act,
    ("GET", "faults"): _faults,
    ("POST", "faults"): _add_fault,
    ("DELETE", "faults"): _forget_faults,
    ("POST", "latency"): _latency,
    ("POST", "clock"): _clock,
}
