"""Small programs that stand in for reviewers: they answer what a test says and note what they were asked."""

import json
import sys
from pathlib import Path

PROGRAM = """\
#!{python}
import json, os, pathlib, sys
home = pathlib.Path({home!r})
asked = home / "asked"
asked.mkdir(exist_ok=True)
number = len(list(asked.iterdir()))
noted = {{"arguments": sys.argv[1:], "prompt": sys.stdin.read(), "cwd": os.getcwd(), "environment": dict(os.environ)}}
(asked / f"{{number}}-{{os.getpid()}}.json").write_text(json.dumps(noted))
answers = json.loads((home / "answers.json").read_text())
answer = answers[min(number, len(answers) - 1)]
sys.stderr.write(answer.get("stderr", ""))
sys.stdout.write(answer["stdout"])
sys.exit(answer.get("status", 0))
"""


class Reviewer:
    """One program on PATH."""

    def __init__(self, home: Path, binary: str) -> None:
        self.home = home / binary
        self.home.mkdir(parents=True)
        self.bin = home / "bin"
        self.bin.mkdir(exist_ok=True)
        program = self.bin / binary
        program.write_text(PROGRAM.format(python=sys.executable, home=str(self.home)))
        program.chmod(0o755)
        self.answers({"status": "pass"})

    def answers(self, *answers: object) -> None:
        """Say these, one per call, the last one for ever; text is said as it is, anything else as JSON."""
        said = [
            answer
            if isinstance(answer, dict) and "stdout" in answer
            else {"stdout": answer if isinstance(answer, str) else json.dumps(answer)}
            for answer in answers
        ]
        (self.home / "answers.json").write_text(json.dumps(said))
        for path in (self.home / "asked").glob("*"):
            path.unlink()

    @property
    def asked(self) -> list[dict[str, object]]:
        """What it was asked so far."""
        found = sorted((self.home / "asked").glob("*"), key=lambda path: int(path.name.split("-")[0]))
        return [json.loads(path.read_text()) for path in found]


def finding(
    line: int = 1, file: str = "src/a", issue: str = "This divides by zero", **fields: object
) -> dict[str, object]:
    """Return one finding as a reviewer reports it."""
    return {"file": file, "line": line, "issue": issue, "priority": "high", "status": "new"} | fields


def failing(*findings: dict[str, object]) -> dict[str, object]:
    """Return an answer with findings."""
    return {"status": "fail", "violations": list(findings or (finding(),))}
