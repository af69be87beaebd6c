"""A run that a process makes and watches over by itself."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import time
from typing import TYPE_CHECKING

from smtc_lab.errors import EntryPointError
from smtc_lab.launchers.kept_source import keep_source
from smtc_lab.launchers.launcher import Handle
from smtc_lab.machine.processes import start_ticks
from smtc_lab.metrics.records.metric_record import MOST_NAMES, MetricRecord, kept_value
from smtc_lab.neutral_text import neutral
from smtc_lab.runtime.own_metrics.metric_log import checked, checked_step
from smtc_lab.store.state import IN_OWN_PROCESS, SUPERVISOR_MACHINE, RunState, write_state
from smtc_lab.store.writer import RecordWriter

if TYPE_CHECKING:
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.store.run_folder import RunFolder
    from smtc_lab.store.state import State

_HOST = "algo-1"
_LAUNCHER = "own-process"


class OwnRun:
    """The folder of a run that this process makes, and is the supervisor of.

    Args:
        folder: The folder, made just now.
        job: What it says it runs.
    """

    def __init__(self, folder: RunFolder, job: TrainingJob) -> None:
        self.folder = folder
        self._names: dict[str, int] = {}
        """Of each metric, the step that comes next."""
        instance = {"host": _HOST, "role": "train", "rank": 0}
        plan = {"launcher": _LAUNCHER, "instances": [instance], "price_notes": []}
        handle = Handle(
            launcher=_LAUNCHER, job_name=folder.job_name, run_folder=str(folder.path)
        )
        folder.job_file.write_text(job.to_json(), encoding="utf-8")
        folder.plan_file.write_text(json.dumps(plan), encoding="utf-8")
        folder.handle_file.write_text(handle.to_json(), encoding="utf-8")
        keep_source(folder, job.entry_point)
        self._lock = os.open(folder.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._writer = RecordWriter(folder.rank_records(_HOST, 0))
        self._started_s = time.time()
        self._write("InProgress")

    def log(self, name: str, value: object, step: int | None) -> None:
        """Keep a value, or those of a dict."""
        given = checked_step(step)
        for called, number in checked({neutral(name): value}):
            if called not in self._names and len(self._names) >= MOST_NAMES:
                raise EntryPointError(
                    f"A run has at most {MOST_NAMES:,} metrics. Put what changes into the step."
                )
            at = self._names.get(called, 0) if given is None else given
            self._names[called] = at + 1
            row = (at, time.time(), called, *kept_value(number))
            self._writer.append_values(MetricRecord, row)

    def end(self, state: State, reason: str) -> None:
        """Write what is left, and how it ended."""
        try:
            self._writer.close()
        finally:
            self._write(state, reason, ended_s=time.time())
            os.close(self._lock)

    def _write(self, state: State, reason: str = "", ended_s: float | None = None) -> None:
        pid = os.getpid()
        write_state(
            self.folder,
            RunState(
                state=state,
                reason=reason,
                started_s=self._started_s,
                ended_s=ended_s,
                supervisor_pid=pid,
                supervisor_start_ticks=start_ticks(pid),
                facts={SUPERVISOR_MACHINE: platform.node(), IN_OWN_PROCESS: True},
            ),
        )
