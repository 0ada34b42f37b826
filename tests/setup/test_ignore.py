import pytest
from hypothesis import given, strategies as st

from agent_sync.setup.install.edits import apply_edits, undone
from agent_sync.setup.install.ignore import LINES, missing_edits, without_ours


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "",
            "# agent-sync: the claim held in this worktree\n.agent-claim.json\n.agent-claim.json.*\n.claude/worktrees/\n",
        ),
        (
            "x\n",
            "x\n\n# agent-sync: the claim held in this worktree\n.agent-claim.json\n.agent-claim.json.*\n.claude/worktrees/\n",
        ),
        (
            "x",
            "x\n\n# agent-sync: the claim held in this worktree\n.agent-claim.json\n.agent-claim.json.*\n.claude/worktrees/\n",
        ),
        (
            "x\r\n",
            "x\r\n\r\n# agent-sync: the claim held in this worktree\r\n.agent-claim.json\r\n.agent-claim.json.*\r\n.claude/worktrees/\r\n",
        ),
        (
            "/.agent-claim.json\n",
            "/.agent-claim.json\n\n# agent-sync: the claim held in this worktree\n.agent-claim.json.*\n.claude/worktrees/\n",
        ),
        (
            ".claude/worktrees/\n.agent-claim.json.*\n.agent-claim.json\n",
            ".claude/worktrees/\n.agent-claim.json.*\n.agent-claim.json\n",
        ),
    ],
)
def test_missing_lines_are_appended(before, after):
    """Only what is missing is added, in the file's own line endings, apart from the rest."""
    assert apply_edits(before, missing_edits(before)) == after
    assert missing_edits(after) == []


@given(st.text("ab/#!*.\r\n \u00e4", max_size=40))
def test_adding_can_be_undone(text):
    """Undoing gives the bytes back; by its mark the block is found without memory, and nothing else goes."""
    edits = missing_edits(text)
    result = apply_edits(text, edits)
    assert undone(result, edits) == text
    assert without_ours(result).rstrip("\r\n") == text.rstrip("\r\n")
    assert without_ours(text) == text


def test_lines_somebody_else_wrote_stay():
    """Lines without our mark are the owner's."""
    text = "\n".join([*LINES, ""])
    assert without_ours(text) == text
