"""What is said about a receipt that was checked, and the exit status that says it to programs."""

from typing import assert_never

from agent_sync.errors import Exit
from agent_sync.record.receipts.receipt import Receipt
from agent_sync.record.receipts.signing import Invalid, Unsigned, Valid, Verdict
from agent_sync.task.decision.outside_text import escaped


def lines(receipt: Receipt, verdict: Verdict) -> tuple[str, ...]:
    """Return the lines for people: what the receipt says, whether that counts, and what follows."""
    return (
        f"Receipt: {escaped(receipt.receipt_id)}",
        f"Step: {escaped(receipt.step_name)}",
        f"Command: {escaped(receipt.command)}",
        f"Exit Code: {receipt.exit_code}",
        f"Key Path: {escaped(receipt.key_path)}",
        f"Signature: {signature_text(verdict)}",
        "",
        *_conclusion(receipt, verdict),
    )


def exit_status(verdict: Verdict | None) -> Exit:
    """Return the exit status; without a receipt, or without a signature, what was asked for is missing."""
    match verdict:
        case Valid(passed=passed):
            return Exit.OK if passed else Exit.FAILED
        case Invalid():
            return Exit.INVALID
        case Unsigned() | None:
            return Exit.MISSING
        case _:
            assert_never(verdict)


def signature_text(verdict: Verdict) -> str:
    """Return what checking a receipt showed, in a few words."""
    match verdict:
        case Valid():
            return "VALID ✓"
        case Invalid(reason=reason):
            return f"INVALID ✗ {escaped(reason)}"
        case Unsigned():
            return "UNSIGNED"
        case _:
            assert_never(verdict)


def _conclusion(receipt: Receipt, verdict: Verdict) -> tuple[str, ...]:
    match verdict:
        case Valid(passed=passed, is_ours=is_ours):
            return _signer(is_ours=is_ours), _ending(receipt, passed=passed)
        case Invalid():
            return ("This receipt proves nothing: do not rely on what it says.",)
        case Unsigned():
            return ("This receipt was never signed: nothing shows that the command ran.",)
        case _:
            assert_never(verdict)


def _signer(*, is_ours: bool) -> str:
    if is_ours:
        return "This receipt was signed by your ATLAS installation."
    return "This receipt was not changed since it was signed; its signer is not known here."


def _ending(receipt: Receipt, *, passed: bool) -> str:
    if passed:
        return "The validation command ran and completed successfully."
    return f"The validation command ran and failed with exit code {receipt.exit_code}."
