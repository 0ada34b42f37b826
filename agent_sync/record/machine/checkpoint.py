"""Decides when a checkpoint is made and what the record becomes by it."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import assert_never

from agent_sync.record.machine.machine import moved
from agent_sync.record.machine.model import Checkpoint, Record
from agent_sync.record.machine.states import Move, State, Trigger
from agent_sync.settings.tables import Record as RecordSettings

KEPT = 64
_PREFIX = "ckpt-"
_RANDOM_BYTES = 4


def checkpoint_id(randomness: bytes) -> str:
    """Return the name of a new checkpoint, made of bytes the caller drew."""
    if len(randomness) < _RANDOM_BYTES:
        raise ValueError(f"a checkpoint's name takes {_RANDOM_BYTES} random bytes")
    return _PREFIX + randomness[:_RANDOM_BYTES].hex()


def checkpointed(record: Record, checkpoint: Checkpoint) -> Record:
    """Return the record with one more checkpoint; one whose key is there already changes nothing."""
    if checkpoint.key and checkpoint.key in known_keys(record):
        return record
    after = moved(record, Move.CHECKPOINT, checkpoint.created_at, checkpoint=checkpoint.model_dump(mode="json"))
    step = after.current_step
    changes = {
        "checkpoints": (*record.checkpoints, checkpoint)[-KEPT:],
        "checkpoints_total": record.checkpoints_total + 1,
        "current_step": step and step.model_copy(update={"current_checkpoint_id": checkpoint.checkpoint_id}),
    }
    return after.model_copy(update=changes)


def known_keys(record: Record) -> frozenset[str]:
    """Return the keys of every checkpoint the record still knows, those that only its history has included."""
    return frozenset(key for key in (*_listed_keys(record), *_told_keys(record)) if key)


def is_wanted(trigger: Trigger, settings: RecordSettings) -> bool:
    """Tell whether the settings ask for a checkpoint of this kind."""
    match trigger:
        case Trigger.MANUAL:
            return True
        case Trigger.COMMIT:
            return settings.on_commit
        case Trigger.PUSH:
            return settings.on_push
        case Trigger.PULL:
            return settings.on_pr
        case Trigger.VALIDATION:
            return settings.on_validation
        case Trigger.STEP_COMPLETE:
            return settings.on_step_complete
        case Trigger.INTERVAL:
            return settings.interval_s > 0
        case _:
            assert_never(trigger)


def interval_due(record: Record, settings: RecordSettings, now: datetime) -> bool:
    """Tell whether a running step has gone for too long without a checkpoint.

    A checkpoint that lies in the future was made by a clock that has been put right since: it counts as too old.
    """
    since = _last_sign(record)
    if record.state is not State.STEP_RUNNING or since is None or not is_wanted(Trigger.INTERVAL, settings):
        return False
    return not 0 <= (now - since).total_seconds() < settings.interval_s


def interval_at(record: Record, settings: RecordSettings) -> datetime | None:
    """Return when a running step asks for its next checkpoint by itself."""
    since = _last_sign(record)
    if record.state is not State.STEP_RUNNING or since is None or not is_wanted(Trigger.INTERVAL, settings):
        return None
    return since + timedelta(seconds=settings.interval_s)


def _last_sign(record: Record) -> datetime | None:
    """Return when the present attempt at the present step last left a checkpoint, or else when it began."""
    step = record.current_step
    if step is None:
        return None
    last = record.checkpoints[-1] if record.checkpoints else None
    if last and (last.step_index, last.attempt) == (step.step_index, step.attempt):
        return last.created_at
    return step.started_at


def _listed_keys(record: Record) -> Iterator[str]:
    return (checkpoint.key for checkpoint in record.checkpoints)


def _told_keys(record: Record) -> Iterator[str]:
    for event in record.history:
        told = event.details.get("checkpoint") if event.trigger is Move.CHECKPOINT else None
        if isinstance(told, dict):
            yield str(told.get("key", ""))
