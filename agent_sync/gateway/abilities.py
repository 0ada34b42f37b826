"""What a token may do in a repository, and a server at all: by questions, and writes that cannot change anything."""

from typing import TYPE_CHECKING

from agent_sync.errors import AgentSyncError, Conflict, GitHubDown, NotFound, RateLimited, Refused
from agent_sync.gateway.transport.answer import GraphQLAnswer
from agent_sync.gateway.transport.line import Call, Line, thing_at
from agent_sync.gateway.transport.token import Area
from agent_sync.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from agent_sync.gateway.documents import UnknownDocument

# No repository has as many issues.
_NO_ISSUE = 2_147_483_647
_NO_PULL: dict[str, object] = {"title": "x", "head": "no/such", "base": "no/such"}


@dataclass(frozen=True)
class Ability:
    """One thing that agent-sync does: whether this token may; None where GitHub does not tell; and why not."""

    name: str
    works: bool | None
    says: str = ""
    helps: str = ""


class AbilityReads(Line):
    """What this token may do here."""

    def abilities(self) -> tuple[Ability, ...]:
        """Return what may be read and written, each as GitHub answers it."""
        call = Call("abilities", dict(self.names), "asking what the token may do")
        answer = self.ask(call, *(("repository", part) for part in ("issues", "pullRequests", "defaultBranchRef")))
        found = thing_at(answer, call, "repository")
        named = str(found.get("nameWithOwner") or "")
        renamed = named and named.casefold() != self.repository.full_name.casefold()
        return (
            Ability("repository", True, f"its name is {named} now: git remote set-url" if renamed else ""),
            self._read(answer, call, "issues", Area.ISSUES, "read issues"),
            self._write("write issues", f"issues/{_NO_ISSUE}/comments", {"body": "x"}, Area.ISSUES),
            self._read(answer, call, "pullRequests", Area.PULLS, "read pull requests"),
            self._write(
                "open pull requests", "pulls", {"title": "x", "head": "no/such", "base": "no/such"}, Area.PULLS
            ),
            self._read(answer, call, "defaultBranchRef", Area.CHECKS, "read checks"),
        )

    def unknown_documents(self) -> "tuple[UnknownDocument, ...] | None":
        """Return which of our documents the server does not understand; None where it does not tell."""
        from agent_sync.gateway.documents import unknown_documents

        return unknown_documents(self)

    def parent(self) -> str:
        """Return the repository that this fork leaves its issues to; "" for one that has issues of its own."""
        call = Call("parent", dict(self.names), f"asking whether {self.repository.full_name} is a fork")
        found = thing_at(self.ask(call), call, "repository")
        if not found.get("isFork") or found.get("hasIssuesEnabled"):
            return ""
        return str((found.get("parent") or {}).get("nameWithOwner") or "")

    def _read(self, answer: GraphQLAnswer, call: Call, part: str, area: Area, name: str) -> Ability:
        trouble = answer.trouble_at("repository", part)
        if trouble is None:
            return Ability(name, True)
        error = self.failures.of_part(trouble, call, area=area)
        return Ability(name, False, error.happened, error.helps)

    def _write(self, name: str, path: str, body: dict[str, object], area: Area) -> Ability:
        """Order something that cannot be done: whoever may not order it at all is told that instead."""
        from agent_sync.gateway.transport.rest import Rest

        call = Call("", attempted=f"asking whether the token may {name}", area=area, is_write=True)
        try:
            Rest(self).ask("POST", path, body, call)
        except (GitHubDown, RateLimited) as error:
            return Ability(name, None, error.happened, error.helps)
        except (NotFound, Conflict):
            return Ability(name, True)
        except Refused as error:
            is_invalid = "422" in error.happened
            return Ability(name, is_invalid, "" if is_invalid else error.happened, error.helps)
        except AgentSyncError as error:
            return Ability(name, False, error.happened, error.helps)
        return Ability(name, True)
