"""Trains one trial: begins its run, or goes on with it, and looks at its objective."""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from smtc_lab.errors import LauncherError, StoreError
from smtc_lab.follow.run_follower import read_plan
from smtc_lab.launchers.run import Run
from smtc_lab.launchers.special_launch import in_own_folder
from smtc_lab.metrics.cost import usd_of_run
from smtc_lab.metrics.records.facts import number_of
from smtc_lab.metrics.result import evidence_of
from smtc_lab.metrics.run_summary import summarize
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.state import read_state
from smtc_lab.study.tuning.objective_values import ObjectiveValues
from smtc_lab.study.watched_run import LOOK_S, STUDY

if TYPE_CHECKING:
    from smtc_lab.launchers.launcher import Launcher
    from smtc_lab.spec.job import TrainingJob

_NAMED = 8


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What a run has taken so far."""

    usd: float | None
    """In USD; None: its price is unknown."""

    seconds: float
    """In seconds, of an emulation in cluster time."""

    steps: int
    """Steps."""


class Judging(Protocol):
    """Says why a trial is to be stopped."""

    def __call__(self, *, has_ended: bool) -> str | None:
        """Return why; None: it is trained on.

        Args:
            has_ended: Whether all of its values are there.
        """


class TrialRun:
    """The run of one trial, which outlives whoever began it.

    Args:
        launcher: Where it runs.
        job: What is trained, with the trial's name and hyperparameters.
        objective: Name of its metric.
        study: Name of the study.
    """

    def __init__(
        self, launcher: Launcher, job: TrainingJob, *, objective: str, study: str
    ) -> None:
        self._launcher, self._job = launcher, job
        self._objective, self._study = objective, study
        self._run: Run | None = None
        self._values: ObjectiveValues | None = None

    def begin(self) -> bool:
        """Begin it, or go on with what another process began; return whether it is new.

        Raises:
            LauncherError: It could not be started.
            SpecError: It cannot run here.
        """
        folder = RunFolder(self._launcher.root / str(self._job.job_name))
        if not was_begun(folder):
            # what a process left that was killed while it began the run
            shutil.rmtree(folder.path, ignore_errors=True)
            plan = in_own_folder(self._launcher.plan(self._job))
            plan = replace(plan, facts={**plan.facts, STUDY: self._study})
            self._run = Run(self._launcher, self._launcher.start(plan))
            return True
        self._run = run = Run.open(str(self._job.job_name), root=self._launcher.root)
        if run.state.is_terminal and _was_cut_short(run):
            run.resume(detach=False)
        return False

    def train(self, judge: Judging) -> str | None:
        """Train until it ends, or is judged; return why it was stopped, None: it was not.

        Args:
            judge: Asked about twice a second why it is to be stopped; None: it goes on.
        """
        run = self.run
        while True:
            is_over = run.state.is_terminal
            why = judge(has_ended=is_over)
            if is_over:
                return why
            if why is not None:
                run.stop()
                return why
            self._launcher.wait(run.handle, LOOK_S)

    @property
    def run(self) -> Run:
        """Its run; it was begun."""
        if self._run is None:
            raise AssertionError("begin() comes first")
        return self._run

    def values(self) -> list[float]:
        """Return the values of its objective so far, of the first rank that has some."""
        if self._values is None:
            self._values = ObjectiveValues(self.run.folder, self._objective)
        return self._values.read()

    def spent(self) -> Spent:
        """Return what it has taken so far."""
        return spent_of(self.run)

    def missing(self) -> str:
        """Return why it has no objective, a sentence."""
        metrics = self.run.metrics()
        if self._objective in metrics.names:
            last = metrics[self._objective].last
            return "" if math.isfinite(last) else f"Its {self._objective} is {last}."
        named = ", ".join(metrics.names[:_NAMED]) or "none"
        return (
            f"It logged no metric {self._objective!r}; it logged: {named}. Log it with "
            "session.log(...), or find it in what is printed with metric_definitions."
        )

    def failure(self) -> str:
        """Return why it failed, a sentence; empty: it did not."""
        try:
            state = self.run.state
        except (StoreError, LauncherError) as error:
            return str(error)
        return "" if state.state in {"Completed", "Stopped"} else state.reason


def spent_of(run: Run) -> Spent:
    """Return what a run has taken so far."""
    state, records = run.state, run.records()
    price = number_of(read_plan(run.folder), "usd_per_hour")
    bill = summarize(records, usd_per_hour=price).bill
    evidence, whole_s = evidence_of(run.job), state.billed_s
    usd = usd_of_run(
        evidence=evidence, whole_s=whole_s, steps_s=bill.steps_s, usd_per_hour=price
    )
    seconds = bill.steps_s if evidence == "emulated" else whole_s
    steps = max((len(rows) for rows in records.steps.values()), default=0)
    return Spent(usd=usd, seconds=seconds or 0.0, steps=steps)


def was_begun(folder: RunFolder) -> bool:
    """Return whether a run was begun: its supervisor has said that it is there."""
    return folder.handle_file.exists() and read_state(folder).supervisor_pid is not None


def _was_cut_short(run: Run) -> bool:
    """Return whether a run ended because what watched over it did, or waits at a rung."""
    state = run.state
    if state.state == "Stopped":
        return True
    return state.state == "Failed" and not any(state.exit_codes.values())
