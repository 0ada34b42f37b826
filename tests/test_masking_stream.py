"""Masking what comes in pieces."""

import itertools

from hypothesis import given, strategies as st

from agent_sync.system.masking_stream import LONGEST_LINE, StreamMask

TOKEN = "ghp_" + "a1B2" * 9
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEow\n" * 5 + "-----END RSA PRIVATE KEY-----\n"
TEXT = f"start\nurl https://x:{TOKEN}@host/\n{KEY}then known-only-here\xff, no line end: {TOKEN}".encode("latin-1")
EXPECTED = b"start\nurl https://***@host/\n***\nthen ***\xff, no line end: ***"


def passed(mask, *chunks):
    """Return everything that is passed on of these chunks."""
    return b"".join((*map(mask.feed, chunks), mask.end()))


@given(st.lists(st.integers(min_value=0, max_value=len(TEXT)), max_size=12))
def test_cuts_do_not_matter(cuts):
    """Wherever the reads cut the stream, the same is kept, and no secret."""
    edges = [0, *sorted(cuts), len(TEXT)]
    chunks = [TEXT[start:end] for start, end in itertools.pairwise(edges)]
    assert passed(StreamMask(("known-only-here",)), *chunks) == EXPECTED


def test_harmless_bytes_stay():
    """Bytes of any kind, with or without lines, come out as they went in."""
    noise = bytes(range(256)) * 1000
    assert passed(StreamMask(), noise[:1000], noise[1000:]) == noise
    long = b"x" * (3 * LONGEST_LINE)
    assert passed(StreamMask(), *([long[:4096]] * (len(long) // 4096))) == long


def test_long_line_is_cut_between_words():
    """A line too long to wait for is passed on without its last word, which may be half a token."""
    mask = StreamMask()
    first = mask.feed(b"word " * (LONGEST_LINE // 5 + 1) + TOKEN[:20].encode())
    assert len(first) > LONGEST_LINE // 2
    assert TOKEN[:8].encode() not in first
    assert passed(mask, TOKEN[20:].encode()).endswith(b"word ***")


def test_key_without_end_is_masked_to_the_end():
    """A private key that never ends hides all that follows."""
    assert passed(StreamMask(), KEY[:50].encode(), b"more\n", b"and more") == b"***"
