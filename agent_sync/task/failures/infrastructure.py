"""Failures that another run may cure: named patterns of what runners, networks and registries print."""

import re

from agent_sync.lazy_patterns import pattern

PATTERNS = {
    "runner lost": (
        r"The (?:(?:self-)?hosted )?runner[^\n]{0,200}? (?:lost communication|has received a shutdown signal)"
    ),
    "runner lacks space": r"No space left on device",
    "job was not picked up": r"The job was not acquired by Runner|not picked up by a runner",
    "GitHub had trouble": r"Internal server error|GitHub Actions has encountered an internal error",
    "download failed": r"(?:Failed to download (?:action|archive)|error: RPC failed|early EOF|unexpected disconnect)",
    "network failed": (
        r"(?:Could not resolve host|Temporary failure in name resolution|Connection (?:reset by peer|timed out)"
        r"|ECONNRESET|ETIMEDOUT|EAI_AGAIN|TLS handshake timeout|i/o timeout)"
    ),
    "registry failed": r"toomanyrequests|(?:429 Too Many|502 Bad Gateway|503 Service Unavailable|504 Gateway)",
}
_COMPILED = {name: pattern(text, re.IGNORECASE) for name, text in PATTERNS.items()}


def infrastructure_pattern(lines: tuple[str, ...]) -> str:
    """Return the name of the first pattern that the end of a failing step shows; nothing where none fits."""
    text = "\n".join(lines)
    return next((name for name, pattern in _COMPILED.items() if pattern.search(text)), "")
