"""One script at a time of the planner's pairs: ``python -m notebooks.benchmarks.planner``.

What it measures lies in a folder, from which ``notebooks/bench_planner.ipynb`` makes its
figures, so that hours of others on the same machine can lie between the scripts.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from notebooks.benchmarks.planner.paired import ALTERNATIVES, SCRIPTS, compared
from notebooks.benchmarks.planner.sides import launches_table, pairs_table


def main() -> None:
    """Calibrate, compare and plan the named scripts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("scripts", nargs="*", choices=[each.name for each in SCRIPTS])
    parser.add_argument("--seconds", type=float, default=2.0)
    asked = parser.parse_args()
    asked.root.mkdir(parents=True, exist_ok=True)
    for script in SCRIPTS:
        if script.name in asked.scripts:
            rows = [
                compared(script, each, asked.root, seconds=asked.seconds)
                for each in ALTERNATIVES
            ]
            tables = f"{pairs_table(rows)}\n\n{launches_table(rows)}\n"
            sys.stdout.write(tables)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
