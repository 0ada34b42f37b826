"""The receipts of one commit, in one line each, for a pull request."""

from collections.abc import Mapping

from agent_sync.record.machine.model import Record
from agent_sync.record.page.render_receipts import UNSIGNED, VALID
from agent_sync.record.receipts.receipt import Receipt
from agent_sync.task.decision.outside_text import escaped

MOST = 20
_SHOWN = 16
_LONGEST = 100


def receipt_lines(record: Record, verdicts: Mapping[str, str], commit: str) -> tuple[str, ...]:
    """Return the newest receipt of every command that ran on exactly this commit, and what checking it showed."""
    latest = {(one.kind, one.label, one.command): one for one in record.receipts if _is_of(one, commit)}
    return tuple(_line(one, verdicts.get(one.receipt_id, UNSIGNED)) for one in latest.values())[-MOST:]


def _is_of(receipt: Receipt, commit: str) -> bool:
    return bool(commit) and receipt.git_commit == commit and not receipt.git_dirty


def _line(receipt: Receipt, verdict: str) -> str:
    command = escaped(receipt.command)[:_LONGEST].replace("`", "'")
    ended = "passed" if receipt.exit_code == 0 else f"failed with exit code {receipt.exit_code}"
    key = f"key `{receipt.account_key[:_SHOWN]}` {receipt.key_path}" if receipt.account_key else "no key"
    shown = verdict + (" ✓" if verdict == VALID else "")
    signature = shown if verdict in {VALID, UNSIGNED} else f"INVALID ✗ ({verdict})"
    return f"`{receipt.receipt_id}` {ended}: `{command}` ({receipt.duration}), signature {signature}, {key}"
