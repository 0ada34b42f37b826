"""Derives Ed25519 keys from one secret along a path, as SLIP-0010 says: every step is hardened."""

import hashlib
import hmac
import re
from dataclasses import dataclass, field

from agent_sync.errors import BadInput

# An index is below this; hardened derivation adds it.
HARDENED = 1 << 31
SHORTEST_SEED, LONGEST_SEED = 16, 64
_CURVE = b"ed25519 seed"
_PATH = re.compile(r"m(?:/(?:0|[1-9][0-9]{0,9})['hH]?)*")
_HALF = 32


@dataclass(frozen=True)
class Node:
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


def master(seed: bytes) -> Node:
    """Return the node at m."""
    if not SHORTEST_SEED <= len(seed) <= LONGEST_SEED:
        raise BadInput(f"A seed has {SHORTEST_SEED} to {LONGEST_SEED} bytes, not {len(seed)}.")
    return _node(_CURVE, seed)


def child(parent: Node, index: int) -> Node:
    """Return the hardened child of a node."""
    if not 0 <= index < HARDENED:
        raise BadInput(f"A key's index is between 0 and {HARDENED - 1}, not {index}.")
    return _node(parent.chain_code, b"\0" + parent.key + (HARDENED + index).to_bytes(4, "big"))


def node_at(seed: bytes, path: str) -> Node:
    """Return the node at the end of a path."""
    node = master(seed)
    for index in indexes(path):
        node = child(node, index)
    return node


def derive(seed: bytes, path: str) -> bytes:
    """Return the private key at the end of a path."""
    return node_at(seed, path).key


def _node(key: bytes, message: bytes) -> Node:
    digest = hmac.new(key, message, hashlib.sha512).digest()
    return Node(digest[:_HALF], digest[_HALF:])
