"""Receipts for other machines: as DSSE envelopes, which any DSSE verifier can check with the public key alone."""

import base64
import binascii
from typing import Any

from agent_sync.errors import BadReceipt
from agent_sync.plain.json_reading import read_json
from agent_sync.record.receipts.receipt import Receipt, from_values, signed_bytes
from agent_sync.record.receipts.signing import RECEIPT_TYPE


def envelope_of(receipt: Receipt) -> dict[str, Any]:
    """Return the envelope of a receipt: the very bytes that were signed, and the signature they have."""
    signature = base64.b64encode(bytes.fromhex(receipt.signature)).decode()
    return {
        "payloadType": RECEIPT_TYPE,
        "payload": base64.b64encode(signed_bytes(receipt)).decode(),
        "signatures": [{"keyid": receipt.public_key, "sig": signature}] if signature else [],
    }


def receipts_in(content: bytes) -> tuple[Receipt, ...]:
    """Return the receipts in a file: an envelope, a receipt, an export of a record, or several, one a line."""
    try:
        values = [read_json(content)]
    except ValueError:
        try:
            values = [read_json(line) for line in content.splitlines() if line.strip()]
        except ValueError as error:
            raise BadReceipt("The file holds no JSON.", attempted="reading receipts") from error
    found = tuple(receipt for value in values for receipt in _receipts_of(value))
    if not found:
        raise BadReceipt("The file holds no receipt.", attempted="reading receipts")
    return found


def _receipts_of(value: object) -> tuple[Receipt, ...]:
    if isinstance(value, list):
        return tuple(receipt for one in value for receipt in _receipts_of(one))
    if not isinstance(value, dict):
        raise BadReceipt("This is not a receipt.", attempted="reading receipts")
    if "payloadType" in value:
        return (_receipt_in(value),)
    if isinstance(value.get("record"), dict):
        return _receipts_of(value["record"])
    if isinstance(value.get("receipts"), list):
        return _receipts_of(value["receipts"])
    return (from_values(value),)


def _receipt_in(envelope: dict[str, Any]) -> Receipt:
    """Return the receipt of an envelope; only the one spelling that was signed counts."""
    if envelope["payloadType"] != RECEIPT_TYPE:
        raise BadReceipt(f"The envelope's type is not {RECEIPT_TYPE}.", attempted="reading an envelope")
    try:
        payload = base64.b64decode(str(envelope.get("payload", "")), validate=True)
        signatures = envelope.get("signatures") or [{"sig": ""}]
        signature = base64.b64decode(str(signatures[0]["sig"]), validate=True)
        values = read_json(payload)
    except (binascii.Error, ValueError, TypeError, KeyError, IndexError) as error:
        raise BadReceipt("The envelope cannot be read.", attempted="reading an envelope") from error
    receipt = from_values({**values, "signature": signature.hex()} if isinstance(values, dict) else values)
    if signed_bytes(receipt) != payload:
        raise BadReceipt("The payload is not in the form that was signed.", attempted="reading an envelope")
    return receipt
