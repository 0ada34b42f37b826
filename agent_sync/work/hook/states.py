"""The states of a work hook and the one table of moves between them; whatever is not in it is refused."""

from enum import StrEnum

from agent_sync.errors import IllegalHookMove


class State(StrEnum):
    """Where the work on a hook stands, as status.json says it."""

    EMPTY = "EMPTY"
    PENDING = "PENDING"
    IN_PROGRESS = "IN_PROGRESS"
    HANDED_OFF = "HANDED_OFF"
    BLOCKED = "BLOCKED"
    COMPLETE = "COMPLETE"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class Move(StrEnum):
    """What can be done with a hook."""

    SLING = "sling"
    START = "start"
    HAND_OFF = "hand off"
    BLOCK = "block"
    COMPLETE = "complete"
    FAIL = "fail"
    REQUEUE = "requeue"
    CANCEL = "cancel"
    CLEAR = "clear"


MOVES: dict[State, dict[Move, State]] = {
    State.EMPTY: {Move.SLING: State.PENDING},
    State.PENDING: {
        Move.START: State.IN_PROGRESS,
        Move.BLOCK: State.BLOCKED,
        Move.CANCEL: State.CANCELLED,
    },
    State.IN_PROGRESS: {
        # Started anew after a crash; the table says that it may be, `prime` says when.
        Move.START: State.IN_PROGRESS,
        Move.HAND_OFF: State.HANDED_OFF,
        Move.COMPLETE: State.COMPLETE,
        Move.FAIL: State.FAILED,
        Move.REQUEUE: State.PENDING,
        Move.CANCEL: State.CANCELLED,
    },
    State.HANDED_OFF: {
        Move.START: State.IN_PROGRESS,
        # A session that goes on for a moment after its handoff replaces it.
        Move.HAND_OFF: State.HANDED_OFF,
        Move.BLOCK: State.BLOCKED,
        Move.REQUEUE: State.PENDING,
        Move.CANCEL: State.CANCELLED,
    },
    State.BLOCKED: {Move.START: State.IN_PROGRESS, Move.CANCEL: State.CANCELLED},
    State.COMPLETE: {Move.SLING: State.PENDING, Move.CLEAR: State.EMPTY},
    State.FAILED: {Move.SLING: State.PENDING, Move.CLEAR: State.EMPTY},
    State.CANCELLED: {Move.SLING: State.PENDING, Move.CLEAR: State.EMPTY},
}
TERMINAL = frozenset({State.COMPLETE, State.FAILED, State.CANCELLED})
# Work that waits for somebody to begin or go on with it.
WAITING = frozenset({State.PENDING, State.HANDED_OFF, State.BLOCKED})
ACTIVE = WAITING | {State.IN_PROGRESS}


def state_after(state: State, move: Move) -> State:
    """Return where a move leads; refuse one the state does not allow."""
    allowed = MOVES[state]
    if move not in allowed:
        shown = ", ".join(allowed) or "nothing"
        message = f"A hook in state {state} cannot {move}; it can: {shown}."
        raise IllegalHookMove(message, helps="agent-sync worker list")
    return allowed[move]
