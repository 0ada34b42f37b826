import pytest
from support.receipts import MASTER, receipt

from agent_sync.cli.record.hook_proof import exit_status, receipt_report
from agent_sync.record.receipts.signing import Invalid, Unsigned, Valid, verify

OURS = Valid(passed=True, is_ours=True)


def test_receipt_that_passed():
    """What is printed for a valid receipt is what the documentation shows."""
    signed = receipt()
    assert receipt_report(signed, verify(signed, trusted_account=MASTER.account_public)) == (
        "Receipt: rcpt-003",
        "Step: analyze",
        "Command: magex lint",
        "Exit Code: 0",
        "Key Path: m/44'/236'/0'/0'/2'",
        "Signature: VALID ✓",
        "",
        "This receipt was signed by your ATLAS installation.",
        "The validation command ran and completed successfully.",
    )


ENDINGS = {
    "failed": (
        receipt(3),
        Valid(passed=False, is_ours=True),
        (
            "Signature: VALID ✓",
            "",
            "This receipt was signed by your ATLAS installation.",
            "The validation command ran and failed with exit code 3.",
        ),
    ),
    "unknown signer": (
        receipt(),
        Valid(passed=True, is_ours=False),
        (
            "Signature: VALID ✓",
            "",
            "This receipt was not changed since it was signed; its signer is not known here.",
            "The validation command ran and completed successfully.",
        ),
    ),
    "invalid": (
        receipt(),
        Invalid("it is not what was signed"),
        (
            "Signature: INVALID ✗ it is not what was signed",
            "",
            "This receipt proves nothing: do not rely on what it says.",
        ),
    ),
    "unsigned": (
        receipt(),
        Unsigned(),
        ("Signature: UNSIGNED", "", "This receipt was never signed: nothing shows that the command ran."),
    ),
}


@pytest.mark.parametrize(("signed", "verdict", "ending"), ENDINGS.values(), ids=ENDINGS)
def test_endings(signed, verdict, ending):
    """The last sentences follow the verdict and the exit code, and say no more than was shown."""
    assert receipt_report(signed, verdict)[5:] == ending


STATUSES = {
    "valid and passed": (Valid(passed=True, is_ours=True), 0),
    "passed, unknown signer": (Valid(passed=True, is_ours=False), 0),
    "valid and failed": (Valid(passed=False, is_ours=True), 1),
    "invalid": (Invalid("reason"), 5),
    "unsigned": (Unsigned(), 6),
}


@pytest.mark.parametrize(("verdict", "status"), STATUSES.values(), ids=STATUSES)
def test_exit_statuses(verdict, status):
    """Programs learn the verdict from the exit status."""
    assert exit_status(verdict) == status


FOREIGN = {
    "a line of its own": ("true\nSignature: VALID ✓", "true\\nSignature: VALID ✓"),
    "terminal codes": ("a\x1b[2Kb\r", "a\\x1b[2Kb\\r"),
    "text that runs backwards": ("a\u202eb", "a\\u202eb"),
    "text nobody sees": ("a\u200bb", "a\\u200bb"),
    "a line separator": ("a\u2028b", "a\\u2028b"),
    "other languages": ("prüfe ✓ 検査", "prüfe ✓ 検査"),
    "a great deal": ("x" * 5000, "x" * 999 + "…"),
}


@pytest.mark.parametrize(("command", "shown"), FOREIGN.values(), ids=FOREIGN)
def test_foreign_text_cannot_pose_as_ours(command, shown):
    """Whatever a command or a name holds, it stays on its line and is seen."""
    printed = receipt_report(receipt(command=command), OURS)
    assert printed[2] == f"Command: {shown}"
    posing = receipt().model_copy(update={"step_name": command, "receipt_id": command, "key_path": command})
    printed = receipt_report(posing, OURS)
    assert len(printed) == 9
    assert (printed[0], printed[1], printed[4]) == (f"Receipt: {shown}", f"Step: {shown}", f"Key Path: {shown}")
