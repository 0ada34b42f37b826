"""The first page, and that of a repository: what is in it and where its work stands."""

from agent_sync.emulator.exchange import Asked
from agent_sync.emulator.pages.layout import (
    Page,
    board_path,
    conversation_link,
    facts,
    listed,
    repository_path,
    section,
    state_badge,
)
from agent_sync.emulator.pages.markup import Html, joined, link, tag
from agent_sync.emulator.pages.prose import prose
from agent_sync.emulator.world.bare import TreeEntry
from agent_sync.emulator.world.boards import DraftIssue, Project
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World

MOST_BRANCHES = 50


def home_page(world: World) -> Page:
    """Return every repository and board."""
    repositories = [link(repository_path(entry), entry.full_name) for entry in world.repositories.values()]
    boards = [_board_link(project) for project in world.projects.values()]
    return Page(
        "Repositories and boards",
        (),
        (
            tag("h1", "Repositories and boards"),
            section("Repositories", listed(repositories, nothing="There is no repository.")),
            section("Boards", listed(boards, nothing="There is no board.")),
        ),
    )


def repository_page(world: World, repository: Repository, asked: Asked) -> Page:
    """Return a repository with its files, branches, open pull requests and boards."""
    tip = repository.git.ref(f"refs/heads/{repository.default_branch}")
    entries = repository.git.tree_entries(tip, ".") if tip else []
    opened = [pull for pull in repository.pulls if pull.is_open]
    main = (
        tag("h1", repository.full_name),
        tag("p", repository.description or "", class_="lead"),
        _tabs(repository),
        section("Clone", _code(f"git clone {asked.links.web}/{repository.full_name}.git", "The command to clone")),
        section("Open pull requests", listed(
            (joined([state_badge(pull), " ", conversation_link(pull)]) for pull in opened), nothing="None is open.")),
        section("Boards", listed(map(_board_link, _boards(world, repository)), nothing="It is on no board.")),
        section("Files", listed((_file(entry) for entry in entries), nothing="There is no file.")),
        *_readme(repository, entries),
        section("Branches", _branches(repository)),
    )  # fmt: skip
    return Page(repository.full_name, (), main)


def _tabs(repository: Repository) -> Html:
    path = repository_path(repository)
    issues = sum(issue.is_open for issue in repository.issues)
    pulls = sum(pull.is_open for pull in repository.pulls)
    shown = [link(f"{path}/issues", f"Issues ({issues} open)"), link(f"{path}/pulls", f"Pull requests ({pulls} open)")]
    return tag("nav", *shown, aria_label="Repository", class_="tabs")


def _code(text: str, name: str) -> Html:
    return tag("pre", text, tabindex="0", role="region", aria_label=name)


def _board_link(project: Project) -> Html:
    return link(board_path(project), f"{project.title} ({project.owner.login}, number {project.number})")


def _boards(world: World, repository: Repository) -> list[Project]:
    return [project for project in world.projects.values() if _shows(project, repository)]


def _shows(project: Project, repository: Repository) -> bool:
    contents = (item.content for item in project.items.values())
    return project.owner is repository.owner or any(
        not isinstance(content, DraftIssue) and content.repository is repository for content in contents
    )


def _file(entry: TreeEntry) -> Html:
    return tag("code", entry.path + ("/" if entry.kind == "tree" else ""))


def _readme(repository: Repository, entries: list[TreeEntry]) -> list[Html]:
    found = next((entry for entry in entries if entry.path.lower() == "readme.md"), None)
    if found is None:
        return []
    text = repository.git.blob(found.sha).decode("utf-8", "replace")
    return [section("README.md", prose(text, repository.full_name), id_="readme")]


def _branches(repository: Repository) -> Html:
    branches = repository.git.refs("refs/heads/")
    rows = [facts([(name.removeprefix("refs/heads/"), tag("code", sha[:12]))]) for name, sha in branches.items()]
    more = len(rows) - MOST_BRANCHES
    ending = [tag("p", f"and {more} more", class_="dim")] if more > 0 else []
    return joined([listed(rows[:MOST_BRANCHES], nothing="There is no branch."), *ending])
