"""The lease: who holds an issue, since when and until when, as the bytes of `claim.json` in a claim commit."""

import json
from enum import StrEnum
from typing import Annotated, Literal

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.refs.values import Where
from agent_sync.plain.fields import AfterValidator, AwareDatetime, BeforeValidator, Field
from agent_sync.plain.model import Model
from agent_sync.system.git import LONGEST_BRANCH
from agent_sync.task.claim.model import Count, Number, Ttl, cut_name, in_calendar, writable

SCHEMA_VERSION = 1
FILE_NAME = "claim.json"
# What a claim may take up; one of ours is a hundredth of it.
LARGEST = 64 * 1024

Moment = Annotated[AwareDatetime, AfterValidator(in_calendar)]
# A name that people read; one that is too long is cut.
Name = Annotated[str, BeforeValidator(cut_name), BeforeValidator(writable)]
BranchName = Annotated[str, Field(max_length=LONGEST_BRANCH), BeforeValidator(writable)]
Nonce = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Sha = Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})?$")]


class LeaseState(StrEnum):
    """What a claim ref says of its issue."""

    HELD = "held"
    RELEASED = "released"
    DONE = "done"


class LeaseMode(StrEnum):
    """Whether a lease runs out by itself."""

    AUTO = "auto"
    MANUAL = "manual"


class LeaseValue(Model, is_strict=True):
    """A value that is read strictly, never changes, and keeps what newer programs wrote beside it."""


class Holder(LeaseValue):
    """Who holds a lease; the worktree counts, the rest is for people to read."""

    host: Name
    user: Name
    worktree: Annotated[Name, Field(min_length=1)]
    session: Name = ""
    agent: Name = ""
    # The name of the worktree's directory.
    directory: Name = ""


class Lease(LeaseValue):
    """One state of one issue's claim."""

    schema_version: Literal[1] = 1
    issue: Number
    holder: Holder
    epoch: Number
    nonce: Nonce
    state: Annotated[LeaseState, Field(strict=False)]
    acquired_at: Moment
    renewed_at: Moment
    ttl_s: Ttl
    mode: Annotated[LeaseMode, Field(strict=False)] = LeaseMode.AUTO
    branch: BranchName = ""
    pr: Number | None = None
    phase: Name = ""
    prev: Sha = ""
    # The commit that began this holding; empty in that commit itself.
    began: Sha = ""
    # Counts the changes of one holding, so that no two of its commits can be the same.
    serial: Count = 0

    def to_json(self) -> bytes:
        """Return the canonical bytes: one line, sorted keys, ASCII."""
        values = self.model_dump(mode="json")
        return json.dumps(values, sort_keys=True, separators=(",", ":")).encode() + b"\n"


@dataclass(frozen=True)
class Tip:
    """What a claim ref holds now."""

    sha: str
    lease: Lease
    where: Where


@dataclass(frozen=True)
class LeaseProof:
    """What a holder must remember to prove that a lease is its own."""

    issue: int
    epoch: int
    nonce: str


def proof_of(lease: Lease) -> LeaseProof:
    """Return what the holder of a lease remembers of it."""
    return LeaseProof(lease.issue, lease.epoch, lease.nonce)
