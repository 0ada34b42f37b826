"""The lease: who holds an issue, since when and until when, as the bytes of `claim.json` in a claim commit."""

import json
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.leases.limits import Count, Moment, Name, Number, Ttl
from agent_sync.leases.refs.values import Where
from agent_sync.system.git import LONGEST_BRANCH
from agent_sync.task.claim.model import writable

SCHEMA_VERSION = 1
FILE_NAME = "claim.json"
# What a claim may take up; one of ours is a hundredth of it.
LARGEST = 64 * 1024

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


class LeaseValue(BaseModel):
    """A value that is read strictly, never changes, and keeps what newer programs wrote beside it."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="allow", strict=True)


class Holder(LeaseValue):
    """Who holds a lease; the worktree counts, the rest is for people to read."""

    host: Name
    user: Name
    worktree: Annotated[Name, Field(min_length=1)]
    session: Name = ""
    agent: Name = ""


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
