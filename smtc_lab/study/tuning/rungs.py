"""Which trials are trained on: the median rule of SageMaker, and successive halving."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.spec.tuning.question import TuningQuestion

REDUCTION = 3
"""One in so many trials of a rung goes on to the next one, which is so many times as far."""

_FEWEST_OTHERS = 3


@dataclass
class MedianRule:
    """Stops trials that are worse than half of the others were, as SageMaker judges it."""

    is_minimized: bool
    """Whether less is better."""

    _means: list[NDArray[np.float64]] = field(default_factory=list)

    @classmethod
    def of(cls, question: TuningQuestion) -> MedianRule | None:
        """Return the rule of a question; None: it has none."""
        return cls(question.is_minimized) if question.early_stopping_type == "Auto" else None

    def ended(self, values: Sequence[float]) -> None:
        """Take in the values of the objective of a trial that has ended."""
        if values:
            self._means.append(np.cumsum(values) / np.arange(1, len(values) + 1))

    def is_worse(self, value: float, points: int) -> bool:
        """Return whether a trial is worse than the median of the others' running means.

        Args:
            value: Its objective.
            points: Values of the objective up to there, at least 1. Others with fewer do not
                count, and fewer than three decide nothing.
        """
        means = [float(one[points - 1]) for one in self._means if len(one) >= points]
        if len(means) < _FEWEST_OTHERS:
            return False
        middle = median(means)
        return value > middle if self.is_minimized else value < middle


@dataclass
class Rungs:
    """Successive halving of trials that wait and go on (ASHA).

    At each rung one in three goes on, as soon as it is among the best third of those that came
    so far; the others wait, and may go on when more have come.
    """

    ends: tuple[int, ...]
    """Values of the objective at which trials are judged, ascending."""

    is_minimized: bool
    """Whether less is better."""

    values: list[dict[int, float]] = field(default_factory=list)
    """Of each rung: the objective of each trial that came there, by its number."""

    went_on: list[set[int]] = field(default_factory=list)
    """Of each rung: the trials that went on from there."""

    @classmethod
    def of(cls, question: TuningQuestion) -> Rungs | None:
        """Return the rungs of a question; None: its trials are not halved."""
        config = question.strategy_config
        if question.strategy != "Hyperband" or config is None:
            return None
        ends = [config.min_resource]
        while ends[-1] * REDUCTION < config.max_resource:
            ends.append(ends[-1] * REDUCTION)
        rungs = cls(tuple(ends), question.is_minimized)
        rungs.values = [{} for _ in ends]
        rungs.went_on = [set() for _ in ends]
        return rungs

    def next_end(self, points: int) -> int | None:
        """Return at how many values a trial of so many is judged next; None: no more."""
        return next((end for end in self.ends if end > points), None)

    def came(self, number: int, points: int, value: float) -> None:
        """Take in the objective of a trial at a rung."""
        self.values[self.ends.index(points)][number] = value

    def goes_on(self, number: int, points: int) -> None:
        """Take in that a trial goes on from a rung."""
        self.went_on[self.ends.index(points)].add(number)

    def promotable(self) -> int | None:
        """Return a trial that may go on from where it waits, the furthest first; None: none."""
        for values, gone in zip(reversed(self.values), reversed(self.went_on), strict=True):
            best = self._in_order(values)[: len(values) // REDUCTION]
            for number in best:
                if number not in gone:
                    return number
        return None

    def furthest(self) -> int | None:
        """Return the best one of those that wait at the furthest rung; None: none waits."""
        for values, gone in zip(reversed(self.values), reversed(self.went_on), strict=True):
            waiting = [number for number in self._in_order(values) if number not in gone]
            if waiting:
                return waiting[0]
        return None

    def _in_order(self, values: dict[int, float]) -> list[int]:
        """Return the trials of a rung from the best; NaN is worst."""
        sign = 1.0 if self.is_minimized else -1.0

        def place(number: int) -> tuple[bool, float, int]:
            value = values[number]
            return value != value, sign * value, number  # noqa: PLR0124  NaN is not itself

        return sorted(values, key=place)
