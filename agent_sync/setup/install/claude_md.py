"""The section of `CLAUDE.md` that sends an agent without memory to its recovery record."""

from agent_sync.setup.install.edits import Edit
from agent_sync.setup.install.insert import line_ending

CLAUDE_MD = "CLAUDE.md"
BEGIN, END = "<!-- agent-sync: task recovery -->", "<!-- agent-sync: end -->"
SECTION = """\
## Task recovery

**Before starting any task work**, check for an active task:

```bash
agent-sync record status
```

If a task is active:
1. Read the ENTIRE HOOK.md it names
2. Follow its "What To Do Now" section EXACTLY
3. Do NOT restart from the beginning
4. Do NOT repeat completed steps (check the table)

The record is the source of truth for task state.
Your memory may be stale or empty after a crash; the record is not."""


def missing_edits(text: str) -> list[Edit]:
    """Return the edit that appends the section; none where it is there."""
    if BEGIN in text:
        return []
    ending = line_ending(text)
    lead = (ending if not text.endswith("\n") else "") + ending if text else ""
    return [Edit(len(text), lead + ending.join([BEGIN, *SECTION.splitlines(), END, ""]))]


def without_ours(text: str) -> str:
    """Return the text without the section, recognised by its marks."""
    lines = text.splitlines(keepends=True)
    marks = [line.strip() for line in lines]
    if BEGIN not in marks or END not in marks[marks.index(BEGIN) :]:
        return text
    start = marks.index(BEGIN)
    end = marks.index(END, start) + 1
    start -= bool(start and not marks[start - 1])
    return "".join(lines[:start] + lines[end:])
