"""`agent-sync record verify`: check a receipt from a file, on any machine, with a public key or none at all."""

import os
from pathlib import Path

import click

from agent_sync.cli.record.hook_proof import exit_status, receipt_report, verify_receipt
from agent_sync.errors import BadInput, BadKey, Exit, NoReceipt
from agent_sync.lazy_patterns import pattern
from agent_sync.record.receipts import keys, signing
from agent_sync.record.receipts.envelope import receipts_in
from agent_sync.record.receipts.receipt import Receipt
from agent_sync.record.receipts.signing import Invalid, Valid, Verdict
from agent_sync.system import files

_KEY = pattern(r"[0-9a-f]{64}")
_LARGEST = 64 << 20


@click.command("verify")
@click.argument("subject", metavar="FILE|ID")
@click.option("--key", default="", metavar="KEY", help="The signer's public key, as 64 hex digits or a file with them.")
@click.option("--task", default="", help="With an ID: the task it belongs to.")
@click.pass_context
def verify(ctx: click.Context, *, subject: str, key: str, task: str) -> None:
    """Check receipts in a file, or one of this workspace by its id. No secret and no key of one's own is needed.

    A file is what `record export` prints, a copy of a receipt, or a DSSE envelope. A receipt carries its public key
    and the certificate of its account key; --key says whose it must be. Exit code 0 if all are valid and their
    commands passed, 1 if one of the commands failed, 5 if one is INVALID, 6 if there is no such receipt.

    \b
    Examples:
      agent-sync record verify receipts.jsonl --key account.pub
      agent-sync record verify rcpt-001
    """
    file = Path(subject)
    if not file.is_file():
        if "/" in subject or "." in subject:
            raise NoReceipt(f"There is no file {subject!r}.", helps="agent-sync record export")
        ctx.invoke(verify_receipt, receipt_id=subject, task=task)
        return
    content = files.read_plain(file, largest=_LARGEST, may_be_link=True) or b""
    trusted = _trusted_key(key)
    verdicts = [(receipt, _verdict(receipt, trusted)) for receipt in receipts_in(content)]
    for number, (receipt, verdict) in enumerate(verdicts):
        for line in (*([""] if number else []), *receipt_report(receipt, verdict, is_named=bool(trusted))):
            click.echo(line)
    ctx.exit(max((exit_status(verdict) for _, verdict in verdicts), key=_severity))


def _verdict(receipt: Receipt, trusted: str) -> Verdict:
    """Return what a receipt is worth by itself; the key that was named must be its own or its account's."""
    verdict = signing.verify(receipt, trusted_account=None)
    if not isinstance(verdict, Valid):
        return verdict
    if trusted:
        is_signers = trusted in {receipt.public_key, receipt.account_key}
        return (
            Valid(verdict.passed, is_ours=True) if is_signers else Invalid("signed by another key than the one given")
        )
    return Valid(verdict.passed, is_ours=_is_own(receipt))


def _is_own(receipt: Receipt) -> bool:
    try:
        return keys.trusted_account(os.environ) == receipt.account_key
    except (BadKey, OSError):
        return False


def _trusted_key(given: str) -> str:
    if not given:
        return ""
    text = given
    if not _KEY.fullmatch(given.lower()):
        content = files.read_plain(Path(given), may_be_link=True) if Path(given).is_file() else None
        text = (content or b"").decode("ascii", "replace").strip()
    if not _KEY.fullmatch(text.lower()):
        raise BadInput(f"{given!r} is neither 64 hexadecimal digits nor a file with them.", helps="account.pub is one")
    return text.lower()


def _severity(status: Exit) -> int:
    return (Exit.OK, Exit.FAILED, Exit.MISSING, Exit.INVALID).index(status)


COMMANDS = (verify,)
