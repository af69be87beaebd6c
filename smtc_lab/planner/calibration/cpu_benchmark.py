"""How fast one vCPU of this machine is, by a small program on all of them at once.

Run as ``python -m smtc_lab.planner.calibration.cpu_benchmark SECONDS`` in a process for each
core, so that what hyperthreads take from each other is inside, as in ``catalog.cpu_speed``.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.errors import PlannerError

if TYPE_CHECKING:
    from collections.abc import Callable

_COPIED_FLOATS = 2_000_000  # 16 MB: beyond a core's own cache
_MATRIX = 192
_PATIENCE_S = 60.0


def cpu_rate(*, num_cores: int, seconds: float) -> float:
    """Return the work that one vCPU does in a CPU-second, with all of them busy.

    Work is the geometric mean of Python loops, copies of memory and matrix products, each in
    rounds per CPU-second. CPU time, not the clock, counts, so that other work of the machine
    matters little.

    Args:
        num_cores: Processes that run at once.
        seconds: How long, in seconds.

    Raises:
        PlannerError: A process ended without a figure.
    """
    command = [
        sys.executable,
        "-m",
        "smtc_lab.planner.calibration.cpu_benchmark",
        repr(seconds),
    ]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    processes: list[subprocess.Popen[str]] = []
    try:
        for _ in range(num_cores):
            processes.append(  # noqa: PERF401  each one started must be ended, whatever happens
                subprocess.Popen(  # noqa: S603  our own command
                    command, env={**os.environ, **threads}, stdout=subprocess.PIPE, text=True
                )
            )
        texts = [process.communicate(timeout=seconds + _PATIENCE_S)[0] for process in processes]
        return sum(float(json.loads(text)) for text in texts) / num_cores
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise PlannerError(
            f"The CPU benchmark gave no figure ({error}). Give relative_cpu_speed, the speed "
            "of one of this machine's vCPUs with 1.0 for ml.p3.2xlarge."
        ) from error
    finally:
        for process in processes:
            process.kill()
            process.wait()


def own_rate(seconds: float) -> float:
    """Return the work that this process does in a CPU-second; takes so many seconds."""
    rates = [_rate(work, seconds / 3) for work in (_loops, _copies(), _products())]
    return math.prod(rates) ** (1 / len(rates))


def _rate(work: Callable[[], None], seconds: float) -> float:
    work()
    end_s = time.monotonic() + seconds
    begin_s, rounds = time.process_time(), 0
    while rounds == 0 or time.monotonic() < end_s:
        work()
        rounds += 1
    return rounds / max(time.process_time() - begin_s, 1e-9)


def _loops() -> None:
    total = 0
    for number in range(50_000):
        total += number * number % 7


def _copies() -> Callable[[], None]:
    here, there = np.ones(_COPIED_FLOATS), np.zeros(_COPIED_FLOATS)

    def copy() -> None:
        np.copyto(there, here)

    return copy


def _products() -> Callable[[], None]:
    one = np.random.default_rng(0).random((_MATRIX, _MATRIX))
    into = np.empty_like(one)

    def multiply() -> None:
        np.matmul(one, one, out=into)

    return multiply


if __name__ == "__main__":
    print(json.dumps(own_rate(float(sys.argv[1]))))  # noqa: T201  what the caller reads
