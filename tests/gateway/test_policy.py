"""Whether a failed request is tried again: the whole table."""

import pytest

from agent_sync.gateway.transport.trouble import Limit, Trouble, TroubleKind
from agent_sync.gateway.transport.wire import MOST_TRIES, wait_before_next

AGAIN = {
    TroubleKind.NOT_SENT: {"read", "write"},
    TroubleKind.LOST: {"read"},
    TroubleKind.ODD: {"read"},
    TroubleKind.LIMITED: {"read", "write"},
}


@pytest.mark.parametrize("kind", TroubleKind)
@pytest.mark.parametrize("what", ["read", "write"])
def test_only_what_had_no_effect_is_repeated(kind, what):
    """Reads are repeated after lost answers, writes only where they certainly were not done."""
    trouble = Trouble(kind, "", limit=Limit(True, 7.0) if kind is TroubleKind.LIMITED else None)
    wait = wait_before_next(trouble, 1, is_write=what == "write")
    assert (wait is not None) == (what in AGAIN.get(kind, set()))


@pytest.mark.parametrize("kind", [TroubleKind.NOT_SENT, TroubleKind.LOST])
def test_there_is_an_end_to_it(kind):
    """Waits grow, and the third failure is the last."""
    waits = [wait_before_next(Trouble(kind, ""), attempt, is_write=False) for attempt in range(1, MOST_TRIES + 1)]
    assert waits[-1] is None
    assert waits[:-1] == sorted(wait for wait in waits if wait)


def test_a_limit_is_waited_for_as_long_as_it_says():
    """The wait for a limit is the limit's own."""
    limited = Trouble(TroubleKind.LIMITED, "", limit=Limit(False, 12.5))
    assert wait_before_next(limited, 9, is_write=True) == 12.5
    assert wait_before_next(Trouble(TroubleKind.LIMITED, ""), 1, is_write=False) is None
