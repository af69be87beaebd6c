"""What a rule is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from smtc_lab.metrics.finding import Finding
    from smtc_lab.rules.observation import Observation


class Rule(ABC):
    """Looks for what could be better in one run, which may be growing.

    It is told each step once, in order, in pieces of any size, and keeps a few numbers of them.
    """

    def take(self, steps: NDArray[np.float64]) -> None:  # noqa: B027  most keep nothing
        """Take in steps that came, shape (C, N), columns as in ``STEP_COLUMNS``."""

    @abstractmethod
    def findings(self, seen: Observation) -> Iterable[Finding]:
        """Yield what could be better, by what is known now."""
