"""One run of the list, followed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.errors import SmtcLabError
from smtc_lab.follow.file_pace import FilePace
from smtc_lab.follow.growing import Growing
from smtc_lab.follow.run_follower import rank_files, read_plan
from smtc_lab.launchers.engines import is_billed
from smtc_lab.launchers.special_launch import made_by
from smtc_lab.metrics.cost import usd_of_run
from smtc_lab.metrics.measured_launch import probe_steps
from smtc_lab.metrics.records.cluster_time import dilation_of_job
from smtc_lab.metrics.records.facts import number_of
from smtc_lab.metrics.records.interrupted import interrupted
from smtc_lab.metrics.result import evidence_of
from smtc_lab.metrics.warm_up import measured_from
from smtc_lab.store.reader import compiler_reports, read_job
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import TERMINAL, RunState, current_state
from smtc_lab.store.steps.columns import StepColumns
from smtc_lab.views.live.listed import Listed
from smtc_lab.views.text.format import brief
from smtc_lab.views.text.script import script_words

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from smtc_lab.metrics.records.interrupted import Interrupted
    from smtc_lab.study.folder import LaunchedRun
    from smtc_lab.views.live.list_row import Row

_COLUMNS = ("step", "step_time_s")
_MEAN_EVERY_S = 1.0
_RANK_S = 0.002
"""Least time from one look at the steps to the next, for each rank."""

_STATE_EVERY_S = 1.0
"""A supervisor that was killed leaves no trace in the file of the state."""


class ListedRun(Listed):
    """A run of the list. Only one thread may look.

    Args:
        path: The run.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "run", ("job.json", "state.json"))
        self.folder = RunFolder(path)
        """The run."""
        self.are_steps_final = False
        """Whether all steps of an ended run were taken in."""
        self._ranks: list[Path] = []
        self._is_compiled = False
        self._steps = Growing(len(_COLUMNS))
        self._mean_s = 0.0
        self._pace = FilePace(_RANK_S)
        self._state: RunState | None = None
        self._state_s = 0.0
        self._lasted_s: float | None = None
        self._window_s: tuple[float, float] | None = None
        self._taken: Interrupted | None = None
        self._dilation = 1.0

    @property
    def has_ended(self) -> bool:
        """Whether it is known to have ended."""
        return self.row["state"] in TERMINAL

    def belongs_to(self, study: str, launch: LaunchedRun) -> None:
        """Take in what study it is a launch of, and which one."""
        label = brief(launch.label)
        self._update({**self.row, "study": study, "launch": label, "round": launch.round})

    def look_at_steps(self) -> None:
        """Take in new steps. A damaged record file leaves the numbers as they are."""
        try:
            is_due = self.has_ended or (
                self._pace.is_due(len(self._ranks)) and self._files.in_any(self._ranks)
            )
            if self._ranks and is_due:
                self._count()
        except SmtcLabError:  # the run's own view tells what is wrong
            pass
        if self.has_ended:
            self.are_steps_final = True
            self._steps = Growing(len(_COLUMNS))

    def _read(self) -> Row:
        job, plan = read_job(self.folder), read_plan(self.folder)
        self._ranks = rank_files(self.folder, plan)
        self._is_compiled = job.compiler_config is not None
        self._dilation = dilation_of_job(job)
        return {
            **self.row,
            "cluster": job.cluster.label,
            "entry_point": brief(script_words(job)),
            "max_steps": job.max_steps,
            "evidence": evidence_of(job),
            "usd_per_hour": number_of(plan, "usd_per_hour"),
            "is_billed": is_billed(str(plan.get("launcher", ""))),
            "made_by": made_by(plan),
        }

    def _standing(self, runs: Mapping[str, Row]) -> Row:  # noqa: ARG002  no run has others
        state = self._state_now()
        self._lasted_s = state.billed_s
        self.is_final = state.is_terminal
        return {
            **self.row,
            "state": state.state,
            "secondary": state.secondary,
            "reason": brief(state.reason),
            "started_s": state.started_s,
            "ended_s": state.ended_s,
            "usd_so_far": self._usd_so_far(),
        }

    def _state_now(self) -> RunState:
        is_due = time.monotonic() - self._state_s >= _STATE_EVERY_S
        if self._state is None or self._files.in_file(self.folder.state_file) or is_due:
            self._state = current_state(self.folder)
            self._state_s = time.monotonic()
        return self._state

    def _usd_so_far(self) -> float | None:
        """Return what it costs so far; of an emulated run, what is on its steps' scale."""
        begin_s, end_s = self._window_s or (0.0, 0.0)
        waited_s = 0.0 if self._state is None else self._state.waited_s
        taken_s = waited_s if self._taken is None else self._taken.between_s
        steps_s = max(0.0, end_s - begin_s - taken_s) / self._dilation
        return usd_of_run(
            evidence=self.row["evidence"],
            whole_s=self._lasted_s,
            steps_s=steps_s if self._window_s else None,
            usd_per_hour=self.row["usd_per_hour"],
        )

    def _count(self) -> None:
        if self.has_ended and self._state is not None and len(self._state.attempts) > 1:
            self._steps = Growing(len(_COLUMNS))  # some were done again since
        new = StepColumns(self._ranks, dilation=self._dilation).read(
            self._steps.num_rows, columns=(*_COLUMNS, "begin_time_s", "end_time_s")
        )
        self._steps.append(new[: len(_COLUMNS)])
        if self.has_ended and self._state is not None and len(self._state.attempts) > 1:
            times_s, ended_s = new[len(_COLUMNS) :], self._state.ended_s
            self._taken = interrupted(self._state.attempts, times_s, ended_s=ended_s)
        self._widen(*new[len(_COLUMNS) :])
        mean_s, num_steps = self.row["step_time_s"], self._steps.num_rows
        if num_steps and (self.has_ended or time.monotonic() >= self._mean_s + _MEAN_EVERY_S):
            self._mean_s = time.monotonic()
            mean_s = self._mean_step_time_s()
        cost_usd = self._usd_so_far()
        self._update(
            {**self.row, "steps": num_steps, "step_time_s": mean_s, "usd_so_far": cost_usd}
        )

    def _widen(self, begins_s: NDArray[np.float64], end_s: NDArray[np.float64]) -> None:
        """Take in when new steps began and ended; the steps are let go at the end."""
        if len(end_s):
            begin_s, last_s = self._window_s or (np.inf, -np.inf)
            first_s = float(begins_s.min())
            self._window_s = min(begin_s, first_s), max(last_s, float(end_s.max()))

    def _mean_step_time_s(self) -> float:
        step, time_s = self._steps.values
        reports = compiler_reports(self.folder)[0] if self._is_compiled else {}
        cut = measured_from(step, time_s, probe_steps=probe_steps(reports.values()))
        return float(time_s[cut:].mean())
