"""Reads the files that define gates: `checks/*.yml`, `reviews/*.md` and `reviews/*.yml`."""

import os
from pathlib import Path

from agent_sync.gates.config.model import GateCheck, Review
from agent_sync.gates.config.reading import ConfigText, Notes, read_config, read_text
from agent_sync.gates.config.tables import CheckFile, ReviewFile
from agent_sync.gates.reviews.prompts import BUILT_IN, skill_prompt
from agent_sync.lazy_dataclasses import dataclass

YAML_SUFFIXES = frozenset({".yml", ".yaml"})
_FENCE = "---"


def read_checks(directory: Path, notes: Notes) -> dict[str, GateCheck]:
    """Return every check by name; a gate's name is its file's."""
    found: dict[str, GateCheck] = {}
    for file in _files(directory / "checks", YAML_SUFFIXES):
        text = read_config(file, notes)
        table = text.table(CheckFile) if text else None
        if text and table:
            _refuse_twice(file, found, notes)
            found[file.stem] = _check(text, table, directory)
    return found


def read_reviews(directory: Path, notes: Notes, preference: tuple[str, ...]) -> dict[str, Review]:
    """Return every review by name."""
    found: dict[str, Review] = {}
    for file in _files(directory / "reviews", YAML_SUFFIXES | {".md"}):
        review = _markdown(file, notes, directory) if file.suffix == ".md" else _yaml(file, notes, directory)
        if review is not None:
            _refuse_twice(file, found, notes)
            _refuse_strangers(review, preference, notes)
            found[file.stem] = review
    return found


def _files(directory: Path, suffixes: frozenset[str]) -> list[Path]:
    if not directory.is_dir():
        return []
    return sorted(path for path in directory.iterdir() if path.suffix in suffixes and path.is_file())


def _refuse_twice(file: Path, found: dict[str, GateCheck] | dict[str, Review], notes: Notes) -> None:
    if file.stem in found:
        notes.error(file, 1, f"the gate `{file.stem}` is defined twice; the other is {found[file.stem].file.name}")


def _refuse_strangers(review: Review, preference: tuple[str, ...], notes: Notes) -> None:
    strangers = [name for name in review.cli_preference if name not in preference]
    if strangers:
        allowed = ", ".join(preference) or "none"
        message = f"`cli_preference` names {', '.join(strangers)}, not in `cli.default_preference` ({allowed})"
        notes.error(review.file, 1, message)


def _check(text: ConfigText, table: CheckFile, directory: Path) -> GateCheck:
    if "fix_instructions" in text:
        text.warn(("fix_instructions",), "is an old name; the new one is `fix_instructions_file`")
    if table.fail_fast and table.parallel:
        text.error(("fail_fast",), "cannot be combined with `parallel: true`")
    instructions = table.fix_instructions_file or table.fix_instructions
    if table.fix_with_skill and instructions:
        text.error(("fix_with_skill",), "and `fix_instructions_file` exclude each other")
    return GateCheck(
        name=text.file.stem,
        file=text.file,
        command=table.command,
        rerun_command=table.rerun_command or "",
        working_directory=table.working_directory or "",
        parallel=table.parallel,
        run_in_ci=table.run_in_ci,
        run_locally=table.run_locally,
        timeout=table.timeout,
        fail_fast=table.fail_fast,
        fix_instructions=_below(directory, instructions, text, "fix_instructions_file"),
        fix_with_skill=table.fix_with_skill or "",
    )


def _below(directory: Path, given: str | None, text: ConfigText, key: str) -> Path | None:
    """Return a file below `.gauntlet/`; a path that leads elsewhere, or through a link, is refused."""
    if not given:
        return None
    top = directory.resolve()
    file = Path(os.path.normpath(top / given))
    if "\0" in given or top not in file.parents or file.resolve() != file:
        text.error((key,), f"must be inside {directory.name}/, not `{given}`")
        return None
    return file


def _markdown(file: Path, notes: Notes, directory: Path) -> Review | None:
    content = read_text(file, notes.error)
    if content is None:
        return None
    front = split_front(content)
    text = read_config(file, notes, text=front.settings, offset=front.offset)
    table = text.table(ReviewFile) if text else None
    if text is None or table is None:
        return None
    prompt = _prompt_elsewhere(text, table, directory) or front.prompt.strip()
    if not prompt:
        notes.error(file, 1, "there is no prompt below the settings")
    return _review(file, table, prompt)


def _yaml(file: Path, notes: Notes, directory: Path) -> Review | None:
    text = read_config(file, notes)
    table = text.table(ReviewFile) if text else None
    if text is None or table is None:
        return None
    sources = [key for key in ("prompt_file", "skill_name", "builtin") if key in text]
    if len(sources) != 1:
        notes.error(file, 1, "needs exactly one of `prompt_file`, `skill_name` and `builtin`")
    return _review(file, table, _prompt_elsewhere(text, table, directory))


@dataclass(frozen=True)
class FrontMatter:
    """A prompt, the settings at its head, and how many lines stand before these."""

    settings: str
    prompt: str
    offset: int = 0


def split_front(text: str) -> FrontMatter:
    """Return a prompt apart from the settings at its head."""
    lines = text.splitlines()
    if not lines or lines[0].rstrip() != _FENCE:
        return FrontMatter("", text)
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == _FENCE:
            return FrontMatter("\n".join(lines[1:number]), "\n".join(lines[number + 1 :]), 1)
    return FrontMatter("", text)


def _prompt_elsewhere(text: ConfigText, table: ReviewFile, directory: Path) -> str:
    """Return a prompt that is kept elsewhere."""
    if table.prompt_file and table.skill_name:
        text.error(("skill_name",), "and `prompt_file` exclude each other")
    if table.builtin and table.builtin not in BUILT_IN:
        text.error(("builtin",), f"must be one of {', '.join(BUILT_IN)}, not `{table.builtin}`")
    if table.prompt_file:
        where = _below(directory, table.prompt_file, text, "prompt_file")
        content = read_text(where, text.notes.error) if where else None
        return split_front(content).prompt.strip() if content else f"(the prompt of {text.file.name} cannot be read)"
    if table.skill_name:
        return skill_prompt(table.skill_name)
    return BUILT_IN.get(table.builtin or "", "")


def _review(file: Path, table: ReviewFile, prompt: str) -> Review:
    return Review(
        name=file.stem,
        file=file,
        prompt=prompt,
        model=table.model or "",
        cli_preference=table.cli_preference,
        num_reviews=table.num_reviews,
        parallel=table.parallel,
        run_in_ci=table.run_in_ci,
        run_locally=table.run_locally,
        timeout=table.timeout,
        enabled=table.enabled,
    )
