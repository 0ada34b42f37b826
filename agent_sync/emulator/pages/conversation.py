"""The pages of one issue and of one pull request."""

from agent_sync.emulator.graphql.fields.pulls import fork_point
from agent_sync.emulator.operations.keywords import closed_by_text
from agent_sync.emulator.pages.board import card_facts
from agent_sync.emulator.pages.checks import checks, verdict
from agent_sync.emulator.pages.layout import (
    Page,
    board_path,
    conversation_link,
    facts,
    listed,
    moment,
    people,
    pills,
    repository_above,
    repository_path,
    section,
    state_badge,
)
from agent_sync.emulator.pages.markup import Content, Html, joined, link, tag
from agent_sync.emulator.pages.prose import prose
from agent_sync.emulator.pages.timeline import reviews, timeline
from agent_sync.emulator.world.boards import Item
from agent_sync.emulator.world.conversations import Conversation, Issue
from agent_sync.emulator.world.pulls import PullRequest


def issue_page(issue: Issue) -> Page:
    """Return an issue with everything that hangs on it."""
    pulls = [pull for pull in issue.repository.pulls if issue in closed_by_text(issue.repository, pull.body or "")]
    relations: list[tuple[str, Content | None]] = [
        ("Blocked by", _links(issue.blocked_by)),
        ("Blocks", _links(issue.blocking)),
        ("Part of", _links([issue.parent] if issue.parent else [])),
        ("Sub-issues", _links(issue.sub_issues)),
        ("Pull requests", _links(pulls)),
    ]
    main = (*_head(issue, [*_common(issue), *relations]), _description(issue), timeline(issue))
    return Page(f"{issue.title} · Issue #{issue.number}", _above(issue, "issues", "Issues"), main)


def pull_page(pull: PullRequest) -> Page:
    """Return a pull request with checks, reviews and commits."""
    branches = joined(["into ", tag("code", pull.base), " from ", tag("code", pull.head)])
    closes = _links(closed_by_text(pull.repository, pull.body or ""))
    main = (
        *_head(pull, [("Branches", branches), ("Closes", closes), *_common(pull)]),
        _description(pull),
        checks(pull.repository, pull.head_sha),
        reviews(pull),
        _commits(pull),
        timeline(pull),
    )
    return Page(f"{pull.title} · Pull request #{pull.number}", _above(pull, "pulls", "Pull requests"), main)


def _above(entry: Conversation, kind: str, name: str) -> tuple[tuple[str, str], ...]:
    return (*repository_above(entry.repository), (f"{repository_path(entry.repository)}/{kind}", name))


def _head(entry: Conversation, pairs: list[tuple[str, Content | None]]) -> tuple[Html, ...]:
    number = tag("span", f"#{entry.number}", class_="number")
    by = tag("strong", entry.author.login)
    opened = tag("p", state_badge(entry), " opened by ", by, " on ", moment(entry.created_at), class_="lead")
    return tag("h1", tag("bdi", entry.title), " ", number), opened, facts(pairs)


def _common(entry: Conversation) -> list[tuple[str, Content | None]]:
    cards = [item for item in entry.items if not item.archived]
    return [
        ("Assigned to", people(entry.assignees)),
        ("Labels", pills(entry.labels)),
        ("Board", joined(map(_card, cards), "; ") if cards else None),
    ]


def _card(item: Item) -> Html:
    fields = ", ".join(f"{name}: {value}" for name, value in card_facts(item))
    return joined([link(board_path(item.project), item.project.title), f" ({fields})" if fields else ""])


def _links(entries: "list[Issue] | list[PullRequest]") -> Html | None:
    return joined(map(conversation_link, entries), ", ") if entries else None


def _description(entry: Conversation) -> Html:
    return section("Description", prose(entry.body, entry.repository.full_name))


def _commits(pull: PullRequest) -> Html:
    git = pull.repository.git
    found = [git.commit(sha) for sha in git.commits_between(fork_point(pull), pull.head_sha)]
    rows = [
        tag("p", tag("code", commit.sha[:7]), " ", tag("bdi", commit.message.split("\n")[0]), " ",
            tag("span", f"by {commit.author.name}", class_="dim"), " ", verdict(pull.repository, commit.sha) or "")
        for commit in found
    ]  # fmt: skip
    return section("Commits", listed(rows, nothing="No commit of its own."))
