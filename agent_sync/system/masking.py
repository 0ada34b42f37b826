"""Keeps secrets out of whatever is written or published: what has a token's shape, and what the environment holds."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from agent_sync.lazy_patterns import pattern
from agent_sync.plain.json_reading import read_json
from agent_sync.system import files
from agent_sync.worktree import Place

MASK = "***"
# A short value would mask half of every text, and is no secret.
SHORTEST_SECRET = 8
# Below this length a plain lower-case word (`development`, `password`) is taken for a word.
LONGEST_WORD = 12
_SECRET_NAMES = ("_TOKEN", "_KEY", "_SECRET", "PASSWORD")

# Each begins where no word goes on, and looks ahead so far only: a long text is gone through once.
_START, _END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_TOKENS = (
    # GitHub
    r"gh[pousr]_[A-Za-z0-9]{8,}",
    r"github_pat_\w{8,}",
    r"v1\.[0-9a-f]{40}",
    # GitLab
    r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-[\w-]{16,}",
    # Anthropic, OpenAI and others; a digit tells them from hyphenated words.
    r"sk-(?=[\w-]{0,60}\d)[\w-]{16,}",
    r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"hf_[A-Za-z0-9]{30,}",
    # Slack
    r"xox[abceoprs]-[\w-]{10,}",
    r"xapp-[\w-]{10,}",
    # Package indexes
    r"npm_[A-Za-z0-9]{30,}",
    r"pypi-[\w-]{32,}",
    # Google
    r"AIza[\w-]{35}",
    r"GOCSPX-[\w-]{20,}",
    r"ya29\.[\w-]{20,}",
    # AWS
    r"A[KS]IA[0-9A-Z]{16}",
    # SendGrid, DigitalOcean
    r"SG\.[\w-]{16,}\.[\w-]{16,}",
    r"do[opr]_v1_[0-9a-f]{64}",
    # JSON Web Tokens
    r"eyJ[\w-]{8,500}\.[\w-]{8,}\.[\w-]{8,}",
)
_ASSIGNED = r"(?:token|secret|passw(?:or)?d|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|account[_-]?key)"
_SECRETS = pattern(
    # A private key, also one that was cut off.
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)"
    r"(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\Z)"
    rf"|{_START}(?:{'|'.join(_TOKENS)}){_END}"
    # In the place of a password in an address.
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"
    r"|(?<=://)(?=[\w-]*\d)[\w-]{20,}(?=@)"
    r"|(?<=hooks\.slack\.com/services/)[\w/]{20,}"
    # In a header; elsewhere a digit tells it from a sentence about tokens.
    r"|(?i:(?<=authorization: bearer )|(?<=authorization: token )|(?<=authorization: basic ))[\w.+/=-]{12,}"
    r"|(?i:(?<=bearer )|(?<=token )|(?<=basic ))(?=[\w.+/=-]*\d)[\w.+/=-]{12,}"
    # In an assignment; the name stays.
    rf"|(?i:(?P<name>{_ASSIGNED})=)[^\s'\"$&]{{4,}}"
    rf"|(?i:(?P<quoted>{_ASSIGNED}[\"']?\s{{0,3}}[:=]\s{{0,3}}[\"']))[^\s'\"$]{{8,}}"
    rf"|(?i:(?P<listed>{_ASSIGNED}:\s{{1,3}}))(?=[\w+/=-]*\d)(?=[\w+/=-]*[A-Za-z])[\w+/=-]{{16,}}"
    # Azure: keys in connection strings, and signatures of shared access.
    r"|(?<=SharedAccessKey=)[A-Za-z0-9+/=]{20,}"
    r"|(?<=[?&]sig=)[A-Za-z0-9%+/=]{20,}"
)


# Whatever is masked by its shape holds one of these; a text without any is not searched, which would take long.
_HINTS = (
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "v1.", "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-"),
    *("glft-", "glimt-", "glagent-", "glsoat-", "glffct-", "sk-", "k_live_", "k_test_", "hf_", "xox", "xapp-", "npm_"),
    *("pypi-", "aiza", "gocspx-", "ya29.", "akia", "asia", "sg.", "_v1_", "eyj", "private key", "://", "slack.com"),
    *("bearer ", "basic ", "token", "secret", "passw", "key", "sig="),
)


LARGEST = 1 << 20
KEPT = 3


def masked(text: str, secrets: Iterable[str] = ()) -> str:
    """Return `text` without secrets: those given, those of this process's environment, and whatever looks like one."""
    known = _values((*secrets, *secrets_of(os.environ)))
    text = known.sub(MASK, text) if known else text
    lowered = text.lower()
    return _SECRETS.sub(_mask, text) if any(hint in lowered for hint in _HINTS) else text


def masked_values(value: Any, secrets: Iterable[str] = ()) -> Any:
    """Return a value for JSON with every text in it masked."""
    if isinstance(value, str):
        return masked(value, secrets)
    if isinstance(value, Mapping):
        return {key: masked_values(item, secrets) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(masked_values(item, secrets) for item in value)
    return value


def secrets_of(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of variables that are named like secrets, but for plain words and paths."""
    named = (value for name, value in environment.items() if name.upper().endswith(_SECRET_NAMES))
    return tuple(value for value in named if _is_secret(value))


def _is_secret(value: str) -> bool:
    is_word = value.isalpha() and value.islower() and len(value) < LONGEST_WORD
    is_path = value.startswith("~/") or (value.startswith(("/", "./")) and os.path.lexists(value))
    return len(value) >= SHORTEST_SECRET and not is_word and not is_path


@lru_cache(maxsize=8)
def _values(secrets: tuple[str, ...]) -> re.Pattern[str] | None:
    # One of several lines may be printed line by line.
    lines = {line for one in secrets for line in (one, *one.splitlines())}
    # The longest first: one may be a part of another.
    known = sorted({one for one in lines if len(one) >= SHORTEST_SECRET}, key=len, reverse=True)
    return re.compile("|".join(re.escape(one) for one in known)) if known else None


def _mask(found: re.Match[str]) -> str:
    if found["name"]:
        return f"{found['name']}={MASK}"
    return (found["quoted"] or found["listed"] or "") + MASK


class Log:
    """The log of one repository, shared by its worktrees."""

    def __init__(self, place: Place, *, secrets: tuple[str, ...] = ()) -> None:
        self.file = Path(place.shared_dir) / "log.jsonl"
        self._secrets = secrets

    def write(self, at: datetime, what: str, **fields: Any) -> None:
        """Append one record; a log that cannot be written never stops the work."""
        record = {"at": at.isoformat(), "what": what} | {
            key: value for key, value in fields.items() if value is not None
        }
        # Masked before it is JSON: a mask over half an escape would spoil the line.
        values = masked_values(json.loads(json.dumps(record, default=str)), self._secrets)
        line = json.dumps(values) + "\n"
        try:
            files.state_directory(self.file.parent)
            self._rotate()
            descriptor = os.open(
                self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
            )
            with os.fdopen(descriptor, "wb") as file:
                file.write(line.encode())
        except OSError:
            return

    def records(self) -> Iterator[dict[str, Any]]:
        """Return every record kept, oldest first; a line that was cut off is passed over."""
        for number in range(KEPT, -1, -1):
            path = self.file if number == 0 else self.file.with_name(f"{self.file.name}.{number}")
            if not path.is_file():
                continue
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                try:
                    values = read_json(line)
                except ValueError:
                    continue
                if isinstance(values, dict):
                    yield values

    def _rotate(self) -> None:
        if not self.file.exists() or self.file.stat().st_size < LARGEST:
            return
        for number in range(KEPT, 0, -1):
            older = self.file.with_name(f"{self.file.name}.{number}")
            newer = self.file if number == 1 else self.file.with_name(f"{self.file.name}.{number - 1}")
            if newer.exists():
                newer.replace(older)
