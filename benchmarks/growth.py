"""How commands grow with the board, claim refs, the record, files and claims of one clone."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.figures import Multiple, Row, Unit, multiple, multiples_row
from benchmarks.turns import BARE, Effort, in_turns, plain_environment, seconds
from benchmarks.worlds import ISSUE, World, with_cards, with_claim_refs, with_claims, with_events, with_files, world

Case = Callable[[World], float]
SIZES = (10, 1_000, 10_000)


@dataclass(frozen=True)
class Growth:
    """What grows, to which sizes, and the commands that are timed at each."""

    of: str
    sizes: tuple[int, ...]
    grow: Callable[[World, int], None]
    cases: dict[str, Case]


def growth_rows(scratch: Path, effort: Effort) -> list[Row]:
    """Measure every curve."""
    return [row for growth in GROWTHS for row in curves(growth, scratch / growth.of.replace(" ", "-"), effort)]


def curves(growth: Growth, scratch: Path, effort: Effort) -> list[Row]:
    """Make a world of each size, time every command in all of them in turns, and count its requests."""
    scratch.mkdir()
    with ExitStack() as stack:
        sizes = effort.sizes(*growth.sizes)
        worlds = {f"{size:,}": stack.enter_context(world(scratch / str(size))) for size in sizes}
        for size, made in zip(sizes, worlds.values(), strict=True):
            growth.grow(made, size)
        found = {name: _curve(case, worlds, scratch, effort) for name, case in growth.cases.items()}
    return [
        *(multiples_row(f"Growth with {growth.of}", name, Unit.BARE, times) for name, (times, _) in found.items()),
        *(_requests(growth.of, name, requests) for name, (_, requests) in found.items()),
    ]


def _curve(
    case: Case, worlds: dict[str, World], scratch: Path, effort: Effort
) -> tuple[dict[str, Multiple], dict[str, int]]:
    cases: dict[str, Callable[[], float]] = {name: partial(case, made) for name, made in worlds.items()}
    bare = partial(seconds, BARE, scratch, plain_environment(scratch))
    for made in worlds.values():
        case(made)  # the first run is not the usual one: it may fill a store or leave a stamp
    times = in_turns({"bare": bare, **cases}, effort.growth)
    return (
        {name: multiple(times[name], times["bare"]) for name in worlds},
        {name: made.requests for name, made in worlds.items()},
    )


def _requests(of: str, name: str, requests: dict[str, int]) -> Row:
    """Return the requests at each size, which may be no more than at the smallest."""
    values = tuple(map(float, requests.values()))
    at_most = (None, *[values[0]] * (len(values) - 1))
    return Row(f"Requests with {of}", name, Unit.COUNT, tuple(requests), values, at_most=at_most)


def plainly(*arguments: str) -> Case:
    """Return the timing of a command that changes nothing."""
    return lambda made: made.seconds(*arguments)


def claiming(made: World) -> float:
    """Time a claim, after the one before was given back."""
    if made.stage.claim():
        made.do("release")
    return made.seconds("claim", str(ISSUE))


def releasing(made: World) -> float:
    """Time giving a claim back."""
    if not made.stage.claim():
        made.do("claim", str(ISSUE))
    return made.seconds("release")


def claiming_in_worktree(made: World) -> float:
    """Time a claim in a new worktree, and take that away again."""
    took = made.seconds("claim", made.issue(), "--worktree")
    listed = made.git("worktree", "list", "--porcelain").splitlines()
    added = [line.removeprefix("worktree ") for line in listed if line.startswith("worktree ")][-1]
    made.do("release", cwd=Path(added))
    made.git("worktree", "remove", "--force", added)
    return took


def after_commit(*arguments: str) -> Case:
    """Return the timing of a hook that finds a new commit."""

    def committed_and_timed(made: World) -> float:
        made.commit()
        return made.seconds(*arguments)

    return committed_and_timed


GROWTHS = (
    Growth(
        "cards on the board",
        SIZES,
        with_cards,
        {
            "session-start": plainly("session-start"),
            "next": plainly("next"),
            "board": plainly("board"),
            "claim": claiming,
        },
    ),
    Growth(
        "claim refs",
        SIZES,
        with_claim_refs,
        {
            "worker list": plainly("worker", "list"),
            "status --all": plainly("status", "--all"),
            "claim": claiming,
            "status": plainly("status"),
            "release": releasing,
        },
    ),
    Growth(
        "events in the record",
        SIZES,
        with_events,
        {
            "on-stop after a commit": after_commit("on-stop"),
            "session-start": plainly("session-start"),
            "record status": plainly("record", "status"),
        },
    ),
    Growth(
        "files",
        (10, 5_000, 50_000),
        with_files,
        {
            "on-stop after a commit": after_commit("on-stop"),
            "on-tool after a commit": after_commit("on-tool"),
            "on-stop, quiet": plainly("on-stop"),
        },
    ),
    Growth(
        "claims of one clone",
        (1, 10, 100),
        with_claims,
        {
            "session-start": plainly("session-start"),
            "worker list": plainly("worker", "list"),
            "claim --worktree": claiming_in_worktree,
        },
    ),
)
