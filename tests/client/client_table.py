"""Writes the table of scenarios in docs/claude-code.md from the results of a run of tests/client."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

DOCUMENT = Path(__file__).resolve().parent.parent.parent / "docs" / "claude-code.md"
BEGIN, END = "<!-- scenarios: written by make client -->", "<!-- scenarios: end -->"


def rows(*results: str) -> list[str]:
    """Return one row for each scenario, in the order of their names; of several runs of one the last counts."""
    # The files were written by pytest a moment ago.
    cases = [case for file in results for case in ET.parse(file).getroot().iter("testcase")]  # noqa: S314
    last = {(case.get("classname"), case.get("name")): row for case in cases if (row := _row(case))}
    return sorted(last.values())


def _row(case: ET.Element) -> str:
    noted = {one.get("name", ""): one.get("value", "") for one in case.iter("property")}
    if "scenario" not in noted:
        return ""
    variant = re.search(r"\[(.*)\]$", case.get("name", ""))
    name = noted["scenario"] + (f" ({variant[1]})" if variant else "")
    cells = (name, noted["client"], noted["requests"], noted["injected"], _ending(case))
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _ending(case: ET.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "**fails**"
    skipped = case.find("skipped")
    return "holds" if skipped is None else f"not yet: {skipped.get('message', '')}"


def main() -> None:
    """Replace the table; leave the document alone where no scenario was played."""
    found = rows(*sys.argv[1:])
    if not found:
        return
    head = ["| scenario | client | model requests | characters injected | result |", "|---|---|---|---|---|"]
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    table = "\n".join([*head, *found])
    DOCUMENT.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
