"""Writes the generated parts of the documentation, the JSON Schemas and the Claude Code plugin from their sources.

`python docs/generate.py` writes them; with `--check` it only tells which are stale and fails if any is.
"""

import dataclasses
import json
import re
import sys
from pathlib import Path
from typing import get_args

import click
from document_types import document_types
from plugin_files import leftover_pages, plugin_files
from scale_tables import scale_tables

from agent_sync.cli.app import LazyGroup, app
from agent_sync.cli.help import errors_by_code, exit_code_lines
from agent_sync.cli.table import HOOK_COMMANDS
from agent_sync.cli.trouble import WHAT_HELPS
from agent_sync.gates.config.tables import CheckFile, ConfigFile, ReviewFile
from agent_sync.plain.model import Model
from agent_sync.settings import Settings, variables
from agent_sync.settings.authority import decides
from agent_sync.task.claim.model import Claim
from agent_sync.task.claim.phases import Phase
from agent_sync.task.decision.facts import Trigger
from agent_sync.task.decision.situations import Situation
from agent_sync.task.decision.steps import STEPS, TRANSITIONS

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "agent_sync" / "schemas"


def state_diagram() -> str:
    """Draw the transitions that change the phase."""
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> coding : claim"]
    for outcome, phases in TRANSITIONS.items():
        lines += [
            f"    {before} --> {after} : {outcome.__name__}" for before, after in phases.items() if before != after
        ]
    return "\n".join([*lines, "    done --> [*] : ClaimDeleted", "```"])


def outcome_table() -> str:
    """List what each outcome means and where it can happen."""
    rows = ["| outcome | what happened | in phases |", "|---|---|---|"]
    for outcome, phases in TRANSITIONS.items():
        where = "any" if len(phases) == len(Phase) else ", ".join(f"`{phase}`" for phase in phases)
        rows.append(f"| `{outcome.__name__}` | {(outcome.__doc__ or '').splitlines()[0]} | {where} |")
    return "\n".join(rows)


def step_table() -> str:
    """List the step of every trigger in every phase."""
    rows = ["| phase | " + " | ".join(f"`{trigger}`" for trigger in Trigger) + " |", "|---" * (len(Trigger) + 1) + "|"]
    rows += [
        f"| `{phase}` | " + " | ".join(STEPS[trigger][phase].value for trigger in Trigger) + " |" for phase in Phase
    ]
    return "\n".join(rows)


def situation_table() -> str:
    """List every situation with what it means and what makes it true."""
    rows = ["| situation | meaning | carries |", "|---|---|---|"]
    for kind in get_args(Situation):
        fields = ", ".join(f"`{field.name}`" for field in dataclasses.fields(kind))
        rows.append(f"| `{kind.__name__}` | {(kind.__doc__ or '').splitlines()[0]} | {fields} |")
    return "\n".join(rows)


def settings_table() -> str:
    """List every setting with its variable, default and meaning."""
    rows = ["| setting | variable | default | who decides | meaning |", "|---|---|---|---|---|"]
    for variable, (table, key) in variables().items():
        field = getattr(Settings(), table).__class__.model_fields[key]
        default = json.dumps(field.default, ensure_ascii=False)
        shown = "`[]`" if field.default == () else f"`{default}`"
        rows.append(
            f"| `{table}.{key}` | `{variable}` | {shown} | {decides(f'{table}.{key}')} | {field.description or ''} |"
        )
    return "\n".join(rows)


def exit_codes() -> str:
    """Show what `agent-sync help exit-codes` prints."""
    return "\n".join(["```", *exit_code_lines(), "```"])


def trouble_table() -> str:
    """List every error code with its meaning, its exit code and what helps."""
    rows = ["| error | means | exit code | what helps |", "|---|---|---|---|"]
    for code, kind in sorted(errors_by_code().items()):
        meaning = (kind.__doc__ or "").splitlines()[0]
        rows.append(f"| `{code}` | {meaning} | {kind.exit_status.value} | {WHAT_HELPS[code]} |")
    return "\n".join(rows)


def command_pages() -> str:
    """Show the help of every command."""
    context = click.Context(app, info_name="agent-sync")
    pages = [_page(app, context)]
    pages += _pages_below(app, context)
    return "\n\n".join(pages)


def _pages_below(group: click.Group, context: click.Context) -> list[str]:
    pages = []
    for name in group.list_commands(context):
        if isinstance(group, LazyGroup) and name in HOOK_COMMANDS:
            continue
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        below = click.Context(command, info_name=name, parent=context)
        pages.append(_page(command, below))
        if isinstance(command, click.Group):
            pages += _pages_below(command, below)
    return pages


def _page(command: click.Command, context: click.Context) -> str:
    context.terminal_width = context.max_content_width = 100
    return f"## {context.command_path}\n\n```\n{command.get_help(context).rstrip()}\n```"


def schema(model: type[Model], title: str) -> str:
    """Return the JSON Schema of a file people write."""
    values = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema(), "title": title}
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


def spliced(file: Path, parts: dict[str, str]) -> str:
    """Return the file with the text between each pair of markers replaced."""
    text = file.read_text(encoding="utf-8")
    for name, content in parts.items():
        begin, end = f"<!-- {name}: generated by make docs -->", f"<!-- {name}: end -->"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        text = pattern.sub(lambda _, new=f"{begin}\n\n{content}\n\n{end}": new, text)  # type: ignore[misc]
    return text


def files() -> dict[Path, str]:
    """Map every file with generated parts to what it should say."""
    docs = ROOT / "docs"
    lifecycle = {"diagram": state_diagram(), "steps": step_table(), "outcomes": outcome_table()}
    lifecycle["situations"] = situation_table()
    return {
        SCHEMAS / "claim.schema.json": schema(Claim, ".agent-claim.json"),
        SCHEMAS / "settings.schema.json": schema(Settings, ".agent-sync.toml"),
        SCHEMAS / "gate.schema.json": schema(ConfigFile, ".gauntlet/config.yml"),
        SCHEMAS / "gate-check.schema.json": schema(CheckFile, ".gauntlet/checks/NAME.yml"),
        SCHEMAS / "gate-review.schema.json": schema(ReviewFile, ".gauntlet/reviews/NAME.yml"),
        ROOT / "agent_sync" / "gateway" / "document_types.txt": document_types(),
        **plugin_files(),
        docs / "lifecycle.md": spliced(docs / "lifecycle.md", lifecycle),
        docs / "scale.md": spliced(docs / "scale.md", scale_tables()),
        docs / "settings.md": spliced(docs / "settings.md", {"settings": settings_table()}),
        docs / "troubleshooting.md": spliced(docs / "troubleshooting.md", {"errors": trouble_table()}),
        docs / "cli.md": spliced(docs / "cli.md", {"exit-codes": exit_codes(), "commands": command_pages()}),
    }


def main() -> None:
    """Write, or with `--check` compare."""
    stale = [path for path, text in files().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    leftover = leftover_pages()
    for path in [*stale, *leftover]:
        print(f"stale: {path.relative_to(ROOT)}")
    if "--check" in sys.argv:
        sys.exit("Run: make docs" if stale or leftover else 0)
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files()[path], encoding="utf-8")
    for path in leftover:
        path.unlink()


if __name__ == "__main__":
    main()
