import pytest
from slip10_vectors import VECTORS

from agent_sync.errors import BadInput
from agent_sync.record.receipts import ed25519
from agent_sync.record.receipts.keys import receipt_path

ROWS = [(seed, *row) for seed, rows in VECTORS.items() for row in rows]


@pytest.mark.parametrize(("seed", "path", "chain_code", "private", "public"), ROWS, ids=[row[1] for row in ROWS])
def test_published_vectors(seed, path, chain_code, private, public):
    """Every level of the published vectors comes out: chain code, private key and public key."""
    node = ed25519.node_at(bytes.fromhex(seed), path)
    assert (node.chain_code.hex(), node.key.hex()) == (chain_code, private)
    assert ed25519.derive(bytes.fromhex(seed), path) == node.key
    assert ed25519.public_key(node.key).hex() == public


PATHS = {
    "unhardened steps": ("m/44'/236'/0'/0/2", "m/44'/236'/0'/0'/2'"),
    "letters": ("m/44h/236H/0h/0/2H", "m/44'/236'/0'/0'/2'"),
    "canonical": ("m/44'/236'/0'/0'/2'", "m/44'/236'/0'/0'/2'"),
    "master": ("m", "m"),
    "largest index": ("m/2147483647", "m/2147483647'"),
}


@pytest.mark.parametrize(("spelled", "canonical"), PATHS.values(), ids=PATHS)
def test_spellings_of_a_path(spelled, canonical):
    """Every spelling of a path is normalised to the one with all steps hardened, and leads to the same key."""
    assert ed25519.canonical_path(spelled) == canonical
    assert ed25519.derive(bytes(32), spelled) == ed25519.derive(bytes(32), canonical)


NO_PATHS = {
    "nothing": "",
    "no root": "44'/0'",
    "absolute": "/44'",
    "empty step": "m//0'",
    "trailing slash": "m/0'/",
    "sign": "m/-1'",
    "leading zero": "m/044'",
    "twice hardened": "m/0''",
    "too large": "m/2147483648",
    "far too large": "m/99999999999999999999'",
    "other digits": "m/٤٤'",
    "line end": "m/0'\n",
    "capital root": "M/0'",
}


@pytest.mark.parametrize("path", NO_PATHS.values(), ids=NO_PATHS)
def test_what_is_no_path(path):
    """Whatever is no path is refused and never guessed at."""
    with pytest.raises(BadInput, match="path"):
        ed25519.canonical_path(path)


@pytest.mark.parametrize("index", [-1, 1 << 31])
def test_index_out_of_bounds(index):
    """An index that does not fit into 31 bits has no key."""
    with pytest.raises(BadInput, match="between 0 and 2147483647"):
        ed25519.child(ed25519.master_node(bytes(32)), index)


@pytest.mark.parametrize("length", [0, 15, 65])
def test_seed_of_a_wrong_length(length):
    """A seed has between 128 and 512 bits."""
    with pytest.raises(BadInput, match=f"not {length}"):
        ed25519.master_node(bytes(length))


def test_secrets_are_not_shown():
    """A node that ends up in a log or a traceback does not tell its key."""
    assert ed25519.master_node(bytes(32)).key.hex()[:8] not in repr(ed25519.master_node(bytes(32)))
    assert repr(ed25519.master_node(bytes(32))) == "KeyNode()"


def test_path_of_a_receipt():
    """Each receipt of each task has a key of its own."""
    assert receipt_path(3, 7) == "m/44'/236'/0'/3'/7'"
