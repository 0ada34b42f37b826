"""Ed25519 keys, derived from one secret as SLIP-0010 says, and signatures; the library is loaded when needed."""

import contextlib
import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import field

from agent_sync.errors import BadInput
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern


class Unavailable(Exception):
    """The library is not installed, or cannot be loaded."""


@contextlib.contextmanager
def _loading() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise Unavailable("the Python package cryptography cannot be loaded") from error


def public_key(private: bytes) -> bytes:
    """Return the public half of a private key."""
    with _loading():
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    return Ed25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def signature(private: bytes, message: bytes) -> bytes:
    """Return the signature of a message."""
    with _loading():
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    return Ed25519PrivateKey.from_private_bytes(private).sign(message)


def is_signed(public: bytes, message: bytes, by: bytes) -> bool:
    """Tell whether a signature is that of the message, made with the private half of `public`."""
    with _loading():
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(by, message)
    except (InvalidSignature, ValueError):
        return False
    return True


# An index is below this; hardened derivation adds it.
HARDENED = 1 << 31
SHORTEST_SEED, LONGEST_SEED = 16, 64
_CURVE = b"ed25519 seed"
_PATH = pattern(r"m(?:/(?:0|[1-9][0-9]{0,9})['hH]?)*")
_HALF = 32


@dataclass(frozen=True)
class KeyNode:
    """A private key and the chain code its children are derived with."""

    key: bytes = field(repr=False)
    chain_code: bytes = field(repr=False)


def indexes(path: str) -> tuple[int, ...]:
    """Return the steps of a path such as m/44'/236'/0'/0/2; unhardened spelling means the hardened step."""
    if not _PATH.fullmatch(path):
        raise BadInput(f"{path[:80]!r} is not a key path; an example is m/44'/236'/0'/0'/2'.")
    steps = tuple(int(step.rstrip("'hH")) for step in path.split("/")[1:])
    if any(step >= HARDENED for step in steps):
        raise BadInput(f"The key path {path[:80]!r} has an index above {HARDENED - 1}.")
    return steps


def canonical_path(path: str) -> str:
    """Return the one spelling of a path, with every step hardened."""
    return path_of(indexes(path))


def path_of(steps: tuple[int, ...]) -> str:
    """Return the path of these steps."""
    return "/".join(("m", *(f"{step}'" for step in steps)))


def master_node(seed: bytes) -> KeyNode:
    """Return the node at m."""
    if not SHORTEST_SEED <= len(seed) <= LONGEST_SEED:
        raise BadInput(f"A seed has {SHORTEST_SEED} to {LONGEST_SEED} bytes, not {len(seed)}.")
    return _node(_CURVE, seed)


def child(parent: KeyNode, index: int) -> KeyNode:
    """Return the hardened child of a node."""
    if not 0 <= index < HARDENED:
        raise BadInput(f"A key's index is between 0 and {HARDENED - 1}, not {index}.")
    return _node(parent.chain_code, b"\0" + parent.key + (HARDENED + index).to_bytes(4, "big"))


def node_at(seed: bytes, path: str) -> KeyNode:
    """Return the node at the end of a path."""
    node = master_node(seed)
    for index in indexes(path):
        node = child(node, index)
    return node


def derive(seed: bytes, path: str) -> bytes:
    """Return the private key at the end of a path."""
    return node_at(seed, path).key


def _node(key: bytes, message: bytes) -> KeyNode:
    digest = hmac.new(key, message, hashlib.sha512).digest()
    return KeyNode(digest[:_HALF], digest[_HALF:])
