"""How long ``make test`` takes, how often it is green, and how many runs it launches.

``python -m notebooks.benchmarks.suite notebooks/results/suite.json --repeats 3 --busy 0``.
Rows of earlier calls stay, as long as they are of the same commit.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Self

from notebooks.benchmarks.harness.figure import bench_figure, write_figures
from tests.kit.deep import counted

ROOT = Path(__file__).parents[2]
_SUPERVISOR = b"smtc_lab.launchers.supervision.supervisor"
_LOOK_S = 0.1


class LaunchCount:
    """Counts the runs whose supervisors run on this machine, by what names their folders.

    A process that a supervisor forks has its command line.
    """

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._seen: set[bytes] = set()
        self._thread = threading.Thread(target=self._count)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def value(self) -> int:
        """How many were seen."""
        return len(self._seen)

    def _count(self) -> None:
        while not self._ended.wait(_LOOK_S):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    command = path.read_bytes()
                except OSError:  # it has ended
                    continue
                if _SUPERVISOR in command:
                    self._seen.add(command)


def one_row(busy: int) -> dict[str, Any]:
    """Run ``make test`` beside busy processes; return what came of it.

    What a red one prints is kept in ``build``.

    Args:
        busy: How many processes keep a core busy beside it.
    """
    spin = [sys.executable, "-S", "-c", "while True: pass"]
    beside = [subprocess.Popen(spin) for _ in range(busy)]  # noqa: S603  our own
    load, begin_s = os.getloadavg()[0], time.monotonic()
    try:
        with LaunchCount() as launches:
            ended = subprocess.run(
                ["make", "test"],  # noqa: S607  of this machine
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=False,
            )
    finally:
        for process in beside:
            process.kill()
            process.wait()
    if ended.returncode:
        (ROOT / "build").mkdir(exist_ok=True)
        (ROOT / "build" / f"red-{time.time():.0f}.log").write_text(ended.stdout + ended.stderr)
    return {
        "commit": commit(),
        "busy": busy,
        "load_before": load,
        "seconds": time.monotonic() - begin_s,
        "is_green": ended.returncode == 0,
        "passed": counted(ended.stdout)["passed"],
        "failed": re.findall(r"^(?:FAILED|ERROR) (\S+)", ended.stdout, re.MULTILINE),
        "launches": launches.value,
    }


def commit() -> str:
    """Return the commit that is checked out."""
    said = subprocess.run(
        ["git", "rev-parse", "HEAD"],  # noqa: S607  of this machine
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return said.stdout.strip()


def lines_of_tests() -> int:
    """Return how many lines of Python the tests have."""
    files = (ROOT / "tests").rglob("*.py")
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write figures with the rows that they are made of."""
    figures = []
    for busy, goal_s in ((0, 600.0), (1, 900.0)):
        if took := [row["seconds"] for row in rows if row["busy"] == busy]:
            name = f"make test beside {busy} busy processes"
            figures.append(bench_figure(name, took, unit="s", better="lower", goal=goal_s))
    green = [float(row["is_green"]) for row in rows]
    launches = [float(row["launches"]) for row in rows]
    share = [sum(green) / len(green)]
    figures += [
        bench_figure(
            "runs of it that are green", share, unit="fraction", better="higher", goal=1
        ),
        bench_figure("launches in it", launches, unit="runs", better="lower", goal=100),
        bench_figure(
            "lines of tests",
            [float(lines_of_tests())],
            unit="lines",
            better="lower",
            goal=60_000,
        ),
    ]
    write_figures(path, figures, rows=rows)


def main() -> None:
    """Measure, and keep each row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--busy", type=int, default=0)
    options = parser.parse_args()
    kept = json.loads(options.path.read_text("utf-8"))["rows"] if options.path.exists() else []
    rows = [row for row in kept if row["commit"] == commit()]
    for _ in range(options.repeats):
        rows.append(one_row(options.busy))
        write(options.path, rows)


if __name__ == "__main__":
    main()
