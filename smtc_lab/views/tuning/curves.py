"""The objective of trials while they are trained, read from their runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.errors import SmtcLabError
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.store.steps.logged import read_logged
from smtc_lab.study.tuning.book import run_name
from smtc_lab.views.tuning.info import TrialCurve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from smtc_lab.metrics.tuning.found import Trial

_MOST_CURVES = 50
_MOST_POINTS = 100
_EVERY_S = 3.0


class TrialCurves:
    """The curves of a search: those of the best trials and of the newest ones.

    A trial that has ended, or waits, is read once; one that is trained every 3 seconds.

    Args:
        root: Folder of the runs.
        study: Name of the study.
        objective: Name of the metric.
    """

    def __init__(self, root: Path, study: str, objective: str) -> None:
        self._root, self._study, self._objective = root, study, objective
        self._read: dict[int, tuple[object, tuple[tuple[float, float], ...]]] = {}

    def are_due(self, trials: Sequence[Trial]) -> bool:
        """Return whether a trial goes on that was not read for 3 seconds."""
        return any(
            trial.state == "InProgress"
            and self._mark(trial) != self._read.get(trial.number, (0,))[0]
            for trial in trials[-_MOST_CURVES:]
        )

    def of(self, best_first: Sequence[Trial]) -> tuple[TrialCurve, ...]:
        """Return the curves of some trials, by number.

        Args:
            best_first: All trials, the best first.
        """
        half = _MOST_CURVES // 2
        newest = sorted(best_first[half:], key=lambda trial: -trial.number)[:half]
        shown = sorted((*best_first[:half], *newest), key=lambda trial: trial.number)
        for trial in shown:
            mark = self._mark(trial)
            if self._read.get(trial.number, (None,))[0] != mark:
                self._read[trial.number] = mark, self._points(trial)
        curves = (
            TrialCurve(trial=each.number, points=self._read[each.number][1]) for each in shown
        )
        return tuple(curve for curve in curves if curve.points)

    @staticmethod
    def _mark(trial: Trial) -> object:
        """Return what is another one when there may be more of a trial to read."""
        if trial.state == "InProgress":
            return int(time.monotonic() / _EVERY_S)
        return trial.state, trial.points

    def _points(self, trial: Trial) -> tuple[tuple[float, float], ...]:
        """Return values of the objective, at most 100; none where they cannot be read."""
        # never by the name that a result tells: its file may be somebody else's
        folder = RunFolder(self._root / run_name(self._study, trial.number))
        try:
            values = read_logged(folder)[self._objective].value
        except SmtcLabError:
            return ()
        if trial.points:  # what came behind a rung does not count
            values = values[: trial.points] if trial.state != "InProgress" else values
        places = np.unique(np.linspace(0, len(values) - 1, _MOST_POINTS).round().astype(int))
        return tuple(
            (float(place + 1), float(f"{values[place]:.6g}"))
            for place in places
            if np.isfinite(values[place])
        )
