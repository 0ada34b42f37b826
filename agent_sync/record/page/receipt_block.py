"""One receipt as HOOK.md shows it."""

from agent_sync.record.page.render import UNSIGNED, VALID, fenced
from agent_sync.record.receipts.receipt import Receipt
from agent_sync.task.decision.outside_text import code, one_line

_HASH_SHOWN = 12


def receipt_block(receipt: Receipt, verdict: str | None) -> list[str]:
    """Return heading and block of a receipt, with what verification found."""
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
