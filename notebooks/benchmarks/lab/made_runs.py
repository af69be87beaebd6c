"""Run folders to list and to watch: many that have ended, and some that grow.

``python -m notebooks.benchmarks.lab.made_runs ROOT COUNT STEPS_PER_S`` lets COUNT runs grow
until its standard input ends, and prints a line when they have begun.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.machine.processes import start_ticks
from smtc_lab.metrics.records.records import StepRecord
from smtc_lab.store.state import RunState, write_state
from smtc_lab.store.writer import RecordWriter
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from smtc_lab.store.run_folder import RunFolder


def make_ended_runs(root: Path, count: int) -> None:
    """Write so many runs of 500 steps that have ended."""
    first = write_run_folder(root, run_records([0.2] * 500, job_name="ended-0"))
    for number in range(1, count):
        shutil.copytree(first.path, root / f"ended-{number}")


@contextlib.contextmanager
def growing_runs(root: Path, count: int, *, steps_per_s: float) -> Iterator[list[str]]:
    """Let so many runs grow in a process of its own; their names."""
    command = [sys.executable, "-m", __name__, str(root), str(count), str(steps_per_s)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603  this python
        if process.stdout is None or not process.stdout.readline():
            raise RuntimeError(f"The growing runs in {str(root)!r} did not begin.")
        try:
            yield [f"live-{number}" for number in range(count)]
        finally:
            process.communicate(timeout=60)


def _grow(root: Path, count: int, steps_per_s: float) -> None:
    folders = [_begin(root, f"live-{number}") for number in range(count)]
    ended = threading.Event()
    threading.Thread(target=_await_end, args=(ended,), daemon=True).start()
    with contextlib.ExitStack() as stack:
        writers = [
            stack.enter_context(RecordWriter(folder.records / "algo-1-rank0.sqlite"))
            for folder in folders
        ]
        print("begun", flush=True)  # noqa: T201  told to the process that started this one
        step, begin_s = 0, time.monotonic()
        while not ended.wait(max(0.0, begin_s + step / steps_per_s - time.monotonic())):
            for writer in writers:
                writer.append(_step(step, 1 / steps_per_s))
            step += 1


def _await_end(ended: threading.Event) -> None:
    sys.stdin.read()
    ended.set()


def _begin(root: Path, name: str) -> RunFolder:
    folder = write_run_folder(root, run_records([], job_name=name, state="InProgress"))
    state = RunState(
        state="InProgress",
        started_s=time.time(),
        supervisor_pid=os.getpid(),
        supervisor_start_ticks=start_ticks(os.getpid()),
    )
    write_state(folder, state)
    return folder


def _step(number: int, step_time_s: float) -> StepRecord:
    return StepRecord(
        step=number,
        end_time_s=time.time(),
        step_time_s=step_time_s,
        data_wait_s=step_time_s / 10,
        device_time_s=None,
        num_samples=32,
        synchronized=True,
    )


if __name__ == "__main__":
    _grow(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
