"""The worlds a local GitHub can start with: `small`, `empty`, `large` and `team`."""

from pathlib import Path

from agent_sync.emulator.operations import boards
from agent_sync.emulator.operations.automation import DONE
from agent_sync.emulator.operations.changes import NewValue, mark_closed, store_value
from agent_sync.emulator.operations.issue_fields import add_issue_field, add_issue_type, set_issue_field
from agent_sync.emulator.operations.issues import create_issue
from agent_sync.emulator.operations.people import assign
from agent_sync.emulator.operations.refs import after_ref_changes
from agent_sync.emulator.operations.relations import add_blocked_by
from agent_sync.emulator.world.bare_files import lay_first_commit
from agent_sync.emulator.world.boards import Field, FieldType, Project
from agent_sync.emulator.world.conversations import Issue, Label
from agent_sync.emulator.world.people import Role, User, Viewer
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World

STATUS_OPTIONS = ("Todo", "In Progress", "In Review", DONE)
PRIORITY_OPTIONS = ("P0", "P1", "P2")
LABELS = (("bug", "d73a4a"), ("documentation", "0075ca"), ("enhancement", "a2eeef"), ("question", "d876e3"))
FIRST_NUMBER = 40
# In seconds since 1970: always the same, so that worlds begin with the same commit.
FIRST_COMMIT_AT = 1767600000
LARGE = 10_000
TEAM_BOARD = 7
TYPES = (("Task", "YELLOW"), ("Bug", "RED"), ("Feature", "BLUE"), ("Epic", "PURPLE"))
CODING_BOT = "copilot-swe-agent[bot]"
TAKEN_BY_BOT = 3
TITLES = {
    "api": (
        "Drop the legacy billing table", "Page the audit log", "Return 409 for a stale order",
        "Cache the currency rates", "Log the request id", "Close idle database connections",
        "Reject tokens without an audience", "Describe the error codes", "Retry the mail gateway",
        "Count refused sign-ins", "Split the order service", "Remove the unused export endpoint",
    ),
    "web": (
        "Fix a typo on the login page", "Keep the cart after sign-in", "Show prices with tax",
        "Lazy-load the product images", "Name the buttons for screen readers", "Move the banner below the fold",
        "Translate the checkout", "Remember the chosen theme", "Shorten the order summary",
        "Warn before leaving the form", "Show delivery dates", "Drop support for old browsers",
    ),
}  # fmt: skip


def build(name: str, home: Path) -> World:
    """Build the world of a scenario with its repositories under `home`."""
    world = World(home)
    with world.lock:
        SCENARIOS[name](world)
    return world


def empty(world: World) -> None:
    """Fill in `octo/demo` with one commit and an empty board."""
    octo = world.add_user("octo", "Octo Cat")
    repository = _repository(world, octo, "demo", by=octo)
    repository.description = "A repository to try agent-sync on"
    repository.roles[world.add_user("mona", "Mona Lisa").login] = Role.WRITE
    project = boards.create_project(world, octo, 1, "Demo board")
    boards.add_field(world, project, "Status", FieldType.SINGLE_SELECT, options=STATUS_OPTIONS)
    boards.add_field(world, project, "Priority", FieldType.SINGLE_SELECT, options=PRIORITY_OPTIONS)
    boards.add_field(world, project, "Agent", FieldType.TEXT)


def _repository(world: World, owner: User, name: str, *, by: User) -> Repository:
    repository = world.add_repository(owner, name)
    for label, color in LABELS:
        entry = Label(world.identify("LA"), label, color, None, is_default=True)
        repository.labels[label] = world.register(entry.id, entry)
    _first_commit(world, repository, by)
    return repository


def team(world: World) -> None:
    """Fill in an organisation whose two repositories share one board, with an issue field for the priority."""
    world.add_user("octo", "Octo Cat")
    acme = world.add_user("acme", "Acme", is_organization=True)
    mona, bot = world.add_user("mona", "Mona Lisa"), world.add_user(CODING_BOT, "Copilot")
    priority = add_issue_field(world, acme, "Priority", PRIORITY_OPTIONS)
    for name, color in TYPES:
        add_issue_type(world, acme, name, color=color)
    project = boards.create_project(world, acme, TEAM_BOARD, "Acme")
    boards.add_field(world, project, "Status", FieldType.SINGLE_SELECT, options=STATUS_OPTIONS)
    boards.add_field(
        world, project, priority.name, FieldType.SINGLE_SELECT, options=PRIORITY_OPTIONS, issue_field=priority
    )
    for name, titles in TITLES.items():
        repository = _repository(world, acme, name, by=mona)
        lead = _planner(world, repository)
        repository.roles |= {"octo": Role.WRITE, "mona": Role.ADMIN, bot.login: Role.WRITE}
        for place, title in enumerate(titles):
            issue = _card(world, repository, title, status="Todo")
            set_issue_field(world, lead, issue, priority, priority.options[place % len(priority.options)])
        assign(world, lead, repository.issues[TAKEN_BY_BOT - 1], [bot.login])


def small(world: World) -> None:
    """Fill in five issues, one blocked, one taken, one done."""
    empty(world)
    repository = world.repository("octo", "demo")
    repository.last_number = FIRST_NUMBER - 1
    octo = Viewer(world.user("octo"))
    taken = _card(world, repository, "Rework the configuration loader", status="In Progress")
    assign(world, octo, taken, ["mona"])
    blocked = _card(world, repository, "Validate the configuration at start", status="Todo")
    add_blocked_by(world, octo, blocked, taken)
    _card(world, repository, "Fix race condition in cache", status="Todo", priority="P1")
    _card(world, repository, "Describe the cache in the README", status="Todo", priority="P2")
    done = _card(world, repository, "Set up the repository", status=DONE)
    mark_closed(world, done, by=octo.user)


def large(world: World) -> None:
    """Fill in the small world and as many finished issues as make ten thousand cards."""
    small(world)
    repository = world.repository("octo", "demo")
    grow_board(world, repository, LARGE - len(world.project("octo", 1).items))


def grow_board(world: World, repository: Repository, count: int) -> None:
    """Add closed issues whose cards are in Done."""
    for _ in range(count):
        issue = _card(world, repository, f"Finished task {repository.last_number + 1}", status=DONE)
        mark_closed(world, issue, by=repository.owner)


def _planner(world: World, repository: Repository) -> Viewer:
    owner = repository.owner
    return Viewer(world.user("mona") if owner.is_organization else owner, overrules=True)


def _card(world: World, repository: Repository, title: str, *, status: str, priority: str | None = None) -> Issue:
    viewer = _planner(world, repository)
    issue = create_issue(world, viewer, repository, title=title)
    item = boards.add_item(world, viewer, world.first_project(repository.owner), issue)
    for field_name, option in (("Status", status), ("Priority", priority)):
        if option is not None:
            field, value = _choice(item.project, field_name, option)
            store_value(world, item, field, value, by=viewer.user)
    return issue


def _choice(project: Project, field_name: str, option_name: str) -> tuple[Field, NewValue]:
    field = project.field_named(field_name)
    option = field.option(option_name) if field else None
    if field is None or option is None:
        raise LookupError(f"The board has no {field_name} with the option {option_name}.")
    return field, NewValue(option_id=option.id)


def _first_commit(world: World, repository: Repository, owner: User) -> None:
    author = f"{owner.name} <{owner.email}> {FIRST_COMMIT_AT} +0000"
    tree = repository.git.tree_with_file(None, "README.md", f"# {repository.name}\n")
    lay_first_commit(repository.git.path, "main", tree, author)
    after_ref_changes(world, repository, by=owner)


SCENARIOS = {"small": small, "empty": empty, "large": large, "team": team}
