"""Links a task's branch to its issue, so that the Development panel of the issue shows it."""

from agent_sync.gateway.transport.line import Call, Line
from agent_sync.gateway.transport.token import Area
from agent_sync.task.decision.tasks import Task


class BranchLinks(Line):
    """The link between an issue and a branch."""

    def link_branch(self, task: Task, branch: str, sha: str) -> bool:
        """Create a branch at a commit of the remote, linked to the issue; one that is there already is not linked."""
        values = {"issue": task.issue_id, "name": branch, "oid": sha}
        attempted = f"linking branch {branch} to issue #{task.number}"
        answer = self.ask(Call("link_branch", values, attempted, Area.REPOSITORY, is_write=True))
        return answer.at("link", "linkedBranch") is not None
