"""Signs receipts of commands that agent-sync has run, and checks receipts without any secret."""

from agent_sync.errors import BadInput
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.plain.json_reading import NotCanonical
from agent_sync.record.receipts import ed25519
from agent_sync.record.receipts.keys import MasterKey, receipt_path
from agent_sync.record.receipts.receipt import (
    ALGORITHM,
    SCHEMA,
    CommandRun,
    Receipt,
    ReceiptSlot,
    ReceiptSubject,
    certified_bytes,
    duration_text,
    moment_text,
    signed_bytes,
)
from agent_sync.system.masking import masked

RECEIPT_TYPE = "application/vnd.agent-sync.receipt.v1+json"
KEY_TYPE = "application/vnd.agent-sync.receipt-key.v1+json"
_KEY = pattern(r"[0-9a-f]{64}")
# One spelling only, so that no character of a signature can change unnoticed.
_SIGNATURE = pattern(r"[0-9a-f]{128}")


@dataclass(frozen=True)
class Valid:
    """Nothing was changed since it was signed; `is_ours` tells whether this installation's key is known to be it."""

    passed: bool
    is_ours: bool


@dataclass(frozen=True)
class Invalid:
    """It proves nothing, and the reason."""

    reason: str


@dataclass(frozen=True)
class Unsigned:
    """It was never signed, so it proves nothing."""


Verdict = Valid | Invalid | Unsigned


def sign(ran: CommandRun, work: ReceiptSubject, slot: ReceiptSlot, master: MasterKey) -> Receipt:
    """Return the receipt of a command; where the library is missing its signature is empty: it is unsigned."""
    bare = _unsigned_receipt(ran, work, slot)
    private = master.private_at(bare.key_path)
    try:
        receipt = _with_certificate(bare, private, master)
        signature = ed25519.signature(private, pae(RECEIPT_TYPE, signed_bytes(receipt)))
    except ed25519.Unavailable:
        return bare
    return receipt.model_copy(update={"signature": signature.hex()})


def pae(payload_type: str, body: bytes) -> bytes:
    """Return DSSE's pre-authentication encoding: no body of one type can be taken for one of another."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(body), body)


def _unsigned_receipt(ran: CommandRun, work: ReceiptSubject, slot: ReceiptSlot) -> Receipt:
    return Receipt(
        receipt_id=slot.receipt_id,
        step_name=work.step_name,
        command=masked(ran.command),
        exit_code=ran.exit_code,
        started_at=moment_text(ran.started_at),
        completed_at=moment_text(ran.completed_at),
        duration=duration_text(ran.duration_ms),
        duration_ms=ran.duration_ms,
        stdout_hash=ran.stdout_hash,
        stderr_hash=ran.stderr_hash,
        kind=work.kind,
        label=work.label,
        argv=tuple(masked(word) for word in ran.argv),
        cwd=ran.cwd,
        git_commit=work.git_commit,
        git_tree=work.git_tree,
        git_dirty=work.git_dirty,
        history_head=work.history_head,
        task_id=slot.task_id,
        attempt=work.attempt,
        task_index=slot.task_index,
        receipt_index=slot.receipt_index,
        schema=SCHEMA,
        algorithm=ALGORITHM,
        key_path=receipt_path(slot.task_index, slot.receipt_index),
        public_key="",
        account_key="",
        certificate="",
        signature="",
    )


def _with_certificate(bare: Receipt, private: bytes, master: MasterKey) -> Receipt:
    public = ed25519.public_key(private).hex()
    said = certified_bytes(public_key=public, key_path=bare.key_path, task_id=bare.task_id)
    certificate = ed25519.signature(master.account_private, pae(KEY_TYPE, said)).hex()
    named = {"public_key": public, "account_key": master.account_public, "certificate": certificate}
    return bare.model_copy(update=named)


def verify(receipt: Receipt, *, trusted_account: str | None, slot: ReceiptSlot | None = None) -> Verdict:
    """Judge a receipt; with `slot` it must also belong to that place, so that none can be moved."""
    if not receipt.signature:
        is_stripped = receipt.public_key or receipt.account_key or receipt.certificate
        return Invalid("its signature was removed") if is_stripped else Unsigned()
    try:
        reason = _strangeness(receipt, slot) or _foreignness(receipt, trusted_account) or _forgery(receipt)
    except ed25519.Unavailable as error:
        return Invalid(f"it cannot be checked: {error}")
    return Invalid(reason) if reason else Valid(receipt.has_passed, is_ours=trusted_account is not None)


def _strangeness(receipt: Receipt, slot: ReceiptSlot | None) -> str:
    """Say what makes this something other than a receipt for its place."""
    if receipt.schema != SCHEMA:
        return f"its schema is not {SCHEMA}"
    if receipt.algorithm != ALGORITHM:
        return f"its algorithm is not {ALGORITHM}"
    if not _is_own_path(receipt):
        return "its key path is not that of its task and number"
    if slot and slot != ReceiptSlot(receipt.task_id, receipt.task_index, receipt.receipt_index):
        return "it belongs to another task or another number"
    return ""


def _is_own_path(receipt: Receipt) -> bool:
    try:
        path = ed25519.canonical_path(receipt.key_path)
    except BadInput:
        return False
    return path == receipt_path(receipt.task_index, receipt.receipt_index)


def _foreignness(receipt: Receipt, trusted_account: str | None) -> str:
    is_foreign = trusted_account is not None and receipt.account_key != trusted_account
    return "signed by another installation's key" if is_foreign else ""


def _forgery(receipt: Receipt) -> str:
    """Say which of the two signatures is not what it should be."""
    key, path, task = receipt.public_key, receipt.key_path, receipt.task_id
    try:
        said = pae(KEY_TYPE, certified_bytes(public_key=key, key_path=path, task_id=task))
        body = pae(RECEIPT_TYPE, signed_bytes(receipt))
    except NotCanonical as error:
        return str(error)
    if not _is_signed(receipt.account_key, said, receipt.certificate):
        return "its key is not certified by the account key"
    if not _is_signed(key, body, receipt.signature):
        return "it is not what was signed"
    return ""


def _is_signed(key: str, message: bytes, signature: str) -> bool:
    if not _KEY.fullmatch(key) or not _SIGNATURE.fullmatch(signature):
        return False
    return ed25519.is_signed(bytes.fromhex(key), message, bytes.fromhex(signature))
