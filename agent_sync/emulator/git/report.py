"""The report at the end of a push, with GitHub's reasons in place of git's own."""

from agent_sync.emulator.git.commands import HEADER, packet

RESULT = b"\x01"
MESSAGE = b"\x02"
FLUSH = b"0000"
LARGEST = 65_515
DECLINED = (b"pre-receive hook declined", b"hook declined")


def with_reasons(body: bytes, reasons: dict[str, str]) -> bytes:
    """Return the answer to a push in which each declined ref has the reason its rule gives."""
    if not reasons:
        return body
    bands = list(_packets(body))
    report = b"".join(payload[1:] for payload in bands if payload[:1] == RESULT)
    others = b"".join(packet(payload) for payload in bands if payload[:1] not in {RESULT, b""})
    told = b"".join(packet(_reasoned(line, reasons)) for line in _packets(report)) + FLUSH
    parts = (told[start : start + LARGEST] for start in range(0, len(told), LARGEST))
    return others + b"".join(packet(RESULT + part) for part in parts) + FLUSH


def message_only(text: str) -> bytes:
    """Return an answer that says something and reports on no ref, as GitHub does when a policy refuses a push."""
    return packet(MESSAGE + text.encode() + b"\n") + FLUSH


def _packets(data: bytes) -> list[bytes]:
    """Return every packet; flushes separate nothing here."""
    found, place = [], 0
    while place + HEADER <= len(data):
        length = int(data[place : place + HEADER], 16)
        if length > HEADER:
            found.append(data[place + HEADER : place + length])
        place += max(length, HEADER)
    return found


def _reasoned(line: bytes, reasons: dict[str, str]) -> bytes:
    word, _, rest = line.rstrip(b"\n").partition(b" ")
    name, _, said = rest.partition(b" ")
    reason = reasons.get(name.decode("utf-8", "replace"))
    if word != b"ng" or said not in DECLINED or reason is None:
        return line
    return b"ng " + name + b" " + reason.encode() + b"\n"
