"""Verifies receipts: their signatures, and for one receipt also the history, the copies and the output."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from agent_sync.errors import BadKey, BadReceipt, BadRecord
from agent_sync.lazy_patterns import pattern
from agent_sync.plain.json_reading import NotCanonical, canonical, read_json
from agent_sync.record.disk.contents import ARTIFACTS
from agent_sync.record.disk.store import OpenRecord
from agent_sync.record.machine.model import Event, Record
from agent_sync.record.machine.states import RecordMove
from agent_sync.record.page.render import UNSIGNED, VALID
from agent_sync.record.receipts import keys, signing
from agent_sync.record.receipts.integrity import BrokenAt
from agent_sync.record.receipts.receipt import Receipt, ReceiptSlot, from_values
from agent_sync.record.receipts.signing import Invalid, Unsigned, Valid, Verdict
from agent_sync.system import files
from agent_sync.task.decision.outside_text import escaped

_NAME = pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LARGEST_COPY = 1 << 20
_MOST_LINES = 20
_SIGNATURES = {VALID: "signed", UNSIGNED: "not signed"}
_LONGEST_COMMAND = 100


class FoundReceipt(NamedTuple):
    """A receipt, and the record it belongs to."""

    opened: OpenRecord
    receipt: Receipt


def verdicts(record: Record, environment: Mapping[str, str]) -> dict[str, str]:
    """Return for every receipt of the record what checking its signature showed: one word, or why it is invalid."""
    return {one.receipt_id: _verdict_text(verdict_of(one, record, environment)) for one in record.receipts}


def _verdict_text(verdict: Verdict) -> str:
    match verdict:
        case Invalid(reason):
            return reason
        case Unsigned():
            return UNSIGNED
        case _:
            return VALID


def valid_ids(record: Record, environment: Mapping[str, str]) -> frozenset[str]:
    """Return the receipts whose signature holds, whether the command passed or failed."""
    return frozenset(
        one.receipt_id for one in record.receipts if isinstance(verdict_of(one, record, environment), Valid)
    )


def verdict_of(receipt: Receipt, record: Record, environment: Mapping[str, str]) -> Verdict:
    """Return what checking one receipt of this very record shows."""
    slot = ReceiptSlot(record.task_id, record.task_index, receipt.receipt_index)
    try:
        trusted = keys.trusted_account(environment)
    except BadKey as error:
        return signing.Invalid(error.happened)
    return signing.verify(receipt, trusted_account=trusted, slot=slot)


def find_receipt(receipt_id: str, records: Iterable[OpenRecord]) -> FoundReceipt | None:
    """Return the first receipt of this name, in the order of the records; old ones are in a file of their own."""
    if not _NAME.fullmatch(receipt_id):
        return None
    for opened in records:
        listed = next((one for one in opened.record.receipts if one.receipt_id == receipt_id), None)
        receipt = listed or _copy_of(opened, receipt_id)
        if receipt:
            return FoundReceipt(opened, receipt)
    return None


def examine(opened: OpenRecord, receipt: Receipt, environment: Mapping[str, str]) -> Verdict:
    """Return what a receipt is worth: a valid signature, an entry in the history, and the output it covers."""
    verdict = verdict_of(receipt, opened.record, environment)
    if not isinstance(verdict, Valid):
        return verdict
    reason = (
        _missing_in_history(opened, receipt) or _altered_copy_of(opened, receipt) or _altered_output(opened, receipt)
    )
    return Invalid(reason) if reason else verdict


def _copy_of(opened: OpenRecord, receipt_id: str) -> Receipt | None:
    content = _content(opened.store.directory / ARTIFACTS / f"{receipt_id}.json")
    if content is None:
        return None
    try:
        return from_values(read_json(content))
    except ValueError as error:
        raise BadReceipt(f"The copy of {receipt_id} is not JSON.", attempted="reading a receipt") from error


def _missing_in_history(opened: OpenRecord, receipt: Receipt) -> str:
    """Say in which way the history does not vouch for the receipt."""
    store, record = opened
    noted = [event for event in (*store.archived_events(), *record.history) if _is_about(event, receipt)]
    if not noted:
        return "it is not in the history"
    broken = store.integrity(record)
    if isinstance(broken, BrokenAt) and broken.seq <= noted[-1].seq:
        return f"the history is broken at event {broken.seq}"
    try:
        own = hashlib.sha256(canonical(receipt.model_dump(mode="json"))).hexdigest()
    except NotCanonical as error:
        return str(error)
    return "" if noted[-1].details.get("digest") == own else "it differs from the one in the history"


def _is_about(event: Event, receipt: Receipt) -> bool:
    return event.trigger is RecordMove.RECEIPT and event.details.get("receipt_id") == receipt.receipt_id


def _altered_copy_of(opened: OpenRecord, receipt: Receipt) -> str:
    try:
        copy = _copy_of(opened, receipt.receipt_id)
    except BadReceipt:
        return "its copy among the artifacts is not a receipt any more"
    return "its copy among the artifacts was changed" if copy and copy != receipt else ""


def _altered_output(opened: OpenRecord, receipt: Receipt) -> str:
    """Say which output is not the one that was signed; where none is kept there is nothing to compare."""
    for ending, signed in (("stdout", receipt.stdout_hash), ("stderr", receipt.stderr_hash)):
        file = opened.store.directory / ARTIFACTS / f"{receipt.receipt_id}.{ending}"
        if file.is_file() and not file.is_symlink() and _hash(file) != signed:
            return f"the {ending} that was kept is not what the command wrote"
    return ""


def _hash(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _content(file: Path) -> bytes | None:
    try:
        return files.read_own(file, largest=_LARGEST_COPY)
    except (files.NotPlain, OSError) as error:
        raise BadRecord(f"{file} cannot be read: {error}.", attempted="looking for a receipt") from error


def receipt_lines(record: Record, verdicts: Mapping[str, str], commit: str) -> tuple[str, ...]:
    """Return the newest receipt of every command that ran on exactly this commit, and what checking it showed."""
    latest = {(one.kind, one.label, one.command): one for one in record.receipts if _is_of(one, commit)}
    return tuple(_line(one, verdicts.get(one.receipt_id, UNSIGNED)) for one in latest.values())[-_MOST_LINES:]


def _is_of(receipt: Receipt, commit: str) -> bool:
    return bool(commit) and receipt.git_commit == commit and not receipt.git_dirty


def _line(receipt: Receipt, verdict: str) -> str:
    command = escaped(receipt.command)[:_LONGEST_COMMAND].replace("`", "'")
    ended = "passed" if receipt.exit_code == 0 else f"failed with exit code {receipt.exit_code}"
    signature = _SIGNATURES.get(verdict, f"signature INVALID ✗ ({verdict})")
    return f"`{receipt.receipt_id}` {ended}: `{command}` ({receipt.duration}), {signature}"
