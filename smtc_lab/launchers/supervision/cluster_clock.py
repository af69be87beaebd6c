"""The clock of a run: its cluster's seconds, of which an emulation makes D here each."""

from __future__ import annotations

import math
import time
from typing import Any


class ClusterClock:
    """Counts the seconds of a run from now on.

    While the trainers of an emulation take steps, everything goes slower by its time dilation
    D, so that D seconds of this machine are one of the cluster. Starts, ends and waits take
    what they take here.

    Args:
        dilation: The time dilation D, at least 1; 1: nothing is emulated.
    """

    clock: Any = time
    """Tells the time: the module, or what answers as it does."""

    def __init__(self, dilation: float = 1.0) -> None:
        self._dilation = dilation
        self._rate = 1.0
        self._counted_s = 0.0
        self._since_s: float = self.clock.monotonic()

    @property
    def waits_for_steps(self) -> bool:
        """Whether it goes at another rate once steps are taken, and was not told of any."""
        return self._dilation != 1 and self._rate == 1

    @property
    def now_s(self) -> float:
        """Seconds since this was made."""
        passed_s: float = self.clock.monotonic() - self._since_s
        return self._counted_s + passed_s / self._rate

    def left_s(self, until_s: float) -> float:
        """Return the seconds of this machine until a moment, at the rate of now.

        Args:
            until_s: The moment, in seconds since this was made; infinite: it never comes.
        """
        return until_s if math.isinf(until_s) else (until_s - self.now_s) * self._rate

    def take_steps(self) -> None:
        """Say that the trainers take steps from now on."""
        self._go_on(self._dilation)

    def take_none(self) -> None:
        """Say that they take none from now on."""
        self._go_on(1.0)

    def _go_on(self, rate: float) -> None:
        self._counted_s, self._since_s = self.now_s, self.clock.monotonic()
        self._rate = rate
