"""Checks the receipts of a record, and makes HOOK.md with what that showed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent_sync.errors import BadKey
from agent_sync.record.machine.model import Record
from agent_sync.record.page.render_receipts import UNSIGNED, VALID
from agent_sync.record.receipts.receipt import Receipt

if TYPE_CHECKING:
    from agent_sync.record.receipts.signing import Verdict


def verdicts(record: Record, environment: Mapping[str, str]) -> dict[str, str]:
    """Return for every receipt of the record what checking its signature showed: one word, or why it is invalid."""
    return {one.receipt_id: _word(judged(one, record, environment)) for one in record.receipts}


def _word(verdict: "Verdict") -> str:
    from agent_sync.record.receipts.signing import Invalid, Unsigned

    match verdict:
        case Invalid(reason):
            return reason
        case Unsigned():
            return UNSIGNED
        case _:
            return VALID


def valid_ids(record: Record, environment: Mapping[str, str]) -> frozenset[str]:
    """Return the receipts whose signature holds, whether the command passed or failed."""
    from agent_sync.record.receipts.signing import Valid

    return frozenset(one.receipt_id for one in record.receipts if isinstance(judged(one, record, environment), Valid))


def judged(receipt: Receipt, record: Record, environment: Mapping[str, str]) -> "Verdict":
    """Return what checking one receipt of this very record shows."""
    from agent_sync.record.receipts import keys, signing
    from agent_sync.record.receipts.evidence import Slot

    slot = Slot(record.task_id, record.task_index, receipt.receipt_index)
    try:
        trusted = keys.trusted_account(environment)
    except BadKey as error:
        return signing.Invalid(error.happened)
    return signing.verify(receipt, trusted_account=trusted, slot=slot)


def page(record: Record, environment: Mapping[str, str]) -> str:
    """Return HOOK.md."""
    from agent_sync.record.page.render import render

    return render(record, verdicts(record, environment))
