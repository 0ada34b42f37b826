"""The text of a pull request: the repository's template or our own sections, what is proven, and whose text it is."""

import hashlib
import re

from agent_sync.lazy_patterns import pattern
from agent_sync.settings.tables import PullSettings
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.facts import Branch, GateSeen
from agent_sync.task.decision.outside_text import one_line

MISSION_CHECKLIST = (
    "Does this keep the agent in control of its own identity and data?",
    "Can it be verified offline, without trusting a server?",
    "Does it survive the platform going away?",
    "Is it the simplest thing that works?",
    "Is it documented for the next agent?",
)
# The word that stands for these in the settings.
MISSION_INTEGRITY = "mission-integrity"

# GitHub refuses longer ones.
LONGEST_TITLE = 256
LONGEST_BODY = 65_536
# What is left of the body's limit for the line with its digests.
_ROOM_FOR_DIGESTS = 200
_LONGEST_PROOF = 20_000
_CUT = "_The rest was cut: it would not fit into GitHub's limit for this text._"
_DIGESTS = pattern(r"\n*<!-- agent-sync text title=([0-9a-f]{12}) body=([0-9a-f]{12}) -->\s*\Z")
_SUMMARY_HEADING = pattern(
    r"^#{1,6}[ \t].*\b(?:summary|description|describe|what|changes|overview|purpose)\b.*$", re.IGNORECASE | re.MULTILINE
)
_MARKDOWN = pattern(r"[#@<>`&*_\[\]]|\bGH-\d", re.IGNORECASE)
_CLOSING = pattern(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b", re.IGNORECASE)
_REFERENCE = pattern(r"\S*(?:#|GH-|/issues/|/pull/)\d+\S*", re.IGNORECASE)
_WORD = pattern(r"[a-z]{3,}")
# Words that say nothing about which gate proves a box.
_GENERIC = frozenset({"check", "review", "run", "pas", "passe", "gate", "the", "all"})

NO_BRANCH = Branch(None, is_current=False)
NO_GATE = GateSeen("", "", may_open=True, is_configured=False)


def claim_marker(claim: Claim) -> str:
    """Return the comment, unseen on the page, by which we know what this very claim has written."""
    agent = "".join(char if char.isalnum() or char in "._-" else "_" for char in claim.agent_id)
    epoch = f" epoch={claim.lease.epoch}" if claim.lease else ""
    return f"<!-- agent-sync claim={agent} issue={claim.issue_number}{epoch} -->"


def pull_title(claim: Claim) -> str:
    """Return the title of the pull request: the summary's first line."""
    first = next((line for line in claim.summary.splitlines() if line.strip()), "")
    return one_line(first, limit=LONGEST_TITLE)


def pull_body(claim: Claim, settings: PullSettings, *, gate: GateSeen = NO_GATE, branch: Branch = NO_BRANCH) -> str:
    """Return the body: template or summary and commits, the issue, the gates, what is proven, and the boxes."""
    keyword = "Closes" if settings.closes_issue else "Refs"
    proofs = _joined(
        f"{keyword} #{claim.issue_number}",
        f"## Gates\n\n{cut(gate.summary, _LONGEST_PROOF)}" if gate.summary else "",
        _receipts(branch.receipts),
        _boxes("Mission integrity" if settings.checklist == MISSION_INTEGRITY else "Checklist", _checklist(settings)),
        _boxes("Test plan", settings.test_plan, gate.passed),
        claim_marker(claim),
    )
    room = LONGEST_BODY - _ROOM_FOR_DIGESTS - len(proofs) - 2
    return _joined(cut(_description(claim, branch), room), proofs) + "\n"


def with_digests(title: str, body: str) -> str:
    """Return the body with a line by which a later look can tell whether a person has edited title or body."""
    return f"{body.rstrip()}\n<!-- agent-sync text title={_digest(title)} body={_digest(body)} -->\n"


def without_digests(body: str) -> str:
    """Return the body without that line."""
    return _DIGESTS.sub("\n", body)


def has_digests(body: str) -> bool:
    """Tell whether a body has that line."""
    return _DIGESTS.search(body) is not None


def is_title_ours(title: str, body: str) -> bool:
    """Tell whether the title is still the one that was written together with the body's line of digests."""
    found = _DIGESTS.search(body)
    return found is not None and found[1] == _digest(title)


def is_body_ours(body: str) -> bool:
    """Tell whether nobody has edited the body since it was written."""
    found = _DIGESTS.search(body)
    return found is not None and found[2] == _digest(without_digests(body))


def cut(text: str, limit: int) -> str:
    """Return the text, or as much of it as the limit allows and a note that it was cut."""
    return text if len(text) <= limit else f"{text[: max(limit - len(_CUT) - 2, 0)].rstrip()}\n\n{_CUT}"


def _description(claim: Claim, branch: Branch) -> str:
    """Return the summary and the commits, in the template's place for them where it has one."""
    summary, commits = claim.summary.strip(), _commits(branch.commits)
    if not branch.template.strip():
        return _joined(f"## Summary\n\n{summary}", f"## Commits\n\n{commits}" if commits else "")
    template, said = branch.template.strip(), _joined(summary, commits)
    heading = _SUMMARY_HEADING.search(template)
    if heading is None:
        return _joined(said, template)
    return _joined(template[: heading.end()], said, template[heading.end() :].strip("\n"))


def _commits(commits: tuple[tuple[str, str], ...]) -> str:
    return "\n".join(f"- {sha[:12]} {_subject(subject)}" for sha, subject in commits)


def _subject(subject: str) -> str:
    """Return a commit's first line; one that could mention, link or close something is shown as code."""
    line = one_line(subject, limit=200)
    return "`" + line.replace("`", "'") + "`" if _MARKDOWN.search(line) else line


def _receipts(lines: tuple[str, ...]) -> str:
    if not lines:
        return ""
    listed = cut("\n".join(f"- {line}" for line in lines), _LONGEST_PROOF)
    title = f"{len(lines)} receipt{'s' if len(lines) > 1 else ''} of commands that agent-sync ran on this commit"
    return f"<details>\n<summary>{title}</summary>\n\n{listed}\n\n</details>"


def _checklist(settings: PullSettings) -> tuple[str, ...]:
    return MISSION_CHECKLIST if settings.checklist == MISSION_INTEGRITY else tuple(settings.checklist)


def _boxes(heading: str, texts: tuple[str, ...], passed: tuple[str, ...] = ()) -> str:
    lines = (f"- [{'x' if _is_proven(text, passed) else ' '}] {_unclosing(text)}" for text in texts)
    return f"## {heading}\n\n" + "\n".join(lines) if texts else ""


def _unclosing(text: str) -> str:
    """Return a line of the settings in which no word closes an issue: what it refers to stands in code."""
    if not _CLOSING.search(text):
        return text
    return _REFERENCE.sub(lambda found: f"`{found[0]}`", text.replace("`", "'"))


def _is_proven(box: str, passed: tuple[str, ...]) -> bool:
    """Tell whether a gate that passed is named by a word of the box."""
    return any(_words(gate.rpartition(":")[2]) & _words(box) for gate in passed)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.removesuffix("s") for word in _WORD.findall(text.lower())) - _GENERIC


def _digest(text: str) -> str:
    plain = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return hashlib.sha256(plain.encode(errors="replace")).hexdigest()[:12]


def _joined(*sections: str) -> str:
    return "\n\n".join(section for section in sections if section)
