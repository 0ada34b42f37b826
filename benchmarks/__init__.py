"""What agent-sync costs, as multiples of what is measured beside it: `python benchmarks/run.py`."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# `support.step_costs` plays a whole task, for the tests and for the benchmarks.
sys.path.append(str(ROOT / "tests"))
