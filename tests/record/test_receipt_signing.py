import base64
import os
import subprocess
import sys

import pytest
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey
from support.prove import PROVE
from support.receipts import MASTER, OTHER_MASTER, RAN, SLOT, WORK, receipt

from agent_sync.errors import BadInput, BadReceipt
from agent_sync.record.receipts.receipt import Receipt, ReceiptSlot, duration_text, from_values, signed_bytes
from agent_sync.record.receipts.signing import RECEIPT_TYPE, Invalid, Unsigned, Valid, sign, verify

ACCOUNT = MASTER.account_public


def judged(one, **options):
    return verify(one, trusted_account=ACCOUNT, **options)


def test_receipt_signing():
    """A signed receipt is valid, and no longer once its exit code is changed."""
    signed = receipt()
    assert signed.signature
    assert signed.key_path == "m/44'/236'/0'/0'/2'"
    assert judged(signed) == Valid(passed=True, is_ours=True)
    assert judged(signed.model_copy(update={"exit_code": 1})) == Invalid("it is not what was signed")


def test_receipts_for_failures():
    """A command that failed gets a receipt as good as that of one that passed."""
    assert judged(receipt(exit_code=2)) == Valid(passed=False, is_ours=True)


@pytest.mark.parametrize(
    "secret",
    [
        "ghp_" + "a" * 36,
        "GITHUB_TOKEN=abcdefgh make",
        "https://me:hunter2@example.invalid",
        "sk-ant-api03-" + "x" * 20,
        "Authorization: Bearer abcdefghijklmnop",
    ],
)
def test_receipt_holds_no_secret(secret):
    """A token in a command line is masked before it is signed: receipts are shown to others."""
    signed = receipt(command=f"deploy {secret}", argv=("sh", "-c", f"deploy {secret}"))
    assert secret not in signed.model_dump_json()
    assert "***" in signed.command
    assert judged(signed) == Valid(passed=True, is_ours=True)


def test_what_a_receipt_says():
    """Names and forms of the stored fields are those that are documented."""
    values = receipt().model_dump(mode="json")
    assert values["receipt_id"] == "rcpt-003"
    assert values["schema"] == "agent-sync/receipt/1"
    assert (values["algorithm"], values["kind"]) == ("ed25519", "gate")
    assert (values["started_at"], values["completed_at"]) == ("2026-11-16T10:15:00.000Z", "2026-11-16T10:15:12.345Z")
    assert (values["duration"], values["duration_ms"]) == ("12.3s", 12_345)
    assert values["argv"] == ["sh", "-c", "magex lint"]
    assert {name: len(values[name]) for name in ("public_key", "account_key", "certificate", "signature")} == {
        "public_key": 64,
        "account_key": 64,
        "certificate": 128,
        "signature": 128,
    }


def test_stored_receipt_is_the_same():
    """A receipt survives being written as JSON and read back."""
    signed = receipt(command='printf "a|b\\n" ✓')
    assert Receipt.model_validate_json(signed.model_dump_json()) == signed
    assert judged(from_values(signed.model_dump(mode="json"))) == Valid(passed=True, is_ours=True)


def altered(value):
    """Return another value of the same kind."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return value[:-1] + ("0" if value[-1] != "0" else "1")
        case _:
            return (*value[:-1], value[-1] + " ")


@pytest.mark.parametrize("name", Receipt.model_fields)
def test_every_field_counts(name):
    """A receipt with any one field changed is invalid, whether or not the signer is known."""
    signed = receipt()
    changed = signed.model_copy(update={name: altered(getattr(signed, name))})
    assert changed != signed
    assert isinstance(judged(changed), Invalid)
    assert isinstance(verify(changed, trusted_account=None), Invalid)


@pytest.mark.parametrize("name", ["signature", "certificate", "public_key", "account_key"])
def test_every_byte_counts(name):
    """A receipt with any one byte of its keys and signatures changed is invalid, with every bit in the long sweep."""
    signed = receipt()
    text = bytes.fromhex(getattr(signed, name))
    for place in range(len(text)):
        for bit in range(8) if PROVE else (place % 8,):
            flipped = text[:place] + bytes([text[place] ^ (1 << bit)]) + text[place + 1 :]
            changed = signed.model_copy(update={name: flipped.hex()})
            assert isinstance(verify(changed, trusted_account=None), Invalid), (place, bit)


SPELLINGS = {
    "capitals": str.upper,
    "spaces": lambda text: text[:2] + " " + text[2:],
    "a line end": lambda text: text + "\n",
    "more": lambda text: text + "00",
    "less": lambda text: text[:-2],
    "no hex": lambda text: "zz" + text[2:],
}


@pytest.mark.parametrize("spelled", SPELLINGS.values(), ids=SPELLINGS)
def test_signature_has_one_spelling(spelled):
    """Another spelling of the same signature is another signature."""
    signed = receipt()
    assert isinstance(judged(signed.model_copy(update={"signature": spelled(signed.signature)})), Invalid)


CHANGES = {
    "other scheme": ({"schema": "agent-sync/receipt/2"}, "schema"),
    "other algorithm": ({"algorithm": "none"}, "algorithm"),
    "other task's key": ({"key_path": "m/44'/236'/0'/1'/2'"}, "key path"),
    "no path": ({"key_path": "m/../.."}, "key path"),
    "other task number": ({"task_index": 1}, "key path"),
    "other receipt number": ({"receipt_index": 1, "receipt_id": "rcpt-002"}, "key path"),
    "negative number": ({"task_index": -1, "key_path": "m/44'/236'/0'/-1'/2'"}, "key path"),
    "moved altogether": ({"task_index": 1, "key_path": "m/44'/236'/0'/1'/2'"}, "not certified"),
    "other task": ({"task_id": "task-2"}, "not certified"),
    "path in another spelling": ({"key_path": "m/44'/236'/0'/0/2"}, "not certified"),
    "signature taken away": ({"signature": ""}, "removed"),
    "large number": ({"duration_ms": 1 << 60}, "duration_ms is a number beyond"),
    "half a character": ({"command": "\ud800"}, "half a character"),
}


@pytest.mark.parametrize(("change", "reason"), CHANGES.values(), ids=CHANGES)
def test_reasons(change, reason):
    """An invalid receipt says what is wrong with it."""
    verdict = judged(receipt().model_copy(update=change))
    assert isinstance(verdict, Invalid)
    assert reason in verdict.reason


OTHER_PLACES = {
    "other task": ReceiptSlot("task-2", 0, 2),
    "other task number": ReceiptSlot(SLOT.task_id, 1, 2),
    "other receipt number": ReceiptSlot(SLOT.task_id, 0, 1),
}


@pytest.mark.parametrize("slot", OTHER_PLACES.values(), ids=OTHER_PLACES)
def test_receipt_cannot_be_moved(slot):
    """A receipt copied as it is to another task or another number is invalid there."""
    assert judged(receipt(), slot=SLOT) == Valid(passed=True, is_ours=True)
    assert judged(receipt(), slot=slot) == Invalid("it belongs to another task or another number")


def test_signature_of_another_receipt_does_not_fit():
    """Keys, certificate and signature of a receipt that passed do not make another one pass."""
    passed, failed = receipt(0), receipt(1)
    assert isinstance(judged(failed.model_copy(update={"exit_code": 0})), Invalid)
    assert isinstance(judged(failed.model_copy(update={"signature": passed.signature})), Invalid)


def test_certificate_is_no_receipt():
    """What the account key signed of a key cannot serve as the signature of a receipt."""
    signed = receipt()
    swapped = {"public_key": signed.account_key, "signature": signed.certificate}
    assert isinstance(judged(signed.model_copy(update=swapped)), Invalid)


def test_foreign_signer():
    """A receipt of another installation is refused here, and told apart where no key is recorded."""
    foreign = receipt(master=OTHER_MASTER)
    assert judged(foreign) == Invalid("signed by another installation's key")
    assert verify(foreign, trusted_account=None) == Valid(passed=True, is_ours=False)
    posing = foreign.model_copy(update={"account_key": ACCOUNT})
    assert judged(posing) == Invalid("its key is not certified by the account key")


def test_each_receipt_has_its_own_key():
    """No two places share a key, and all keys are certified by the one account key."""
    signed = [receipt(slot=ReceiptSlot("t", task, number)) for task in range(3) for number in range(3)]
    assert len({one.public_key for one in signed}) == 9
    assert {one.account_key for one in signed} == {ACCOUNT}


@pytest.mark.parametrize("slot", [ReceiptSlot("t", -1, 0), ReceiptSlot("t", 0, 1 << 31)])
def test_place_without_a_key(slot):
    """A number that no key belongs to cannot be signed for."""
    with pytest.raises(BadInput):
        sign(RAN, WORK, slot, MASTER)


def test_secrets_are_in_no_receipt():
    """Neither the master key nor a derived private key is written or shown."""
    signed = receipt()
    secrets = (MASTER.seed, MASTER.account_private, MASTER.private_at(signed.key_path))
    assert not any(secret.hex() in signed.model_dump_json() for secret in secrets)
    assert repr(MASTER) == "MasterKey()"


WITHOUT = """
import sys
sys.modules["cryptography"] = None
from support.receipts import MASTER, RAN, SLOT, WORK
from agent_sync.record.receipts.receipt import Receipt
from agent_sync.record.receipts.signing import sign, verify
unsigned = sign(RAN, WORK, SLOT, MASTER)
print(repr(unsigned.signature), verify(unsigned, trusted_account=None))
print(verify(Receipt.model_validate_json(sys.argv[1]), trusted_account=None))
"""


def test_without_the_library():
    """Where cryptography cannot be loaded, receipts are unsigned, and signed ones are never called valid."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", WITHOUT, receipt().model_dump_json()]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "'' Unsigned()",
        "Invalid(reason='it cannot be checked: the Python package cryptography cannot be loaded')",
    ]


def test_library_is_loaded_when_needed_only():
    """To import all of this loads no cryptography."""
    modules = "ed25519, keys, proof, receipt, running, signing, validation"
    code = f"import sys; from agent_sync.record.receipts import {modules}; print('cryptography' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_never_signed():
    """A receipt without any trace of a signature is unsigned, whatever else it says."""
    blank = dict.fromkeys(("signature", "certificate", "public_key", "account_key"), "")
    assert judged(receipt().model_copy(update=blank)) == Unsigned()


def test_another_verifier_agrees():
    """A DSSE library of others accepts what we signed, and refuses what was changed."""
    signed = receipt()
    key = SSlibKey("k", "ed25519", "ed25519", {"public": signed.public_key})

    def envelope(body):
        encoded = base64.b64encode(bytes.fromhex(signed.signature)).decode()
        values = {
            "payload": base64.b64encode(body).decode(),
            "payloadType": RECEIPT_TYPE,
            "signatures": [{"keyid": "k", "sig": encoded}],
        }
        return Envelope.from_dict(values)

    assert set(envelope(signed_bytes(signed)).verify([key], 1)) == {"k"}
    with pytest.raises(VerificationError):
        envelope(signed_bytes(signed.model_copy(update={"exit_code": 1}))).verify([key], 1)


MISSHAPEN = {
    "a field more": ({"note": ""}, "note"),
    "text for a number": ({"exit_code": "0"}, "exit_code"),
    "truth for a number": ({"exit_code": False}, "exit_code"),
    "number in the arguments": ({"argv": ["sh", 1]}, "argv.1"),
    "unknown kind": ({"kind": "rumour"}, "kind"),
    "nothing": ({"signature": None}, "signature"),
}


@pytest.mark.parametrize(("change", "field"), MISSHAPEN.values(), ids=MISSHAPEN)
def test_what_is_no_receipt(change, field):
    """Stored values that are no receipt are refused with the name of the field, and the exit status of invalid."""
    with pytest.raises(BadReceipt, match=field) as caught:
        from_values(receipt().model_dump(mode="json") | change)
    assert caught.value.exit_status == 5


DURATIONS = {0: "0.0s", 999: "0.9s", 12_345: "12.3s", 59_999: "59.9s", 65_000: "1m5s", 7_209_000: "2h0m9s"}


@pytest.mark.parametrize(("milliseconds", "said"), DURATIONS.items(), ids=DURATIONS.values())
def test_durations(milliseconds, said):
    """A duration is said as people read it."""
    assert duration_text(milliseconds) == said


@pytest.mark.parametrize(("index", "name"), [(0, "rcpt-001"), (998, "rcpt-999"), (999, "rcpt-1000")])
def test_names(index, name):
    """Receipts are counted from one, with three digits or more."""
    assert ReceiptSlot("t", 0, index).receipt_id == name
