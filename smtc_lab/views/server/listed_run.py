"""One run of the list, followed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from smtc_lab.errors import SmtcLabError
from smtc_lab.follow.changes import Changes
from smtc_lab.follow.growing import Growing
from smtc_lab.follow.run_follower import rank_files, read_plan
from smtc_lab.metrics.cost import usd_per_job
from smtc_lab.metrics.measured_launch import probe_steps
from smtc_lab.metrics.warm_up import measured_from
from smtc_lab.store.columns import StepColumns
from smtc_lab.store.reader import compiler_reports, read_job
from smtc_lab.store.state import TERMINAL, current_state
from smtc_lab.views.server.list_row import DAMAGED, Row, damaged_row, empty_row

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder
    from smtc_lab.store.state import RunState

_COLUMNS = ("step", "step_time_s")
_MEAN_EVERY_S = 1.0


class ListedRun:
    """A run of the list. Only one thread may look.

    Args:
        folder: The run.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        """The run."""
        self.row: Row = empty_row(folder.job_name, "run")
        """What the list tells of it; another object once that has changed."""
        self.are_steps_final = False
        """Whether all steps of an ended run were taken in."""
        self._is_read = False
        self._files = Changes()
        self._ranks: list[Path] = []
        self._is_compiled = False
        self._steps = Growing(len(_COLUMNS))
        self._mean_s = 0.0

    @property
    def has_ended(self) -> bool:
        """Whether it is known to have ended."""
        return self.row["state"] in TERMINAL

    def look(self) -> None:
        """Take in where it stands. Nothing is opened of a run that has ended."""
        if self.has_ended:
            return
        if self.row["state"] == DAMAGED and not self._has_changed():
            return
        try:
            if not self._is_read:
                self._read()
            self._update(self._standing(current_state(self.folder)))
        except (SmtcLabError, OSError) as error:
            self._has_changed()  # it is read again when it has
            self.row = damaged_row(self.row, error)

    def look_at_steps(self) -> None:
        """Take in new steps. A damaged record file leaves the numbers as they are."""
        try:
            is_due = self.has_ended or any(self._files.in_file(path) for path in self._ranks)
            if self._ranks and is_due:
                self._count()
        except SmtcLabError:  # the run's own view tells what is wrong
            pass
        if self.has_ended:
            self.are_steps_final = True
            self._steps = Growing(len(_COLUMNS))

    def _has_changed(self) -> bool:
        files = (self.folder.job_file, self.folder.state_file)
        return any(self._files.in_file(path) for path in files)

    def _read(self) -> None:
        job, plan = read_job(self.folder), read_plan(self.folder)
        price = plan.get("usd_per_hour")
        self._ranks = rank_files(self.folder, plan)
        self._is_read = True
        self._is_compiled = job.compiler_config is not None
        self.row = {
            **self.row,
            "cluster": job.cluster.label,
            "entry_point": job.entry_point,
            "max_steps": job.max_steps,
            "evidence": "measured" if job.emulation is None else "emulated",
            "usd_per_hour": float(price) if isinstance(price, int | float) else None,
        }

    def _standing(self, state: RunState) -> Row:
        cost_usd = None
        if state.started_s is not None:
            lasted_s = max(0.0, (state.ended_s or time.time()) - state.started_s)
            cost_usd = usd_per_job(billed_s=lasted_s, usd_per_hour=self.row["usd_per_hour"])
        return {
            **self.row,
            "state": state.state,
            "reason": state.reason,
            "started_s": state.started_s,
            "ended_s": state.ended_s,
            "usd_so_far": cost_usd,
        }

    def _count(self) -> None:
        columns = StepColumns(self._ranks)
        self._steps.append(columns.read(self._steps.num_rows, columns=_COLUMNS))
        mean_s, num_steps = self.row["step_time_s"], self._steps.num_rows
        if num_steps and (self.has_ended or time.monotonic() >= self._mean_s + _MEAN_EVERY_S):
            self._mean_s = time.monotonic()
            mean_s = self._mean_step_time_s()
        self._update({**self.row, "steps": num_steps, "step_time_s": mean_s})

    def _mean_step_time_s(self) -> float:
        step, time_s = self._steps.values
        reports = compiler_reports(self.folder)[0] if self._is_compiled else {}
        cut = measured_from(step, time_s, probe_steps=probe_steps(reports.values()))
        return float(time_s[cut:].mean())

    def _update(self, row: Row) -> None:
        if row != self.row:
            self.row = row
