"""How fast one vCPU of this machine is, by a small program on all of them at once.

Run as ``python -m smtc_lab.machine.cpu_benchmark SECONDS`` in a process for each core, so that
what hyperthreads take from each other is inside, as in ``catalog.cpu_speed``.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

BENCHMARK_VERSION = 2
"""Rises when rates of before and after a change cannot be compared. 2: the best of several
turns counts, no longer their mean."""

_TURNS = 4
_COPIED_FLOATS = 2_000_000  # 16 MB: beyond a core's own cache
_MATRIX = 192
_PATIENCE_S = 60.0


class BenchmarkError(OSError):
    """A process of the CPU benchmark ended without a figure."""


def cpu_rate(*, num_cores: int, seconds: float) -> float:
    """Return the work that one vCPU does in a CPU-second, with all of them busy.

    Work is the geometric mean of Python loops, copies of memory and matrix products, each in
    rounds per CPU-second. CPU time, not the clock, counts, and of several turns the best one,
    so that other work of the machine matters little.

    Args:
        num_cores: Processes that run at once.
        seconds: How long, in seconds, beside the start of the processes.

    Raises:
        BenchmarkError: A process ended without a figure.
    """
    command = [sys.executable, "-m", "smtc_lab.machine.cpu_benchmark", repr(seconds)]
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
        raise BenchmarkError(f"The CPU benchmark gave no figure ({error}).") from error
    finally:
        for process in processes:
            process.kill()
            process.wait()


def own_rate(seconds: float) -> float:
    """Return the work that this process does in a CPU-second; takes so many seconds."""
    works = (_loops, _copies(), _products())
    turn_s = seconds / len(works) / _TURNS
    turns = [[_rate(work, turn_s) for work in works] for _ in range(_TURNS)]
    best = [max(rates) for rates in zip(*turns, strict=True)]
    return float(math.prod(best) ** (1 / len(best)))


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
    import numpy as np  # noqa: PLC0415  only the processes that compute need it

    here, there = np.ones(_COPIED_FLOATS), np.zeros(_COPIED_FLOATS)

    def copy() -> None:
        np.copyto(there, here)

    return copy


def _products() -> Callable[[], None]:
    import numpy as np  # noqa: PLC0415  as above

    one = np.random.default_rng(0).random((_MATRIX, _MATRIX))
    into = np.empty_like(one)

    def multiply() -> None:
        np.matmul(one, one, out=into)

    return multiply


if __name__ == "__main__":
    print(json.dumps(own_rate(float(sys.argv[1]))))  # noqa: T201  what the caller reads
