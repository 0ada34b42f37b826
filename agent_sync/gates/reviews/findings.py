"""What reviewers find: read from their answers, compared with earlier ones, kept in files the agent edits."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from agent_sync.gates.config.model import Priority
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.system import files

# Two sentences at least this alike say the same.
ALIKE = 0.6
LARGEST = 4 << 20
MOST_STARTS = 2000
LONGEST_NUMBER = 9
HIGHEST_LINE = 10**LONGEST_NUMBER
LARGEST_STORED = 16 << 20
_FENCED = pattern(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class ReviewFinding:
    """One thing a reviewer does not like, and what the agent decided about it."""

    file: str
    line: int
    issue: str
    fix: str = ""
    priority: str = "medium"
    status: str = "new"
    result: str = ""

    @property
    def weight(self) -> Priority:
        """How much it matters; an unknown word counts as medium."""
        return Priority.__members__.get(self.priority.upper(), Priority.MEDIUM)

    @property
    def is_open(self) -> bool:
        """Whether nobody has decided about it; words we do not know decide nothing."""
        return self.status not in {"fixed", "skipped"}

    def says_the_same(self, other: "ReviewFinding") -> bool:
        """Tell whether both are about the same point, even if lines have moved."""
        if self.file != other.file:
            return False
        import difflib

        alike = difflib.SequenceMatcher(None, self.issue.lower(), other.issue.lower()).ratio()
        return self.line == other.line or alike >= ALIKE

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.issue}" + (f" ({self.result})" if self.result else "")


@dataclass(frozen=True)
class ReviewerAnswer:
    """What a reviewer said."""

    passed: bool
    findings: tuple[ReviewFinding, ...] = ()


def read_answer(output: str) -> ReviewerAnswer | None:
    """Return a reviewer's answer, wherever in its output it stands; None where there is none to use."""
    for values in _objects(output[-LARGEST:]):
        if values.get("status") == "pass":
            return ReviewerAnswer(passed=True)
        if values.get("status") == "fail":
            given = values.get("violations")
            findings = tuple(_finding(one) for one in given if _is_finding(one)) if isinstance(given, list) else ()
            return ReviewerAnswer(passed=False, findings=findings) if findings else None
    return None


def _objects(output: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text, the likeliest first: fenced, the whole, then from the end backwards."""
    for text in (*reversed(_FENCED.findall(output)), output):
        yield from _parsed(text.strip())
    decoder = json.JSONDecoder()
    at = len(output)
    for _ in range(MOST_STARTS):
        at = output.rfind("{", 0, at)
        if at < 0:
            return
        try:
            values, _end = decoder.raw_decode(output, at)
        except (ValueError, RecursionError):
            continue
        if isinstance(values, dict):
            yield values


def _parsed(text: str) -> Iterator[dict[str, Any]]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(values, dict):
        yield values


def _is_finding(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("file"), str) and bool(value.get("issue"))


def _finding(values: dict[str, Any]) -> ReviewFinding:
    return ReviewFinding(
        file=values["file"],
        line=_line(values.get("line")),
        issue=str(values["issue"]),
        fix=str(values.get("fix") or ""),
        priority=str(values.get("priority") or "medium"),
        status=str(values.get("status") or "new"),
        result=str(values.get("result") or ""),
    )


def _line(value: object) -> int:
    """Return a line's number in whatever form a reviewer wrote it; what is none counts as 0."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= LONGEST_NUMBER:
        return int(value)
    return int(value) if isinstance(value, int | float) and 0 <= value < HIGHEST_LINE else 0


@dataclass(frozen=True)
class Stored:
    """One reviewer's findings as they are kept on disk."""

    adapter: str
    status: str
    findings: tuple[ReviewFinding, ...] = ()
    tree: str = ""
    pass_iteration: int | None = None

    @property
    def has_passed(self) -> bool:
        """Whether nothing was found."""
        return self.status in {"pass", "skipped_prior_pass"}


def read_stored(path: Path) -> Stored | None:
    """Return the findings in a file; None where it cannot be used."""
    try:
        values = json.loads(files.read_plain(path, largest=LARGEST_STORED) or b"null")
    except (files.NotPlain, OSError, ValueError, RecursionError):
        return None
    if not isinstance(values, dict) or not isinstance(values.get("status"), str):
        return None
    given = values.get("violations")
    found = tuple(_finding(one) for one in given if _is_finding(one)) if isinstance(given, list) else ()
    tree, iteration = values.get("tree"), values.get("passIteration")
    return Stored(
        adapter=str(values.get("adapter") or ""),
        status=values["status"],
        findings=found,
        tree=tree if isinstance(tree, str) else "",
        pass_iteration=iteration if isinstance(iteration, int) else None,
    )


def with_decisions(original: Stored, edited: Stored) -> Stored:
    """Return what a reviewer found with what the agent decided; findings taken out or reworded are still open."""
    decisions = {(one.file, one.line, one.issue): (one.status, one.result) for one in edited.findings}
    findings = []
    for one in original.findings:
        status, result = decisions.get((one.file, one.line, one.issue), (one.status, one.result))
        findings.append(replace(one, status=status, result=result))
    return replace(original, findings=tuple(findings))


def stored_text(stored: Stored, *, at: str, raw: str) -> bytes:
    """Return findings as they are kept in a file."""
    values: dict[str, Any] = {
        "adapter": stored.adapter,
        "timestamp": at,
        "status": stored.status,
        "rawOutput": raw,
        "violations": [asdict(finding) for finding in stored.findings],
        "tree": stored.tree,
    }
    if stored.pass_iteration is not None:
        values["passIteration"] = stored.pass_iteration
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace")
