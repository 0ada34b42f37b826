"""What git pushes need and may: credentials for all repositories, rules for one."""

import fnmatch
from dataclasses import dataclass, field


@dataclass
class GitCredentials:
    """Whether git has to sign in, and whether only to push or to fetch as well."""

    to_push: bool = False
    to_fetch: bool = False

    def are_required(self, *, is_push: bool) -> bool:
        """Say whether a request without credentials is refused."""
        return self.to_push if is_push else self.to_fetch


@dataclass
class PushRules:
    """Limits of a whole push: how many refs it may update, and which names a proxy before GitHub lets pass."""

    most_refs: int | None = None
    only: list[str] = field(default_factory=list)

    def allows(self, name: str) -> bool:
        """Say whether a push may name a ref."""
        return not self.only or any(fnmatch.fnmatchcase(name, pattern) for pattern in self.only)
