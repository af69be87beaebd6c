"""Entry point of each launch: a network, with the CPU time of each of its steps."""

from __future__ import annotations

import json
import os
import resource
import time
from pathlib import Path

from notebooks.benchmarks.compiler.training import train
from smtc_lab.runtime.instance_runtime import instance_runtime

TIMES_FILE = "step_times.json"
"""Written to the output's data folder: ``cpu_s`` and ``wall_s`` of each step of this process,
in seconds, and ``first_step``, the number of the first of them."""

_LOOK_EVERY = 4


class Clock:
    """Reads the clocks at each step's begin, and ends the training when enough was measured.

    ``auto`` goes on until it has chosen, and the steps are counted from then on.
    """

    def __init__(self, *, steps: int) -> None:
        self._steps = steps
        self._left: int | None = None
        self._readings: list[tuple[float, float]] = []

    def __call__(self) -> bool:
        """Read the clocks; return whether the training goes on."""
        self.read()
        done = len(self._readings) - 1
        if self._left is None and done % _LOOK_EVERY == 0 and _is_settled():
            self._left = done + self._steps
        return self._left is None or done < self._left

    def read(self) -> None:
        """Read CPU time, of processes that compiled too, and the wall clock."""
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = time.process_time() + children.ru_utime + children.ru_stime
        self._readings.append((cpu_s, time.perf_counter()))

    def write(self, path: Path) -> None:
        """Write what each step took."""
        pairs = list(zip(self._readings, self._readings[1:], strict=False))
        times = {
            "first_step": instance_runtime().timer.first_step,
            "cpu_s": [after[0] - before[0] for before, after in pairs],
            "wall_s": [after[1] - before[1] for before, after in pairs],
        }
        path.write_text(json.dumps(times), encoding="utf-8")


def _is_settled() -> bool:
    compilation = instance_runtime().compilation
    report = None if compilation is None else compilation.report()
    return report is None or report.config.backend != "auto" or report.probe_s > 0


def main() -> None:
    """Train, and keep what each step took."""
    hyperparameters = json.loads(os.environ["SM_HPS"])
    clock = Clock(steps=hyperparameters["measured_steps"])
    train(clock)
    clock.write(Path(os.environ["SM_OUTPUT_DATA_DIR"], TIMES_FILE))


if __name__ == "__main__":
    main()
