"""The master key as a value, and the keys that are derived from it."""

from dataclasses import dataclass, field

from agent_sync.record.receipts import ed25519, slip10

LENGTH = 32
# Purpose, coin type and account of BIP-44's scheme.
ACCOUNT = (44, 236, 0)


def receipt_path(task_index: int, receipt_index: int) -> str:
    """Return the path of the one key that signs this receipt of this task."""
    return slip10.path_of((*ACCOUNT, task_index, receipt_index))


@dataclass(frozen=True)
class MasterKey:
    """The secret of one installation, never shown and never signed with itself."""

    seed: bytes = field(repr=False)

    @property
    def account_private(self) -> bytes:
        """The key that certifies the keys of receipts."""
        return slip10.derive(self.seed, slip10.path_of(ACCOUNT))

    @property
    def account_public(self) -> str:
        """What others know this installation by, in hex."""
        return ed25519.public_key(self.account_private).hex()

    def private_at(self, path: str) -> bytes:
        """Return the private key at the end of a path."""
        return slip10.derive(self.seed, path)
