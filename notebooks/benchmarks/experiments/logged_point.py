"""What one metric point costs a trainer; as a program it is that trainer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import smtc_lab
from notebooks.benchmarks.harness.fresh import measured
from smtc_lab.errors import RunFailedError
from smtc_lab.metrics.records.metric_record import MetricRecord
from smtc_lab.runtime.instance_runtime import instance_runtime
from smtc_lab.store.reader import read_records
from smtc_lab.store.run_folder import RunFolder

if TYPE_CHECKING:
    from pathlib import Path

_POINTS = 5_000
_PAUSE_EVERY = 500


def point_cost_s(root: Path) -> float:
    """Return a trainer's wall time for one metric point, in seconds, in a new run.

    The background writer runs as it does in a job; its commits are in the figure.

    Raises:
        RunFailedError: The trainer failed, or not all points were recorded.
    """
    folder = RunFolder.create(root, f"points-{time.monotonic_ns()}")
    environment = {"SMTC_RUN_ID": str(folder.path), "SM_CURRENT_HOST": "algo-1"}
    cost_s = measured("a metric point", "-m", __name__, environment=environment)
    found = len(read_records(folder.rank_records("algo-1", 0), MetricRecord)[0])
    if found != _POINTS:
        raise RunFailedError(
            f"A trainer logged {_POINTS} points, and {found} of them were recorded. Measure "
            "outside a job, whose environment may hide this one's."
        )
    return float(cost_s)


def _train() -> float:
    total_s = 0.0
    for _ in range(_POINTS // _PAUSE_EVERY):
        began_s = time.perf_counter()
        for number in range(_PAUSE_EVERY):
            smtc_lab.log(loss=0.1 * number)
        total_s += time.perf_counter() - began_s
        time.sleep(0.12)  # a real trainer computes here, while the writer commits
    instance_runtime().close()
    return total_s / _POINTS


if __name__ == "__main__":
    print(_train())  # noqa: T201  told to the process that started this one
