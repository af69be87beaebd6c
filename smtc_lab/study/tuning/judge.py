"""Says of a trial that is trained why it is stopped."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from smtc_lab.metrics.tuning.found import Trial
    from smtc_lab.spec.tuning.question import TuningQuestion
    from smtc_lab.study.tuning.book import TrialBook
    from smtc_lab.study.tuning.purse import Purse
    from smtc_lab.study.tuning.trial_run import Spent, TrialRun

STOPPED = "The study was stopped."
"""Why a trial is stopped with its study; it goes on when that does."""

AT_RUNG = "at a rung"
"""Why a trial is stopped that waits."""

TO_ITS_END = "at its end"
"""Why a trial is stopped that was trained for as long as any is."""

_MONEY_S = 5.0
"""Time between two looks at what a trial has cost, in seconds."""


class Searching(Protocol):
    """What a judge asks of the search that a trial belongs to."""

    question: TuningQuestion
    """What is searched."""

    book: TrialBook
    """Its trials."""

    purse: Purse
    """Its money."""

    @property
    def is_stopped(self) -> bool:
        """Whether no trial is to go on."""

    def goes_on(self, number: int, values: list[float], spent: Spent) -> bool:
        """Take in that a trial came to a rung; return whether it goes on at once."""

    def why_hopeless(self, number: int, values: list[float]) -> str | None:
        """Return why a trial is not trained on, by the others' values; None: it is."""


class Judge:
    """Says of one trial why it is stopped."""

    def __init__(self, search: Searching, run: TrialRun, trial: Trial) -> None:
        self._search, self._run, self._number = search, run, trial.number
        self._end = self._next_end(trial.points)
        config = search.question.strategy_config
        self._most = None if config is None else config.max_resource
        self._looked_s = time.monotonic()
        self.values: list[float] = []
        """Values of the objective, as far as they count."""

    def _next_end(self, points: int) -> int | None:
        rungs = self._search.book.rungs
        return None if rungs is None else rungs.next_end(points)

    def __call__(self, values: list[float]) -> str | None:
        """Return why the trial is stopped; None: it is not."""
        self.values = values
        if self._search.is_stopped:
            return STOPPED
        while self._end is not None and len(values) >= self._end:
            self.values = values[: self._end]
            if not self._search.goes_on(self._number, self.values, self._run.spent()):
                return AT_RUNG
            self._end = self._next_end(self._end)
        self.values = values
        if self._most is not None and len(values) >= self._most:
            self.values = values[: self._most]
            return TO_ITS_END
        if self._search.question.budget_usd is not None:
            now_s = time.monotonic()
            if now_s - self._looked_s >= _MONEY_S:
                self._looked_s = now_s
                usd = self._run.spent().usd or 0.0
                if why_spent := self._search.purse.note(self._number, usd):
                    return why_spent
        return self._search.why_hopeless(self._number, values)
