"""Shows the demo: live on a terminal, as plain lines in a pipe."""

import time
from types import TracebackType
from typing import Protocol, Self

import click
from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Column, Table
from rich.text import Text

from agent_sync.demo.moments import COLUMNS, TRACK, Card, Moment, cost
from agent_sync.demo.story import Actor

# What track and board take of a terminal, and how wide it must be for a scene to fit in one line.
LINES_ABOVE, ONE_LINE = 17, 116
COLOURS = {Actor.AGENT: "cyan", Actor.AGENT_SYNC: "green", Actor.HUMAN: "yellow", Actor.GITHUB: "magenta"}
WIDEST = max(len(actor) for actor in Actor)


class View(Protocol):
    """Where moments are shown."""

    def __enter__(self) -> Self:
        """Open the view."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the view."""

    def show(self, moment: Moment) -> None:
        """Show one moment."""


def view(*, is_terminal: bool, pause: float, with_costs: bool) -> View:
    """Return the view that fits where the output goes."""
    return LiveView(pause, with_costs=with_costs) if is_terminal else PlainView(with_costs=with_costs)


class PlainView:
    """Who does what, and what comes of it, line by line."""

    def __init__(self, *, with_costs: bool) -> None:
        self._with_costs = with_costs

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, moment: Moment) -> None:
        """Print the scene, its outcome, where to look at it and, if wanted, what it cost."""
        scene = moment.scene
        click.echo(f"{scene.actor:<{WIDEST}}  {scene.does}")
        price = f"({cost(moment.played)})" if self._with_costs and moment.played else ""
        for line in (scene.outcome, moment.link, price):
            if line:
                click.echo(f"{'':<{WIDEST}}  {line}")


class LiveView:
    """How far the task is, the board and the last scenes, redrawn after each."""

    def __init__(self, pause: float, *, with_costs: bool) -> None:
        self._pause = pause
        self._with_costs = with_costs
        self._live = Live(console=Console(), auto_refresh=False)
        self._moments: list[Moment] = []

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._moments:
            self._draw(self._moments, refresh=False)
        self._live.__exit__(kind, error, trace)

    def show(self, moment: Moment) -> None:
        """Redraw everything; of the scenes, as many as the terminal has room for."""
        self._moments.append(moment)
        self._draw(self._latest())
        time.sleep(self._pause)

    def _draw(self, moments: list[Moment], *, refresh: bool = True) -> None:
        self._live.update(Group(self._track(), _board(moments[-1].cards), self._scenes(moments)), refresh=refresh)

    def _latest(self) -> list[Moment]:
        size = self._live.console.size
        lines = 1 if size.width >= ONE_LINE else 2
        return self._moments[-max(3, (size.height - LINES_ABOVE) // lines) :]

    def _track(self) -> Panel:
        seen, step = {moment.step for moment in self._moments}, self._moments[-1].step
        track = Text()
        for name in TRACK:
            style = "bold reverse green" if name == step else "green" if name in seen else "dim"
            track.append(f" {name} ", style=style).append("" if name == TRACK[-1] else " → ", style="dim")
        return Panel(track, title="issue #42")

    def _scenes(self, moments: list[Moment]) -> Panel:
        table = Table.grid(padding=(0, 2), expand=True)
        for moment in moments:
            scene = moment.scene
            told = Text(scene.outcome).append(f"\n{moment.link}" if moment.link else "", style="blue underline")
            price = [Text(cost(moment.played), style="dim")] if self._with_costs else []
            table.add_row(Text(scene.actor, style=f"bold {COLOURS[scene.actor]}"), Text(scene.does), told, *price)
        return Panel(table, title="agent-sync demo: claim to close, no token, no network")


def _board(cards: tuple[Card, ...]) -> Table:
    table = Table(*(Column(name, ratio=1) for name in COLUMNS), expand=True, title="board")
    table.add_row(*(Text("\n").join(_card(card) for card in cards if card.column == name) for name in COLUMNS))
    return table


def _card(card: Card) -> Text:
    return Text(f"#{card.number} {card.title}").append(" (agent)" if card.is_held else "", style="cyan")
