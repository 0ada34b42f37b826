"""The programs that can review, as data: what they are called, how they are asked, what they must not do."""

import shutil
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from agent_sync.clients import MARKS
from agent_sync.gates.config.model import AdapterOptions
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.quiet import answer as quiet

ROOT = "{root}"
# Every hook command of ours ends at once where this is set; the second is agent-gauntlet's own.
# A reviewer is a session of its own, not a part of the one whose hook started it.
_OUTER = frozenset({*MARKS, "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PROJECT_DIR"})


@dataclass(frozen=True)
class Adapter:
    """One reviewer program; the prompt always goes to its standard input."""

    name: str
    binary: str
    arguments: tuple[str, ...]
    with_tools: tuple[str, ...] = ()
    without_tools: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    budget_variable: str = ""
    budgets: Mapping[str, str] = field(default_factory=dict)
    budget_option: str = ""


ADAPTERS = {
    adapter.name: adapter
    for adapter in (
        Adapter(
            "claude",
            "claude",
            ("-p", "--max-turns", "25", "--settings", '{"disableAllHooks": true}'),
            with_tools=("--allowedTools", "Read,Glob,Grep,Task"),
            without_tools=("--disallowedTools", "Read,Glob,Grep,Task,Bash,Edit,Write,WebFetch,WebSearch"),
            budget_variable="MAX_THINKING_TOKENS",
            budgets={"off": "0", "low": "8000", "medium": "16000", "high": "31999"},
        ),
        Adapter(
            "codex",
            "codex",
            ("exec", "--cd", ROOT, "--sandbox", "read-only", "-c", 'approval_policy="never"'),
            without_tools=("-c", "features.shell_tool=false"),
            last=("-",),
            budgets={"off": "minimal", "low": "low", "medium": "medium", "high": "high"},
            budget_option='model_reasoning_effort="{}"',
        ),
        Adapter(
            "gemini",
            "gemini",
            ("--sandbox", "--output-format", "text"),
            with_tools=("--allowed-tools", "read_file,list_directory,glob,search_file_content"),
            budget_variable="GEMINI_THINKING_BUDGET",
            budgets={"off": "0", "low": "4096", "medium": "8192", "high": "24576"},
        ),
        Adapter("cursor", "agent", ("--trust",)),
        Adapter(
            "github-copilot",
            "copilot",
            (),
            with_tools=tuple(
                word
                for tool in ("cat", "grep", "ls", "find", "head", "tail")
                for word in ("--allow-tool", f"shell({tool})")
            ),
        ),
    )
}
ALIASES = {"copilot": "github-copilot"}


def adapter_of(name: str) -> Adapter | None:
    """Return the program a project names."""
    return ADAPTERS.get(ALIASES.get(name, name))


def command(adapter: Adapter, options: AdapterOptions, *, root: Path, model: str) -> list[str]:
    """Return the words that start a reviewer."""
    tools = adapter.with_tools if options.allow_tool_use else adapter.without_tools
    words = [adapter.binary, *adapter.arguments, *tools]
    chosen = model or options.model
    words += ["--model", chosen] if chosen else []
    if options.thinking_budget and adapter.budget_option:
        words += ["-c", adapter.budget_option.format(adapter.budgets[options.thinking_budget])]
    return [str(root) if word == ROOT else word for word in (*words, *adapter.last)]


def surroundings(adapter: Adapter, options: AdapterOptions, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a reviewer: marked as nested, and not as a part of the outer session."""
    kept = {name: value for name, value in environment.items() if name not in _OUTER}
    if options.thinking_budget and adapter.budget_variable:
        kept[adapter.budget_variable] = adapter.budgets[options.thinking_budget]
    return kept | dict.fromkeys(quiet.NESTED, "1")


def is_installed(adapter: Adapter, environment: Mapping[str, str]) -> bool:
    """Tell whether the program is on PATH."""
    return shutil.which(adapter.binary, path=environment.get("PATH", "")) is not None
