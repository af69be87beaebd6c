"""The local launcher: every instance is a process tree of this machine."""

from __future__ import annotations

import fcntl
import math
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import LauncherError, StoreError
from smtc_lab.launch.launcher import Handle, LaunchPlan, Leftover, LogLine, News
from smtc_lab.launch.local_plan import check, make_plan
from smtc_lab.launch.local_run import write_run
from smtc_lab.launch.local_supervision import RUN_VARIABLE, await_end, start_supervisor
from smtc_lab.machine.cgroups import remove_leftover_groups
from smtc_lab.machine.processes import end_all, processes_with_variable, start_ticks
from smtc_lab.metrics.records import EventRecord
from smtc_lab.store.reader import read_records
from smtc_lab.store.run_folder import RunFolder, runs_root
from smtc_lab.store.state import RunState, current_state, replace_file

if TYPE_CHECKING:
    from smtc_lab.spec.job import TrainingJob

_COMING_UP_S = 10.0

DEFAULT_GRACE_S = 1.5
"""Time between TERM and KILL. SageMaker gives 120 s; nobody pays for a local instance."""


class LocalLauncher:
    """Runs every instance of a job as a process tree of this machine. Linux only."""

    name = "local"

    def __init__(self, *, root: Path | None = None, catalog: Catalog | None = None) -> None:
        self._root = runs_root() if root is None else root.resolve()
        self._sweeps_all = root is None
        self._catalog = Catalog.load() if catalog is None else catalog

    def check(self, job: TrainingJob) -> list[str]:
        """Return every reason why this machine cannot run the job; empty: it can."""
        return check(job, self._catalog)

    def plan(self, job: TrainingJob) -> LaunchPlan:
        """Return the exact request: hosts, addresses, quotas, processes, price.

        Raises:
            SpecError: The job cannot run here; all reasons at once.
        """
        return make_plan(job, self._catalog, grace_s=DEFAULT_GRACE_S)

    def start(self, plan: LaunchPlan, *, detach: bool = False) -> Handle:
        """Start a run and return at once. A second call with the same plan starts nothing.

        Args:
            plan: What ``plan`` returned.
            detach: Let the run go on when this process ends.

        Raises:
            LauncherError: It could not be started; nothing of it is left.
        """
        if not sys.platform.startswith("linux"):
            raise LauncherError(
                f"The local launcher runs on Linux only, and this is {sys.platform}. Use a "
                "Linux machine, container or virtual machine."
            )
        job_name = str(plan.job.job_name)
        existing = RunFolder(self._root / job_name)
        if existing.handle_file.is_file():
            return self._started_before(existing, plan)
        try:
            folder = RunFolder.create(self._root, job_name)
            write_run(folder, plan)
        except (StoreError, OSError) as error:
            raise LauncherError(f"The run {job_name!r} was not started: {error}") from error
        handle = Handle(launcher=self.name, job_name=job_name, run_folder=str(folder.path))
        replace_file(folder.handle_file, handle.to_json())
        start_supervisor(folder, detach=detach)
        return handle

    def poll(self, handle: Handle, cursor: dict[str, int] | None = None) -> News:
        """Return what happened since the cursor; None: since the begin."""
        folder = RunFolder(Path(handle.run_folder))
        cursor = dict(cursor or {})
        state = current_state(folder)
        lines: list[LogLine] = []
        for log in sorted(folder.logs.glob("algo-*.log")):
            host = log.name.removesuffix(".log")
            if not host.endswith(".agent"):
                lines += _new_lines(log, host, cursor)
        events: list[EventRecord] = []
        for path in sorted(folder.records.glob("*.sqlite")):
            key = f"events:{path.stem}"
            found, cursor[key] = read_records(path, EventRecord, after=cursor.get(key, 0))
            events += found
        events.sort(key=lambda event: event.time_s)
        return News(state=state, log=tuple(lines), events=tuple(events), cursor=cursor)

    def wait(self, handle: Handle, timeout_s: float | None = None) -> RunState:
        """Wait for the end of a run and return its state; at most ``timeout_s`` seconds."""
        folder = RunFolder(Path(handle.run_folder))
        await_end(folder, timeout_s)
        return current_state(folder)

    def stop(self, handle: Handle, *, grace_s: float | None = None) -> RunState:
        """Stop a run and return its last state. Safe to call again, and on an ended run.

        Args:
            handle: The run.
            grace_s: Longest time to wait for its end, beyond the run's own grace, in seconds.
        """
        folder = RunFolder(Path(handle.run_folder))
        state = current_state(folder)
        pid = state.supervisor_pid
        if state.is_terminal or pid is None:
            return state
        if start_ticks(pid) == state.supervisor_start_ticks:
            os.kill(pid, signal.SIGTERM)
        return self.wait(handle, timeout_s=DEFAULT_GRACE_S + 5.0 + (grace_s or 0.0))

    def sweep(self, *, stop: bool = False) -> list[Leftover]:
        """Return what is left of runs whose supervisor is gone; with ``stop``, end it.

        A launcher that was given a root looks at the runs in it; others at all of this machine.
        """
        by_run: dict[str, list[int]] = {}
        for pid, run_id in processes_with_variable(RUN_VARIABLE).items():
            if pid != os.getpid():
                by_run.setdefault(run_id, []).append(pid)
        leftovers = []
        for run_id, pids in sorted(by_run.items()):
            folder = RunFolder(Path(run_id))
            elsewhere = folder.path.parent != self._root and not self._sweeps_all
            if elsewhere or _is_supervised(folder):
                continue
            leftovers.append(
                Leftover(
                    job_name=folder.job_name,
                    what=f"{len(pids)} processes of a run that is over",
                    pids=tuple(sorted(pids)),
                )
            )
            if stop:
                end_all(lambda run_id=run_id: _members(run_id), grace_s=0.5)  # type: ignore[misc]
                remove_leftover_groups(f"{folder.job_name}-")
        return leftovers

    def _started_before(self, folder: RunFolder, plan: LaunchPlan) -> Handle:
        known = folder.job_file.read_text(encoding="utf-8")
        if known != plan.job.to_json():
            raise LauncherError(
                f"A run named {folder.job_name!r} exists and is of another job. Choose another "
                "job_name, or remove the old run's folder."
            )
        return Handle.read(folder.handle_file)


def _is_supervised(folder: RunFolder) -> bool:
    """Return whether a run is in good hands: its supervisor lives, or is about to come up."""
    try:
        lock = os.open(folder.lock_file, os.O_RDWR)
    except OSError:
        age_s = time.time() - folder.path.stat().st_mtime if folder.path.is_dir() else math.inf
        return age_s < _COMING_UP_S
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _members(run_id: str) -> list[int]:
    found = processes_with_variable(RUN_VARIABLE, run_id)
    return [pid for pid in found if pid != os.getpid()]


def _new_lines(log: Path, host: str, cursor: dict[str, int]) -> list[LogLine]:
    """Return the whole lines that a log has gained, and move the cursor behind them."""
    key = f"log:{host}"
    with log.open("rb") as file:
        file.seek(cursor.get(key, 0))
        data = file.read(4 * 2**20)
    end = data.rfind(b"\n") + 1
    if end == 0 and len(data) >= 2**20:  # a line that never ends is shown in pieces
        end = len(data)
    cursor[key] = cursor.get(key, 0) + end
    text = data[:end].decode("utf-8", errors="replace")
    return [LogLine(host=host, text=line) for line in text.splitlines()]
