"""After how many steps the next checkpoint is due."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Literal, Self

from smtc_lab.errors import EntryPointError
from smtc_lab.instance.variables import DILATION_VARIABLE, MEAN_TIME_BETWEEN_VARIABLE

LARGEST_SHARE = 0.035
"""Most of the time of training that saves may take, as CheckFreq (FAST'21) has it."""

DEFAULT_TIME_BETWEEN_S = 3600.0
"""Time between two interruptions on average where a job has no market, in seconds."""

_FIRST_STEPS = 10
_LEAST_WRITES = 2.0  # a save waits for the one before, so they need room


@dataclass(frozen=True, kw_only=True)
class SaveInterval:
    """How often a training is saved: by steps, by minutes, or as it pays."""

    steps: int | None = None
    """After so many steps."""

    minutes: float | None = None
    """After so many minutes, rounded to steps."""

    mean_time_between_s: float = DEFAULT_TIME_BETWEEN_S
    """Time between two interruptions on average, in seconds, where neither is given."""

    dilation: float = 1.0
    """Seconds of this machine that one second of an emulated cluster's steps takes; minutes and
    the time between interruptions are the cluster's, what a save takes is this machine's."""

    @classmethod
    def checked(
        cls, *, steps: int | Literal["auto"] | None, minutes: float | None, keep: int
    ) -> Self:
        """Return what a script asks for, with the mean time between interruptions of its job.

        Raises:
            EntryPointError: It cannot be; ``keep`` is how many checkpoints are kept.
        """
        if steps is not None and minutes is not None:
            raise EntryPointError(
                f"session.checkpoint() was given every_steps={steps} and "
                f"every_minutes={minutes:g}. Give one of them, or none."
            )
        steps = None if steps == "auto" else steps
        for name, value in (("every_steps", steps), ("keep_last", keep)):
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            if value is not None and not (is_whole and value >= 1):
                raise EntryPointError(
                    f"session.checkpoint({name}={value!r}) cannot be. Give a whole number of "
                    f"at least 1{', or auto' if name == 'every_steps' else ''}."
                )
        if minutes is not None and not 0 < minutes < math.inf:
            raise EntryPointError(
                f"session.checkpoint(every_minutes={minutes!r}) cannot be. Give a time above 0."
            )
        return cls(
            steps=steps,
            minutes=minutes,
            mean_time_between_s=float(
                os.environ.get(MEAN_TIME_BETWEEN_VARIABLE) or DEFAULT_TIME_BETWEEN_S
            ),
            dilation=float(os.environ.get(DILATION_VARIABLE) or 1.0),
        )

    def next_steps(
        self, *, step_s: float | None, stall_s: float | None, written_s: float | None
    ) -> int:
        """Return after how many steps the next checkpoint is due, at least 1.

        Without steps or minutes it is Young's interval, ``sqrt(2 * stall * time between
        interruptions)``, but no shorter than lets saves take 3.5 % of the time.

        Args:
            step_s: Time from step to step, in seconds; None: not known yet.
            stall_s: For how long a save holds the training up, in seconds; None: as above.
            written_s: How long one takes to be written, in seconds; None: as above.
        """
        if self.steps is not None:
            return self.steps
        if step_s is None or step_s <= 0:
            return _FIRST_STEPS
        step_s /= self.dilation
        if self.minutes is not None:
            return max(1, round(60 * self.minutes / step_s))
        if stall_s is None or written_s is None:
            return _FIRST_STEPS
        young_s = math.sqrt(2 * stall_s * self.mean_time_between_s)
        interval_s = max(
            young_s, stall_s / LARGEST_SHARE, _LEAST_WRITES * written_s / self.dilation
        )
        return max(1, round(interval_s / step_s))
