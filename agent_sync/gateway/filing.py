"""What work hooks need of issues: convoys, asking a human, and filing what was found; each write happens once."""

from agent_sync.errors import BadInput, GitHubDown
from agent_sync.gateway.cards import ISSUE, follow_rename, is_same_name
from agent_sync.gateway.relatives import repository_of_issue
from agent_sync.gateway.transport.line import Call, Line, thing_at
from agent_sync.gateway.transport.token import Area
from agent_sync.system.masking import masked
from agent_sync.task.decision.tasks import Convoy


class IssueFiling(Line):
    """What work hooks need of issues; each write happens once."""

    def convoy(self, issue: int) -> Convoy:
        """Return a parent issue with its sub-issues."""
        call = Call("convoy", self.names | {"issue": issue}, f"reading issue #{issue} and its sub-issues", Area.ISSUES)
        # A part that this token may not see must not hide the others.
        answer = self.ask(call, (*ISSUE, "subIssues"))
        follow_rename(self, answer)
        found = thing_at(answer, call, *ISSUE)
        here, foreign = [], []
        for node in answer.nodes(*ISSUE, "subIssues"):
            name, said = repository_of_issue(self, node), (str(node["title"]), node.get("state") == "OPEN")
            if is_same_name(name, self.repository.full_name):
                here.append((int(node["number"]), *said))
            else:
                foreign.append((f"{name}#{node['number']}", *said))
        return Convoy(int(found["number"]), str(found["title"]), found["state"] == "OPEN", tuple(here), tuple(foreign))

    def escalate(self, issue: int, *, label: str, comment: str, marker: str) -> None:
        """Put a label on an issue and comment once: whatever is there already is left."""
        attempted = f"asking a human to look at issue #{issue}"
        call = Call("escalation", self.names | {"issue": issue}, attempted, Area.ISSUES)
        answer = self.ask(call)
        found = thing_at(answer, call, *ISSUE)
        if label.casefold() not in {str(node.get("name")).casefold() for node in answer.nodes(*ISSUE, "labels")}:
            _label(self, issue, label, attempted)
        if not any(marker in str(node.get("body")) for node in answer.nodes(*ISSUE, "comments")):
            values = {"issue": found["id"], "body": f"{masked(comment)}\n\n{marker}"}
            self.ask(Call("comment", values, attempted, Area.ISSUES, is_write=True))

    def file_issue(self, title: str, body: str, *, marker: str) -> int:
        """Open an issue and return its number; one that carries the marker is the one that is wanted."""
        call = Call("newest_issues", dict(self.names), "looking whether the issue was filed already", Area.ISSUES)
        answer = self.ask(call)
        for node in answer.nodes("repository", "issues"):
            if marker in str(node.get("body")):
                return int(node["number"])
        texts = {"title": masked(title), "body": f"{masked(body)}\n\n{marker}"}
        values = {"repository": thing_at(answer, call, "repository")["id"]} | texts
        order = Call("file_issue", values, "filing an issue", Area.ISSUES, is_write=True)
        number = self.ask(order).at("filed", "issue", "number")
        if not isinstance(number, int):
            raise GitHubDown("GitHub does not say whether it was done.", maybe_applied=True, attempted=order.attempted)
        return number

    def issue_text(self, issue: int) -> str:
        """Return what an issue's first post says; a pull request is refused."""
        from agent_sync.gateway.transport.rest import Rest

        call = Call("", attempted=f"reading the text of issue #{issue}", area=Area.ISSUES)
        found = Rest(self).ask("GET", f"issues/{issue:d}", None, call)
        if "pull_request" in found:
            raise BadInput(f"#{issue} is a pull request, not an issue.", attempted=call.attempted)
        return str(found.get("body") or "")

    def write_issue_text(self, issue: int, text: str) -> None:
        """Replace what an issue's first post says."""
        from agent_sync.gateway.transport.rest import Rest

        call = Call("", attempted=f"writing the text of issue #{issue}", area=Area.ISSUES, is_write=True)
        Rest(self).ask("PATCH", f"issues/{issue:d}", {"body": masked(text)}, call)


def _label(line: Line, issue: int, label: str, attempted: str) -> None:
    from agent_sync.gateway.transport.rest import Rest

    Rest(line).add_label(issue, label, Call("", attempted=attempted, area=Area.ISSUES, is_write=True))
