"""Reads the files that define gates: `checks/*.yml`, `reviews/*.md` and `reviews/*.yml`."""

import os
from pathlib import Path

from agent_sync.gates.config.model import LONGEST_TIMEOUT, MOST_REVIEWS, Check, Review
from agent_sync.gates.config.reading import Notes, Table, read_table, read_text
from agent_sync.gates.reviews.prompts import BUILT_IN, skill_prompt

YAML_SUFFIXES = frozenset({".yml", ".yaml"})
_FENCE = "---"


def read_checks(directory: Path, notes: Notes) -> dict[str, Check]:
    """Return every check by name; a gate's name is its file's."""
    found: dict[str, Check] = {}
    for file in _files(directory / "checks", YAML_SUFFIXES):
        table = read_table(file, notes)
        if table is not None:
            _refuse_twice(file, found, notes)
            found[file.stem] = _check(file, table, directory)
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


def _refuse_twice(file: Path, found: dict[str, Check] | dict[str, Review], notes: Notes) -> None:
    if file.stem in found:
        notes.error(file, 1, f"the gate `{file.stem}` is defined twice; the other is {found[file.stem].file.name}")


def _refuse_strangers(review: Review, preference: tuple[str, ...], notes: Notes) -> None:
    strangers = [name for name in review.cli_preference if name not in preference]
    if strangers:
        allowed = ", ".join(preference) or "none"
        message = f"`cli_preference` names {', '.join(strangers)}, not in `cli.default_preference` ({allowed})"
        notes.error(review.file, 1, message)


def _check(file: Path, table: Table, directory: Path) -> Check:
    table.ignore("name")
    if "fix_instructions" in table:
        table.warn("fix_instructions", "is an old name; the new one is `fix_instructions_file`")
    instructions = table.text("fix_instructions_file") or table.text("fix_instructions")
    table.ignore("fix_instructions")
    check = Check(
        name=file.stem,
        file=file,
        command=table.text("command", required=True),
        rerun_command=table.text("rerun_command"),
        working_directory=table.text("working_directory"),
        parallel=table.flag("parallel", default=False),
        run_in_ci=table.flag("run_in_ci", default=True),
        run_locally=table.flag("run_locally", default=True),
        timeout=table.number("timeout", least=0.001, most=LONGEST_TIMEOUT),
        fail_fast=table.flag("fail_fast", default=False),
        fix_instructions=_below(directory, instructions, table, "fix_instructions_file"),
        fix_with_skill=table.text("fix_with_skill"),
    )
    if check.fail_fast and check.parallel:
        table.error("fail_fast", "cannot be combined with `parallel: true`")
    if check.fix_with_skill and instructions:
        table.error("fix_with_skill", "and `fix_instructions_file` exclude each other")
    table.finish()
    return check


def _below(directory: Path, given: str, table: Table, key: str) -> Path | None:
    """Return a file below `.gauntlet/`; a path that leads elsewhere, or through a link, is refused."""
    if not given:
        return None
    top = directory.resolve()
    file = Path(os.path.normpath(top / given))
    if "\0" in given or top not in file.parents or file.resolve() != file:
        table.error(key, f"must be inside {directory.name}/, not `{given}`")
        return None
    return file


def _markdown(file: Path, notes: Notes, directory: Path) -> Review | None:
    text = read_text(file, notes.error)
    if text is None:
        return None
    front, body, offset = split_front(text)
    table = read_table(file, notes, text=front, offset=offset)
    if table is None:
        return None
    body = _referred(file, table, directory) or body.strip()
    if not body:
        notes.error(file, 1, "there is no prompt below the settings")
    return _review(file, table, body)


def _yaml(file: Path, notes: Notes, directory: Path) -> Review | None:
    table = read_table(file, notes)
    if table is None:
        return None
    sources = [key for key in ("prompt_file", "skill_name", "builtin") if key in table]
    if len(sources) != 1:
        notes.error(file, 1, "needs exactly one of `prompt_file`, `skill_name` and `builtin`")
    return _review(file, table, _referred(file, table, directory))


def split_front(text: str) -> tuple[str, str, int]:
    """Return the settings at the head of a prompt, the prompt, and how many lines stand before the settings."""
    lines = text.splitlines()
    if not lines or lines[0].rstrip() != _FENCE:
        return "", text, 0
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == _FENCE:
            return "\n".join(lines[1:number]), "\n".join(lines[number + 1 :]), 1
    return "", text, 0


def _referred(file: Path, table: Table, directory: Path) -> str:
    """Return a prompt that is kept elsewhere."""
    prompt_file, skill, builtin = table.text("prompt_file"), table.text("skill_name"), table.text("builtin")
    if prompt_file and skill:
        table.error("skill_name", "and `prompt_file` exclude each other")
    if builtin and builtin not in BUILT_IN:
        table.error("builtin", f"must be one of {', '.join(BUILT_IN)}, not `{builtin}`")
    if prompt_file:
        where = _below(directory, prompt_file, table, "prompt_file")
        text = read_text(where, table.notes.error) if where else None
        return split_front(text)[1].strip() if text else f"(the prompt of {file.name} cannot be read)"
    if skill:
        return skill_prompt(skill)
    return BUILT_IN.get(builtin, "")


def _review(file: Path, table: Table, prompt: str) -> Review:
    review = Review(
        name=file.stem,
        file=file,
        prompt=prompt,
        model=table.text("model"),
        cli_preference=table.texts("cli_preference"),
        num_reviews=table.whole("num_reviews", 1, least=1, most=MOST_REVIEWS),
        parallel=table.flag("parallel", default=True),
        run_in_ci=table.flag("run_in_ci", default=True),
        run_locally=table.flag("run_locally", default=True),
        timeout=table.number("timeout", least=0.001, most=LONGEST_TIMEOUT),
        enabled=table.flag("enabled", default=True),
    )
    table.ignore("name")
    table.finish()
    return review
