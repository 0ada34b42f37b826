"""Takes what people and agents say into the schemas: halves of characters mended, refusals in words."""

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from agent_sync.errors import BadInput
from agent_sync.system.masking import masked


def writable(text: str) -> str:
    """Return text that JSON can carry and others may read: half characters are replaced, secrets masked."""
    return masked(text).encode(errors="surrogateescape" if _is_escaped(text) else "replace").decode(errors="replace")


@contextmanager
def understood(what: str, *, helps: str) -> Iterator[None]:
    """Turn what a schema refuses into a message that names each field."""
    try:
        yield
    except ValidationError as error:
        said = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}".removeprefix(": ") for one in error.errors())
        problems = "; ".join(text.replace("Value error, ", "") for text in said)
        raise BadInput(f"{what} cannot be used: {problems}.", helps=helps) from error
    except UnicodeEncodeError as error:
        raise BadInput(f"{what} cannot be used: its input holds half a character.", helps=helps) from error


def _is_escaped(text: str) -> bool:
    try:
        text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False
    return True
