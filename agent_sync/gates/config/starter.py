"""Writes a first configuration from what lies in the project."""

from agent_sync.gates.plan.repo import Repo
from agent_sync.system import git_history

# A file that tells of a tool, and the check it suggests.
_SUGGESTIONS = (
    ("package.json", "test", "npm test"),
    ("tsconfig.json", "types", "npx tsc --noEmit"),
    ("pyproject.toml", "test", "python -m pytest -q"),
    ("Cargo.toml", "test", "cargo test"),
    ("go.mod", "test", "go test ./..."),
    ("Makefile", "test", "make test"),
)


def starter_files(repo: Repo) -> dict[str, str]:
    """Return the files of a first `.gauntlet/`, by name."""
    checks: dict[str, str] = {}
    for marker, name, line in _SUGGESTIONS:
        if (repo.project / marker).exists():
            checks.setdefault(name, line)
    checks = checks or {"test": "echo 'put your test command here'; exit 1"}
    files = {f"checks/{name}.yml": f"command: {_quoted(line)}\n" for name, line in checks.items()}
    return {"config.yml": _config(_base(repo), list(checks)), **files}


def _config(base: str, checks: list[str]) -> str:
    return f"""\
base_branch: {base}
log_dir: gauntlet_logs
entry_points:
  - path: .
    checks: [{", ".join(checks)}]
"""


def _base(repo: Repo) -> str:
    """Return the remote's default branch, as far as this clone knows it."""
    found = git_history.default_ref(repo.git)
    if found:
        return found
    return next(
        (name for name in ("origin/main", "origin/master", "main", "master") if repo.commit(name)), "origin/main"
    )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
