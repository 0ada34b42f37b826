"""What people and programs say about a pull request: remarks, threads and reviews, and whose words count."""

import hashlib
from collections.abc import Iterable
from enum import StrEnum
from typing import assert_never

from agent_sync.lazy_dataclasses import dataclass

# Stands in every answer that agent-sync writes for the agent; people often share the agent's account.
OWN_MARK = "<!-- agent-sync "


class AuthorKind(StrEnum):
    """Who wrote a remark, as far as that decides whether the agent should act on it."""

    WRITER = "write access"
    # Belongs to the organisation or was invited, maybe to read or triage only: GitHub does not say of a comment.
    MEMBER = "member"
    OUTSIDER = "outsider"
    BOT = "bot"


class Wake(StrEnum):
    """Whose remarks wake the agent."""

    WRITERS = "writers"
    PEOPLE = "people"
    EVERYONE = "everyone"
    NOBODY = "nobody"


@dataclass(frozen=True)
class Remark:
    """One comment: who wrote it, and what it says."""

    id: str
    author: str
    kind: AuthorKind
    body: str
    url: str = ""
    is_own: bool = False

    @property
    def label(self) -> str:
        """What a reader must know of the author, beside the name."""
        return "" if self.kind is AuthorKind.WRITER else f" ({self.kind.value})"


@dataclass(frozen=True)
class ReviewThread:
    """A conversation at one line of the change; `line` is None where the line is no longer there."""

    id: str
    path: str
    line: int | None
    remarks: tuple[Remark, ...]
    is_resolved: bool = False
    is_outdated: bool = False

    @property
    def short_id(self) -> str:
        """A name that can be typed."""
        return short_id(self.id)

    @property
    def awaits_answer(self) -> bool:
        """Whether it is open and the last word is not the agent's."""
        return not self.is_resolved and bool(self.remarks) and not self.remarks[-1].is_own


@dataclass(frozen=True)
class Review:
    """One review: the opinion, the commit it is about, and its text."""

    remark: Remark
    state: str
    commit: str = ""
    author_id: str = ""


@dataclass(frozen=True)
class Conversation:
    """Everything said about a pull request, and who was asked for a review."""

    threads: tuple[ReviewThread, ...] = ()
    reviews: tuple[Review, ...] = ()
    comments: tuple[Remark, ...] = ()
    requested: tuple[str, ...] = ()


def short_id(identity: str) -> str:
    """Return six characters that stand for a node id."""
    return hashlib.sha256(identity.encode()).hexdigest()[:6]


def is_heard(remark: Remark, wake: Wake) -> bool:
    """Tell whether a remark is one that the agent is woken for."""
    if remark.is_own or not remark.body.strip():
        return False
    match wake:
        case Wake.WRITERS:
            return remark.kind in {AuthorKind.WRITER, AuthorKind.MEMBER}
        case Wake.PEOPLE:
            return remark.kind is not AuthorKind.BOT
        case Wake.EVERYONE:
            return True
        case Wake.NOBODY:
            return False
        case _:
            assert_never(wake)


def open_threads(conversation: Conversation, wake: Wake) -> tuple[ReviewThread, ...]:
    """Return the threads in which somebody who is heard waits for the agent."""
    return tuple(
        thread
        for thread in conversation.threads
        if thread.awaits_answer and any(is_heard(remark, wake) for remark in thread.remarks)
    )


def spoken(conversation: Conversation) -> Iterable[tuple[Remark, ReviewThread | None]]:
    """Return every remark that is not the agent's own and not settled, with its thread if it has one."""
    for thread in conversation.threads:
        if thread.awaits_answer:
            yield from ((remark, thread) for remark in thread.remarks if not remark.is_own)
    for review in conversation.reviews:
        if not review.remark.is_own and review.remark.body.strip():
            yield review.remark, None
    yield from ((remark, None) for remark in conversation.comments if not remark.is_own)


def wanting_changes(conversation: Conversation) -> tuple[Review, ...]:
    """Return the reviews that ask for changes and whose authors were not asked to look again, oldest first."""
    opinions = ("APPROVED", "CHANGES_REQUESTED", "DISMISSED")
    latest = {review.remark.author: review for review in conversation.reviews if review.state in opinions}
    return tuple(
        review
        for review in latest.values()
        if review.state == "CHANGES_REQUESTED" and review.remark.author not in conversation.requested
    )


def reviews_of_older_commits(conversation: Conversation, head: str) -> tuple[Review, ...]:
    """Return the reviews of people that ask for changes and are about another commit than the head."""
    return tuple(
        review
        for review in wanting_changes(conversation)
        if review.remark.kind is AuthorKind.WRITER and review.author_id and review.commit not in {"", head}
    )
