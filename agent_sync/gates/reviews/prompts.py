"""The prompts that come with agent-sync, and the frame every reviewer's prompt is put in."""

BUILT_IN = {
    "code-quality": """\
Review these changes for defects a careful maintainer would not let pass: wrong results, unhandled errors and edge
cases, races, resources that are not released, changed behaviour without a test, names or comments that mislead.
Do not report matters of taste, formatting, or anything a linter would find.""",
    "security": """\
Review these changes for weaknesses an attacker could use: injection, missing authorisation, secrets in code or
logs, unsafe handling of paths, files and input, weak cryptography. Say how each could be used.""",
    "error-handling": """\
Review these changes for errors that are swallowed, reported without what is needed to act on them, or leave state
half changed. Say what goes wrong and when.""",
}

RULES = """\
You are reviewing a change. You may read files of the repository and must change nothing.
Report only problems in lines that this change adds or edits; the rest of the code is context.
Answer with one JSON object and nothing else:
{"status": "pass"} if there is nothing to report, otherwise
{"status": "fail", "violations": [{"file": "path/from/the/root", "line": 12, "issue": "what is wrong",
 "fix": "what to do", "priority": "critical|high|medium|low", "status": "new"}]}
`file`, `line`, `issue`, `priority` and `status` are required in every violation."""

RERUN = """\
This is a second look. Verify the points below and report regressions that the newest changes bring; nothing else.
Report a point again, with its file and line, if it is not resolved."""

SEPARATOR = "--- DIFF ---"


def skill_prompt(skill: str) -> str:
    """Return the prompt that hands the review to a skill of the reviewer's own."""
    return f"Use the skill `{skill}` to review the changes below."


def whole_prompt(body: str, diff: str, *, fixed: tuple[str, ...] = (), still_open: tuple[str, ...] = ()) -> str:
    """Put a reviewer's prompt together: its task, what an earlier look found, our rules, and the diff."""
    parts = [body]
    if fixed or still_open:
        parts.append(RERUN)
    if fixed:
        parts.append("Said to be fixed:\n" + "\n".join(f"- {line}" for line in fixed))
    if still_open:
        parts.append("Not addressed yet:\n" + "\n".join(f"- {line}" for line in still_open))
    return "\n\n".join([*parts, RULES, SEPARATOR, diff])
