"""Masks what a program prints while it comes in: a secret that is cut by two reads is masked like any other."""

from collections.abc import Iterable

from agent_sync.lazy_patterns import pattern
from agent_sync.system.masking import masked

# A line may be held back this long before it is passed on in pieces; no token is longer than the overlap.
LONGEST_LINE = 1 << 18
OVERLAP = 1 << 14
_BEGIN = pattern(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_END = pattern(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
# What no token has inside: a place to cut at.
_SEPARATOR = pattern(r"[^A-Za-z0-9_+/=.:@%~-]")


class StreamMask:
    """One stream of bytes; whole lines are passed on, masked, and the rest is held back until it is whole."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # Bytes are looked at as Latin-1, which loses none of them.
        self._secrets = tuple(one.encode("utf-8", "surrogateescape").decode("latin-1") for one in secrets)
        self._held = b""
        self._is_in_key = False

    def feed(self, chunk: bytes) -> bytes:
        """Take in what has come, and return what can be passed on."""
        self._held += chunk
        cut = self._held.rfind(b"\n") + 1
        if not cut and len(self._held) > LONGEST_LINE:
            cut = self._inside_a_line()
        whole, self._held = self._held[:cut], self._held[cut:]
        return self._masked(whole)

    def end(self) -> bytes:
        """Return what is left, now that nothing more comes."""
        whole, self._held = self._held, b""
        return self._masked(whole)

    def _inside_a_line(self) -> int:
        """Return where an endless line can be cut: between two words, and through none of the secrets."""
        text = self._held.decode("latin-1")
        found = _SEPARATOR.search(text, len(text) - OVERLAP)
        cut = found.end() if found else len(text) - OVERLAP
        for secret in self._secrets:
            at = text.find(secret, max(0, cut - len(secret) + 1), cut + len(secret) - 1)
            cut = at if 0 <= at < cut else cut
        return cut

    def _masked(self, content: bytes) -> bytes:
        text = content.decode("latin-1")
        if self._is_in_key:
            found = _END.search(text)
            # The mask was passed on when the key began.
            text = text[found.end() :] if found else ""
            self._is_in_key = found is None
        begun = [match.end() for match in _BEGIN.finditer(text)]
        if begun and not _END.search(text, begun[-1]):
            self._is_in_key = True
        return masked(text, self._secrets).encode("latin-1") if text else b""
