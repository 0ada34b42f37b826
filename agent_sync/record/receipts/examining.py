"""Finds a receipt by its id, and examines it with all that vouches for it: signature, history, copies and output."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_sync.errors import BadReceipt, BadRecord
from agent_sync.record.disk.derived import ARTIFACTS
from agent_sync.record.disk.recorder import Kept
from agent_sync.record.machine.model import Event
from agent_sync.record.machine.states import Move
from agent_sync.record.receipts.canonical import NotCanonical, canonical
from agent_sync.record.receipts.integrity import BrokenAt
from agent_sync.record.receipts.proof import judged
from agent_sync.record.receipts.receipt import Receipt, from_values
from agent_sync.system import files
from agent_sync.system.json_reading import read_json

if TYPE_CHECKING:
    from agent_sync.record.receipts.signing import Verdict

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LARGEST_COPY = 1 << 20


def found_receipt(receipt_id: str, records: Iterable[Kept]) -> tuple[Kept, Receipt] | None:
    """Return the first receipt of this name, in the order of the records; old ones are in a file of their own."""
    if not _NAME.fullmatch(receipt_id):
        return None
    for kept in records:
        listed = next((one for one in kept[1].receipts if one.receipt_id == receipt_id), None)
        receipt = listed or _copy(kept, receipt_id)
        if receipt:
            return kept, receipt
    return None


def examined(kept: Kept, receipt: Receipt, environment: Mapping[str, str]) -> "Verdict":
    """Return what a receipt is worth: a signature that holds, told by the history, with the output it is about."""
    from agent_sync.record.receipts.signing import Invalid, Valid

    verdict = judged(receipt, kept[1], environment)
    if not isinstance(verdict, Valid):
        return verdict
    reason = _untold(kept, receipt) or _altered_copy(kept, receipt) or _altered_output(kept, receipt)
    return Invalid(reason) if reason else verdict


def _copy(kept: Kept, receipt_id: str) -> Receipt | None:
    content = _content(kept[0].directory / ARTIFACTS / f"{receipt_id}.json")
    if content is None:
        return None
    try:
        return from_values(read_json(content))
    except ValueError as error:
        raise BadReceipt(f"The copy of {receipt_id} is not JSON.", attempted="reading a receipt") from error


def _untold(kept: Kept, receipt: Receipt) -> str:
    """Say in which way the history does not vouch for the receipt."""
    store, record = kept
    told = [event for event in (*store.archived(), *record.history) if _tells_of(event, receipt)]
    if not told:
        return "it is not in the history"
    broken = store.integrity(record)
    if isinstance(broken, BrokenAt) and broken.seq <= told[-1].seq:
        return f"the history is broken at event {broken.seq}"
    try:
        own = hashlib.sha256(canonical(receipt.model_dump(mode="json"))).hexdigest()
    except NotCanonical as error:
        return str(error)
    return "" if told[-1].details.get("digest") == own else "it differs from the one in the history"


def _tells_of(event: Event, receipt: Receipt) -> bool:
    return event.trigger is Move.RECEIPT and event.details.get("receipt_id") == receipt.receipt_id


def _altered_copy(kept: Kept, receipt: Receipt) -> str:
    try:
        copy = _copy(kept, receipt.receipt_id)
    except BadReceipt:
        return "its copy among the artifacts is not a receipt any more"
    return "its copy among the artifacts was changed" if copy and copy != receipt else ""


def _altered_output(kept: Kept, receipt: Receipt) -> str:
    """Say which output is not the one that was signed; where none is kept there is nothing to compare."""
    for ending, signed in (("stdout", receipt.stdout_hash), ("stderr", receipt.stderr_hash)):
        file = kept[0].directory / ARTIFACTS / f"{receipt.receipt_id}.{ending}"
        if file.is_file() and not file.is_symlink() and _hash(file) != signed:
            return f"the {ending} that was kept is not what the command wrote"
    return ""


def _hash(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _content(file: Path) -> bytes | None:
    try:
        return files.read_own(file, largest=_LARGEST_COPY)
    except (files.NotPlain, OSError) as error:
        raise BadRecord(f"{file} cannot be read: {error}.", attempted="looking for a receipt") from error
