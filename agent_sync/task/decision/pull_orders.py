"""What is ordered of an open pull request beyond its opening."""

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.settings.tables import PullSettings
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.facts import Facts, Pull, PullState
from agent_sync.task.decision.pull_text import (
    NO_BRANCH,
    NO_GATE,
    has_digests,
    is_body_ours,
    is_title_ours,
    pull_body,
    pull_title,
    without_digests,
)


@dataclass(frozen=True)
class PullExtras:
    """What the settings ask for besides: reviewers, labels, and how to merge once nothing is missing."""

    reviewers: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    auto_merge: str = ""


@dataclass(frozen=True)
class PullUpdate:
    """What an open pull request should say from now on, and which of it is to be written."""

    title: str
    body: str
    retitle: bool = False
    rewrite: bool = False
    ready: bool = False
    # What differs and stays, because a person has edited it.
    kept: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return not (self.retitle or self.rewrite or self.ready)


NO_EXTRAS = PullExtras()


def extras_of(claim: Claim, settings: PullSettings, update: PullUpdate | None, *, is_new: bool) -> PullExtras:
    """Return what a pull request still lacks: everything where it is new, the reviewers once it is no draft.

    Nobody is asked to review a draft, and none is merged.
    """
    if is_new and claim.draft:
        return PullExtras(labels=settings.labels)
    if is_new:
        return PullExtras(settings.reviewers, settings.labels, settings.auto_merge)
    is_ready_now = update is not None and update.ready
    return PullExtras(settings.reviewers, auto_merge=settings.auto_merge) if is_ready_now else NO_EXTRAS


def update_of(claim: Claim, facts: Facts, pull: Pull) -> PullUpdate | None:
    """Return what a handoff changes of a pull request that is open; what a person has edited stays."""
    if pull.state is not PullState.OPEN:
        return None
    title = pull_title(claim)
    body = pull_body(claim, facts.settings.pr, gate=facts.gate or NO_GATE, branch=facts.branch or NO_BRANCH)
    differs = (pull.title != title, without_digests(pull.body).strip() != body.strip())
    ours = (is_title_ours(pull.title, pull.body), is_body_ours(pull.body))
    # Without digests nobody knows whose text it is, so nothing is said of an edit.
    edited = [differ and not own and has_digests(pull.body) for differ, own in zip(differs, ours, strict=True)]
    return PullUpdate(
        title,
        body,
        retitle=differs[0] and ours[0],
        rewrite=differs[1] and ours[1],
        ready=pull.is_draft and not claim.draft,
        kept=tuple(name for name, is_edited in zip(("title", "body"), edited, strict=True) if is_edited),
    )
