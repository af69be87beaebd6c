"""Keeps the budget of a study: what its trials have cost, and whether one more can be paid."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtc_lab.study.tuning.book import TrialBook


class Purse:
    """The money of a study.

    Args:
        budget_usd: Most that all trials may cost, in USD; None: no limit.
        book: Its trials; what those have cost that have ended stands there.
    """

    def __init__(self, budget_usd: float | None, book: TrialBook) -> None:
        self._budget_usd, self._book = budget_usd, book
        self._going: dict[int, float] = {}
        self._lock = threading.Lock()

    def note(self, number: int, usd: float) -> str | None:
        """Take in what a trial that goes on has cost so far.

        Args:
            number: Of the trial.
            usd: In USD.

        Returns:
            Why it is stopped now; None: it is not.
        """
        with self._lock:
            self._going[number] = usd
            spent_usd = self._spent_usd()
        if self._budget_usd is None or spent_usd < self._budget_usd:
            return None
        return f"The budget of {self._budget_usd:g} USD is spent."

    def close(self, number: int) -> None:
        """Take in that a trial goes on no more; what it has cost stands in the book."""
        with self._lock:
            self._going.pop(number, None)

    def why_too_dear(self) -> str:
        """Return why the next trial would cost too much; empty: it would not, or who knows."""
        if self._budget_usd is None:
            return ""
        whole = [
            trial.usd
            for trial in self._book.has_ended
            if trial.usd and trial.state == "Completed"
        ]
        expected_usd = sum(whole) / len(whole) if whole else 0.0
        with self._lock:
            spent_usd = self._spent_usd()
            owed_usd = sum(max(expected_usd - usd, 0.0) for usd in self._going.values())
        if spent_usd + owed_usd + expected_usd <= self._budget_usd:
            return ""
        return (
            f"{spent_usd:.4g} USD of {self._budget_usd:g} USD are spent, and one more trial "
            f"would cost about {expected_usd:.2g} USD."
        )

    def _spent_usd(self) -> float:
        """Return what all trials have cost so far, in USD."""
        trials = self._book.trials
        ended = sum(one.usd or 0.0 for one in trials if one.number not in self._going)
        return ended + sum(self._going.values())
