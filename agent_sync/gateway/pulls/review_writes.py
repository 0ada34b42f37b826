"""Orders about reviews: answers, settled threads, and asking for another look."""

from agent_sync.gateway.transport.line import Call, Line
from agent_sync.gateway.transport.token import Area
from agent_sync.system.masking import masked
from agent_sync.task.decision.facts import Pull
from agent_sync.task.decision.feedback.reviews import Review


class ReviewWrites(Line):
    """What the agent may say and settle on its pull request."""

    def reply(self, thread: str, body: str) -> str:
        """Answer in a review thread; return the answer's address."""
        values = {"thread": thread, "body": masked(body)}
        answer = self.ask(Call("reply", values, "answering in a review thread", Area.PULLS, is_write=True))
        return str(answer.at("reply", "comment", "url") or "")

    def comment_on_pull(self, pull_id: str, body: str) -> None:
        """Comment on a pull request by its id."""
        values = {"issue": pull_id, "body": masked(body)}
        self.ask(Call("comment", values, "commenting on the pull request", Area.PULLS, is_write=True))

    def resolve_thread(self, thread: str) -> None:
        """Mark a review thread as settled."""
        self.ask(Call("resolve_thread", {"thread": thread}, "resolving a review thread", Area.PULLS, is_write=True))

    def request_review(self, pull: Pull, reviews: tuple[Review, ...]) -> None:
        """Ask the authors of these reviews to look again."""
        users = [review.author_id for review in reviews]
        values = {"pull": pull.id, "users": users}
        self.ask(Call("request_review", values, "asking for a new review", Area.PULLS, is_write=True))
