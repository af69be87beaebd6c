"""A calibration with the models that are made of it, each of them once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.errors import SmtcLabError
from smtc_lab.planner.model.model import Model
from smtc_lab.planner.model.setup import Setup

if TYPE_CHECKING:
    from smtc_lab.planner.calibration.calibration import Calibration


class CalibratedModel:
    """A calibration, and what predicts from it.

    Args:
        calibration: What was measured.
    """

    def __init__(self, calibration: Calibration) -> None:
        self.calibration = calibration
        """What was measured."""

    @cached_property
    def model(self) -> Model:
        """The model with the draws behind its intervals.

        Raises:
            PlannerError: The calibration lacks what no prediction can do without.
        """
        return Model(self.calibration)

    @cached_property
    def of_means(self) -> Model:
        """The model without draws, for many set-ups at once.

        Raises:
            PlannerError: As for ``model``.
        """
        return Model(self.calibration, 0)

    @cached_property
    def can_predict(self) -> bool:
        """Whether it predicts one core of its machine: numbers of a stranger may be absurd."""
        lone = Setup(trainer_cores=1.0)
        try:
            with np.errstate(all="ignore"):
                found = [each.times(lone).step_s[0, 0] for each in (self.model, self.of_means)]
        except (SmtcLabError, ArithmeticError, ValueError, LookupError, MemoryError):
            return False
        return bool(np.isfinite(found).all() and min(found) > 0)
