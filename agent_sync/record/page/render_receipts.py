"""Shows receipts in HOOK.md with what their verification really found."""

from collections.abc import Mapping

from agent_sync.record.machine.model import Record, Step
from agent_sync.record.page.render_parts import code, fenced
from agent_sync.record.receipts.receipt import Receipt
from agent_sync.task.decision.outside_text import one_line

# What a verdict says; every other text is the reason why a receipt is invalid.
VALID = "VALID"
UNSIGNED = "UNSIGNED"

_RECEIPTS_SHOWN = 10
_HASH_SHOWN = 12


def proof(record: Record, step: Step, verdicts: Mapping[str, str]) -> str:
    """Return a step's receipt with what verification found, which is never taken for granted."""
    if not step.receipt_id:
        return "-"
    receipt = next((one for one in record.receipts if one.receipt_id == step.receipt_id), None)
    if receipt is None:
        return f"{code(step.receipt_id)} (archived)"
    failed = f", exit code {receipt.exit_code}" if receipt.exit_code else ""
    match verdicts.get(receipt.receipt_id):
        case None:
            mark = "not verified"
        case verdict if verdict == VALID:
            mark = "✓"
        case verdict if verdict == UNSIGNED:
            mark = "UNSIGNED"
        case _:
            mark = "✗ INVALID"
    return f"{code(receipt.receipt_id)} {mark}{failed}"


def receipts(record: Record, verdicts: Mapping[str, str]) -> list[str]:
    """Return the section with one block for each of the last receipts."""
    shown = record.receipts[-_RECEIPTS_SHOWN:]
    if not shown:
        return ["## Validation Receipts", "", "None yet."]
    earlier = max(record.receipts_total, len(record.receipts)) - len(shown)
    more = ["", f"{earlier} earlier: run `agent-sync record status`."] if earlier else []
    blocks = [line for receipt in shown for line in ("", *_receipt(receipt, verdicts.get(receipt.receipt_id)))]
    said = "A receipt that is VALID is cryptographically signed and proves that the command actually ran:"
    return ["## Validation Receipts", "", said, *blocks, *more]


def _receipt(receipt: Receipt, verdict: str | None) -> list[str]:
    values = {
        "Command": receipt.command,
        "Exit Code": str(receipt.exit_code),
        "Duration": receipt.duration,
        "Output Hash": f"sha256:{receipt.stdout_hash[:_HASH_SHOWN]}...",
        "Signature": _signature(receipt, verdict),
    }
    # A command with line breaks must not look like a signature.
    body = "\n".join(f"{name}: {one_line(value, limit=400)}" for name, value in values.items())
    return [f"### Receipt {code(receipt.receipt_id)} ({code(receipt.step_name)} step)", *fenced(body)]


def _signature(receipt: Receipt, verdict: str | None) -> str:
    if verdict is None:
        return f"NOT VERIFIED (run agent-sync record verify-receipt {receipt.receipt_id})"
    if verdict == VALID:
        return f"VALID ✓ (verified with HD key {receipt.key_path})"
    return UNSIGNED if verdict == UNSIGNED else f"INVALID ✗ {verdict}"
