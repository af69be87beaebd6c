"""What a run has measured of itself that a forecast needs: steps, saves, starts."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean, median
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.errors import PlannerError, StoreError
from smtc_lab.launchers.run import Run
from smtc_lab.metrics.columns import STEP, steps_of
from smtc_lab.metrics.records.attempts import Attempt, AttemptRecord
from smtc_lab.metrics.records.cluster_time import dilation_of_job
from smtc_lab.metrics.records.saves import saves_of
from smtc_lab.metrics.run_summary import summarize
from smtc_lab.spec.cluster import LOCAL
from smtc_lab.store.reader import read_job, read_records
from smtc_lab.store.run_folder import find_runs, runs_root
from smtc_lab.store.state import read_state

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from _typeshed import StrPath
    from numpy.typing import NDArray

    from smtc_lab.metrics.records.saves import Save
    from smtc_lab.spec.job import TrainingJob

_AND_NO_MORE = 1 + 1e-9
"""Else a sum of many small times leaves a last piece of work, and a save of it."""


@dataclass(frozen=True, kw_only=True)
class RunTimes:
    """Times of a run, in seconds of the machine that it ran on."""

    work_s: float
    """Of its steps, each once, and of its end, without what saves held up."""

    restart_s: float
    """From the start of its instances to the first step, the mean of its attempts."""

    save_s: float | None
    """For how long a save held it up in the mean; None: it saved nothing by a session."""

    save_every_s: float | None
    """Work between two saves; None: as above, or it saved once."""

    instances: tuple[tuple[str | None, int], ...]
    """Instance types, None for this machine, and how many of each."""


_SAME = (
    *("entry_point", "arguments", "hyperparameters", "cluster", "distribution"),
    *("compiler_config", "python_environment", "max_steps"),
)
"""Fields of a job that decide how long its steps take, and how many there are."""


def newest_run_of(
    job: TrainingJob, *, root: StrPath | None = None, but: Collection[str] = ()
) -> Run:
    """Return the newest completed run of a job's script, arguments and cluster.

    Args:
        job: The job; on which instances, spot or not, does not matter.
        root: Folder of runs; None: the default one.
        but: Fields of the job that may differ, beside those that do not decide its times.

    Raises:
        PlannerError: There is none.
        StoreError: The folder may not be read.
    """
    for folder in reversed(find_runs(root)):
        with suppress(StoreError):  # one that is damaged is none of it
            if read_state(folder).state == "Completed":
                made = read_job(folder)
                same = [name for name in _SAME if name not in but]
                if all(getattr(made, name) == getattr(job, name) for name in same):
                    return Run.open(str(folder.path))
    raise PlannerError(
        f"No run of {job.entry_point!r} with this cluster, arguments and max_steps is "
        f"completed in {str(runs_root(root))!r}, so the times of the job are not known. "
        "Launch it once, or enter them: seconds of its steps, of a save and of a restart."
    )


def times_of(run: Run) -> RunTimes:
    """Return what a run has measured of itself, however often it was interrupted.

    Raises:
        PlannerError: It was not completed, or has no step that could be told.
        StoreError: A file of it is damaged.
    """
    records = run.records()
    steps = steps_of(records)
    restarts_s = _restarts_s(records.attempts, steps, _begins(run))
    bill = summarize(records).bill
    if records.state != "Completed" or bill.steps_s is None or not restarts_s:
        raise PlannerError(
            f"Run {run.job_name!r} ({records.state}, {steps.shape[1]} steps) has not both a "
            "first step and its end, so its times are not known. Wait for its end, or give "
            "seconds of work."
        )
    saves = saves_of(records.events)
    dilation = dilation_of_job(records.job)
    held_s = sum(save.stall_s for save in saves) / max(1, len(records.steps)) / dilation
    step_s = float((steps[STEP["end_time_s"]] - steps[STEP["begin_time_s"]]).mean()) / dilation
    work_s = max(step_s, bill.steps_s + (bill.end_s or 0.0) - held_s)
    between = _steps_between(saves)
    return RunTimes(
        work_s=work_s,
        restart_s=mean(restarts_s),
        save_s=mean([save.stall_s for save in saves]) if saves else None,
        save_every_s=between * work_s / steps.shape[1] * _AND_NO_MORE if between else None,
        instances=instances_of(records.job),
    )


def _restarts_s(
    attempts: Sequence[Attempt], steps: NDArray[np.float64], first: dict[int, int]
) -> list[float]:
    """Return how long the attempts took to their first step, of those where it still counts."""
    numbers, begins_s = steps[STEP["step"]], steps[STEP["begin_time_s"]]
    restarts_s = []
    for number, attempt in enumerate(attempts, start=1):
        ended_s = np.inf if attempt.ended_s is None else attempt.ended_s
        own = np.flatnonzero((begins_s >= attempt.started_s) & (begins_s <= ended_s))
        if len(own) and numbers[own[0]] == first.get(number, 0):
            restarts_s.append(float(begins_s[own[0]]) - attempt.started_s)
    return restarts_s


def _begins(run: Run) -> dict[int, int]:
    """Return the number of the first step of each attempt that went on."""
    paths = run.folder.record_files()
    begun = [one for path in paths for one in read_records(path, AttemptRecord)[0]]
    return {one.attempt: one.first_step for one in begun}


def _steps_between(saves: Sequence[Save]) -> float | None:
    steps = sorted({save.step for save in saves})
    gaps = [after - before for before, after in pairwise(steps)]
    return float(median(gaps)) if gaps else None


def instances_of(job: TrainingJob) -> tuple[tuple[str | None, int], ...]:
    """Return the instance types of a job, None for this machine, and how many of each."""
    return tuple(
        (None if group.instance_type == LOCAL else group.instance_type, group.instance_count)
        for group in job.cluster.instance_groups
    )
