"""A model whose answers are written down beforehand: the Messages API on loopback, with a log of all it was asked."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

from model_request import ModelRequest

Block = dict[str, Any]
Turn = Sequence[Block] | Callable[[ModelRequest], Sequence[Block]]
_NUMBERS = count(1)


def say(text: str) -> Block:
    """Return a block in which the model says something."""
    return {"type": "text", "text": text}


def call(name: str, **given: Any) -> Block:
    """Return a block in which the model calls a tool."""
    return {"type": "tool_use", "id": f"toolu_{next(_NUMBERS):020}", "name": name, "input": given}


def bash(command: str, **given: Any) -> Block:
    """Return a block in which the model runs a command."""
    return call("Bash", command=command, description="run a command", **given)


@dataclass(repr=False)
class ScriptedModel:
    """What the model will answer, turn by turn, and what it was asked.

    A conversation plays the script whose key stands in its first message; every other one plays the script named "".
    An exhausted script says "Done.". Requests without tools (a title, a summary) are not part of any script.
    """

    scripts: dict[str, list[Turn]] = field(default_factory=dict)
    requests: list[ModelRequest] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    url: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def plays(self, *turns: Turn, key: str = "") -> None:
        """Replace what is left of a script."""
        with self._lock:
            self.scripts[key] = list(turns)

    def answer(self, request: ModelRequest) -> Sequence[Block]:
        """Note a request and return the blocks of the next turn."""
        with self._lock:
            self.requests.append(request)
            if not request.has_tools:
                return [say("A summary.")]
            first = request.first_message
            key = next((key for key in self.scripts if key and key in first), "")
            script = self.scripts.get(key) or []
            turn = script.pop(0) if script else [say("Done.")]
        return turn(request) if callable(turn) else turn

    @property
    def turns(self) -> list[ModelRequest]:
        """The requests of conversations, without those for titles and summaries."""
        return [request for request in list(self.requests) if request.has_tools]


@contextmanager
def running_model() -> Iterator[ScriptedModel]:
    """Serve a scripted model for as long as the context lasts."""
    model = ScriptedModel()

    class Handler(_Handler):
        scripted = model

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    scripted: ScriptedModel
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        path = self.path.partition("?")[0]
        if path == "/v1/messages":
            self._message(body)
        elif path == "/v1/messages/count_tokens":
            self._send_json({"input_tokens": len(json.dumps(body)) // 4})
        else:
            self._unknown()

    def do_GET(self) -> None:
        if self.path.startswith("/v1/models"):
            self._send_json({"data": [], "has_more": False, "first_id": None, "last_id": None})
        else:
            self._unknown()

    def do_HEAD(self) -> None:
        self.scripted.others.append(f"HEAD {self.path}")
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Keep quiet: the log is in the model."""

    def _unknown(self) -> None:
        self.scripted.others.append(f"{self.command} {self.path}")
        self._send_json({"type": "error", "error": {"type": "not_found_error", "message": "unknown"}}, status=404)

    def _message(self, body: dict[str, Any]) -> None:
        blocks = self.scripted.answer(ModelRequest(body))
        message = _message_of(body, blocks)
        if not body.get("stream"):
            self._send_json(message)
            return
        events = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _events(message))
        self._send(events.encode(), "text/event-stream")

    def _send_json(self, values: dict[str, Any], status: int = 200) -> None:
        self._send(json.dumps(values).encode(), "application/json", status)

    def _send(self, content: bytes, kind: str, status: int = 200) -> None:
        try:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError):
            # The client was killed while it waited.
            self.close_connection = True


def _message_of(body: dict[str, Any], blocks: Sequence[Block]) -> dict[str, Any]:
    calls = any(block["type"] == "tool_use" for block in blocks)
    return {
        "id": f"msg_{next(_NUMBERS):020}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "scripted"),
        "content": list(blocks),
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": len(json.dumps(body)) // 4, "output_tokens": 10},
    }


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Tell a message in the pieces in which it is streamed."""
    yield {"type": "message_start", "message": message | {"content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            start, delta = block | {"text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = block | {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 10}}
    yield {"type": "message_stop"}
