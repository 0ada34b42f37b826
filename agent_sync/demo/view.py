"""Shows the demo: live on a terminal, as a plain log in a pipe."""

import io
import json
import re
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import click
from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from agent_sync.demo.stage import Played, Stage
from agent_sync.demo.story import Scene
from agent_sync.task.claim.phases import Phase

COLUMNS = ("Todo", "In Progress", "In Review", "Done")
SHOWN = 20
OVER = "over"


class View(Protocol):
    """Where scenes are shown."""

    def __enter__(self) -> Self:
        """Open the view."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the view."""

    def show(self, scene: Scene, played: Played | None, stage: Stage) -> None:
        """Show one scene that was played."""


def view(*, is_terminal: bool, pause: float, picture: str = "") -> View:
    """Return the view that fits where the output goes."""
    if picture:
        return PictureView(picture)
    return LiveView(pause) if is_terminal else PlainView()


def said(played: Played | None) -> str:
    """Return what was said to human or agent, without the wrapping."""
    if played is None:
        return ""
    text = played.stdout or played.stderr
    try:
        values = json.loads(text)
    except ValueError:
        return text.split("\n")[0]
    if "decision" in values and "hookSpecificOutput" not in values:
        return f"{values['decision']}: {values['message']}"
    context = values.get("hookSpecificOutput", {}).get("additionalContext", "")
    return str(values.get("systemMessage") or context).split("\n")[0]


def cost(played: Played | None) -> str:
    """Return what a scene cost."""
    return "" if played is None else f"{played.requests} requests, {played.ms} ms"


class PlainView:
    """One line per scene."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, scene: Scene, played: Played | None, stage: Stage) -> None:
        """Print the scene, what was run, what it said and what it cost."""
        claim = stage.claim()
        click.echo(f"{scene.title}  [{claim['phase'] if claim else '-'}]")
        if played:
            silent = "(silent)" if not said(played) else said(played)
            click.echo(f"    $ agent-sync {played.command}   → {silent}   ({cost(played)})")


class LiveView:
    """The phase track, the board and the last scenes, redrawn after each."""

    def __init__(self, pause: float) -> None:
        self._pause = pause
        self._live = Live(console=Console(), refresh_per_second=8)
        self._scenes: list[tuple[Scene, Played | None]] = []
        self._seen: set[str] = set()

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def show(self, scene: Scene, played: Played | None, stage: Stage) -> None:
        """Redraw everything."""
        self._scenes.append((scene, played))
        claim = stage.claim()
        phase = str(claim["phase"]) if claim else (OVER if self._seen else "")
        self._seen.add(phase)
        self._draw(Group(_track(phase, self._seen), _board(stage.world()), self._log()))

    def _draw(self, drawn: Group) -> None:
        self._live.update(drawn)
        time.sleep(self._pause)

    def _log(self) -> Panel:
        table = Table.grid(padding=(0, 2), expand=True)
        for scene, played in self._scenes[-SHOWN:]:
            table.add_row(escape(scene.title), Text(said(played), style="cyan"), Text(cost(played), style="dim"))
        return Panel(table, title="agent-sync demo: claim to close, no token, no network")


class PictureView(LiveView):
    """Draws nothing until the end, then writes the last scenes as a picture."""

    WIDTH = 150

    def __init__(self, file: str) -> None:
        super().__init__(0)
        self._file = file
        self._last: Group | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._last:
            console = Console(record=True, width=self.WIDTH, file=io.StringIO(), force_terminal=True)
            console.print(self._last)
            # The reader's own fonts do: a picture in a README should fetch nothing.
            drawn = re.sub(r"@font-face \{.*?\}\s*", "", console.export_svg(title="agent-sync demo"), flags=re.DOTALL)
            Path(self._file).write_text(drawn, encoding="utf-8")

    def _draw(self, drawn: Group) -> None:
        self._last = drawn


def _track(phase: str, seen: set[str]) -> Panel:
    track = Text()
    for name in Phase:
        style = "bold reverse green" if name == phase else ("green" if name in seen else "dim")
        track.append(f" {name} ", style=style).append(" → ", style="dim")
    track.append(" closed ", style="bold reverse green" if phase == OVER else "dim")
    return Panel(track, title="phase")


def _board(world: dict[str, Any]) -> Table:
    titles = {issue["number"]: issue["title"] for issue in world["issues"]}
    table = Table(*COLUMNS, expand=True, title="board")
    cells = []
    for column in COLUMNS:
        cards = [item for item in world["items"] if item["fields"].get("Status") == column]
        cells.append("\n".join(escape(_card(item, titles)) for item in cards))
    table.add_row(*cells)
    return table


def _card(item: dict[str, Any], titles: dict[int, str]) -> str:
    agent = item["fields"].get("Agent")
    return f"#{item['issue']} {titles.get(item['issue'], '')}" + (f" ({agent})" if agent else "")
