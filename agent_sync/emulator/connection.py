"""Sending an answer, sending half of one, and cutting the connection instead."""

import socket
import struct

from starlette.types import Receive, Send

from agent_sync.emulator.exchange import Answer

NO_LINGER = struct.pack("ii", 1, 0)


async def send_answer(send: Send, answer: Answer) -> None:
    """Send a whole answer."""
    await _send_head(send, answer)
    await send({"type": "http.response.body", "body": answer.body})


async def send_half(receive: Receive, send: Send, answer: Answer) -> None:
    """Promise a whole answer, send half of its body, and hang up."""
    await _send_head(send, answer)
    half = answer.body[: len(answer.body) // 2]
    await send({"type": "http.response.body", "body": half, "more_body": True})
    transport = send.__self__.transport  # type: ignore[attr-defined] # the server's request cycle
    transport.close()
    await _gone(receive)


async def cut(receive: Receive, send: Send) -> None:
    """Reset the connection without an answer, as a dying proxy does.

    ASGI has no message for this; `send` is bound to the server's request cycle, which knows its transport.
    """
    transport = send.__self__.transport  # type: ignore[attr-defined] # see above
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
    transport.abort()
    await _gone(receive)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send_head(send: Send, answer: Answer) -> None:
    headers = {"content-length": str(len(answer.body)), **answer.headers}
    if answer.status in {204, 304}:
        del headers["content-length"]
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": raw})
