"""Ed25519 signatures; the library behind them is loaded when one is made or checked."""

import contextlib
from collections.abc import Iterator


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
