"""A search whose trials are played from curves: no process is launched for them.

Everything else is the search's own: suggestions, ledger on disk, rungs, budget.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.tuning import judge, search
from smtc_lab.study.tuning.ledger import TrialLedger, read_ledger
from smtc_lab.study.tuning.trial_run import Spent
from smtc_lab.study.watched_run import LaunchWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from smtc_lab.spec.tuning.question import TuningQuestion
    from smtc_lab.study.tuning.search import TrialSearch
    from smtc_lab.study.tuning.trial_run import Judging

STUDY = "played"
"""Name of the study."""

Curve = list[float]


@dataclass(frozen=True, kw_only=True)
class PlayedTrials:
    """Stands where a launcher does."""

    root: Path
    """Folder of runs: each trial that was begun has a folder there."""

    curve: Callable[[dict[str, Any]], Curve]
    """Values of the objective of a trial, by its hyperparameters; one a step."""

    usd_per_step: Callable[[dict[str, Any]], float] = lambda _: 0.0
    """Price of a step, by the hyperparameters."""

    begun: Callable[[], None] = lambda: None
    """Called whenever a trial begins, or goes on."""


class PlayedRun:
    """Stands where ``TrialRun`` does: its values are there as soon as they are asked for."""

    def __init__(
        self, launcher: PlayedTrials, job: TrainingJob, *, objective: str, study: str
    ) -> None:
        del objective, study
        self._trials, self._job, self._points = launcher, job, 0
        self._curve: Curve = []
        self.run = self
        """Itself."""

    def begin(self) -> bool:
        """Begin, and leave a folder as a run does; return whether it is new."""
        self._trials.begun()
        folder = self._trials.root / str(self._job.job_name)
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        return is_new

    def train(self, judge: Judging) -> str | None:
        """Give one value after the other, until it is stopped or all are there."""
        self._curve = self._trials.curve(self._job.hyperparameters)
        for points in range(1, len(self._curve) + 1):
            self._points = points
            if why := judge(has_ended=points == len(self._curve)):
                return why
        return None

    def values(self) -> Curve:
        """Return the values so far."""
        return self._curve[: self._points]

    def spent(self) -> Spent:
        """Return what it has taken so far: a step has a second."""
        usd = self._points * self._trials.usd_per_step(self._job.hyperparameters)
        return Spent(usd=usd, seconds=float(self._points), steps=self._points)

    def failure(self) -> str:
        """Return that nothing failed."""
        return ""

    def missing(self) -> str:
        """Return that nothing is missing."""
        return ""


@contextmanager
def played_search(
    folder: Path, question: TuningQuestion, trials: PlayedTrials
) -> Iterator[TrialSearch]:
    """Give a search that goes on from the ledger of a folder; money is looked at each step."""
    found: Any = search
    own, looked_s = found.TrialRun, judge._MONEY_S  # noqa: SLF001  trials have no clock
    found.TrialRun, judge._MONEY_S = PlayedRun, 0.0  # noqa: SLF001  as above
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TrialLedger(folder) as ledger:
            yield search.TrialSearch(
                question,
                job=TrainingJob(entry_point="played.py", cluster=Cluster.parse("a=local:1")),
                launcher=cast("Any", trials),
                ledger=ledger,
                past=read_ledger(folder),
                study=STUDY,
                created_s=time.time(),
                most_at_once=question.max_parallel_jobs,
                watch=LaunchWatch(launches=question.num_trials, progress=None),
            )
    finally:
        found.TrialRun, judge._MONEY_S = own, looked_s  # noqa: SLF001  as above
