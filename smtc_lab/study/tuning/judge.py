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

    def is_hopeless(self, value: float, points: int) -> bool:
        """Return whether a trial is not trained on, by the others' values."""


class Judge:
    """Says of one trial why it is stopped."""

    def __init__(self, search: Searching, run: TrialRun, trial: Trial) -> None:
        self._search, self._run, self._number = search, run, trial.number
        self._end = self._next_end(trial.points)
        config = search.question.strategy_config
        self._most = None if config is None else config.max_resource
        self._is_early = search.question.early_stopping_type == "Auto"
        self._num_judged = 0
        self._looked_s = time.monotonic()
        self.values: list[float] = []
        """Values of the objective, as far as they count; of a trial that nothing judges by
        them they are there when it has ended."""

    def _next_end(self, points: int) -> int | None:
        rungs = self._search.book.rungs
        return None if rungs is None else rungs.next_end(points)

    def __call__(self, *, has_ended: bool) -> str | None:
        """Return why the trial is stopped; None: it is not.

        Args:
            has_ended: Whether all of its values are there.
        """
        if self._search.is_stopped:
            return STOPPED
        if has_ended or self._is_early or self._most is not None:
            why = self._by_values(self._run.values())
            if why is not None:
                return why
        why = self._by_money()
        if why is not None:  # what it came to by then counts
            self.values = self._run.values()
        return why

    def _by_values(self, values: list[float]) -> str | None:
        """Return why it is stopped by the values that it gave."""
        while self._end is not None and len(values) >= self._end:
            self.values = values[: self._end]
            if not self._search.goes_on(self._number, self.values, self._run.spent()):
                return AT_RUNG
            self._end = self._next_end(self._end)
        self.values = values
        if self._most is not None and len(values) >= self._most:
            self.values = values[: self._most]
            return TO_ITS_END
        # each value in its turn, so that it is no matter when somebody looked
        while self._is_early and self._num_judged < len(values):
            value, self._num_judged = values[self._num_judged], self._num_judged + 1
            if self._search.is_hopeless(value, self._num_judged):
                self.values = values[: self._num_judged]
                return "It was worse than the median of the others' running means."
        return None

    def _by_money(self) -> str | None:
        """Return why it is stopped by what all trials have cost; looked at now and then."""
        now_s = time.monotonic()
        if self._search.question.budget_usd is None or now_s - self._looked_s < _MONEY_S:
            return None
        self._looked_s = now_s
        return self._search.purse.note(self._number, self._run.spent().usd or 0.0)
