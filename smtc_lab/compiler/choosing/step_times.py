"""What the steps of each backend took in a trial, and what is known of a steady one."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from smtc_lab.metrics.records.compiler_report import Probe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

UNSETTLED_STEPS = 2
"""Steps of each backend that are not steady: the first compiles, the second may compile again
(XLA, when the optimizer's state appeared) or fill caches."""

FEWEST_STEPS = 5
"""Steady steps of each backend before anything is concluded."""


class StepTimes:
    """Step times of each backend, in seconds, in the order in which they were taken."""

    def __init__(self, backends: Iterable[str]) -> None:
        self._times_s: dict[str, list[float]] = {name: [] for name in backends}
        self.problems: dict[str, str] = {}
        """Why a backend cannot be used, by name."""

    @property
    def backends(self) -> tuple[str, ...]:
        """The backends, in the order in which they are tried."""
        return tuple(self._times_s)

    def add(self, name: str, seconds: float) -> None:
        """Note what a step took."""
        self._times_s[name].append(seconds)

    def all_s(self, name: str) -> Sequence[float]:
        """Return what every step of a backend took."""
        return self._times_s[name]

    def steady_s(self, name: str) -> Sequence[float]:
        """Return what its steady steps took."""
        return self._times_s[name][UNSETTLED_STEPS:]

    def step_s(self, name: str) -> float | None:
        """Return what a steady step takes; None: nobody knows, or it cannot be used."""
        steady_s = self.steady_s(name)
        usable = name not in self.problems and len(steady_s) >= FEWEST_STEPS
        return median(steady_s) if usable else None

    def compile_s(self, name: str) -> float | None:
        """Return what the first steps took beyond steady ones; None: nobody knows."""
        step_s = self.step_s(name)
        if step_s is None:
            return None
        first_s = sum(self._times_s[name][:UNSETTLED_STEPS])
        return max(0.0, first_s - UNSETTLED_STEPS * step_s)

    def measured(self) -> list[str]:
        """Return the backends whose steady steps are known."""
        return [name for name in self._times_s if self.step_s(name) is not None]

    def ratio(self, name: str, other: str) -> tuple[float, float]:
        """Return a ratio of step times, and its doubt relative to it."""
        ratio = median(self.steady_s(name)) / median(self.steady_s(other))
        return ratio, math.hypot(self.doubt(name), self.doubt(other))

    def doubt(self, name: str) -> float:
        """Return the half-width of a 95 % interval of the median step, relative to it.

        Robust against a few slow steps: the standard error comes from the median absolute
        deviation. The factor allows for how little so few steps tell (close to Student's t).
        """
        times_s = self.steady_s(name)
        center = median(times_s)
        spread = 1.4826 * median(abs(time_s - center) for time_s in times_s)
        factor = 2 + 6 / len(times_s)
        return factor * 1.2533 * spread / math.sqrt(len(times_s)) / center

    def probes(self, num_steps: int | None) -> tuple[Probe, ...]:
        """Return what was measured, in the order in which it was tried.

        Args:
            num_steps: Steps of the job; None: not known.
        """
        return tuple(
            self._probe(name, num_steps)
            for name, times_s in self._times_s.items()
            if times_s or name in self.problems
        )

    def _probe(self, name: str, num_steps: int | None) -> Probe:
        step_s, compile_s = self.step_s(name), self.compile_s(name)
        predicted_s = None
        if step_s is not None and compile_s is not None and num_steps is not None:
            predicted_s = compile_s + num_steps * step_s
        return Probe(
            backend=name,
            compile_s=compile_s,
            step_time_s=step_s,
            steps=len(self.steady_s(name)),
            predicted_job_s=predicted_s,
            problem=self.problems.get(name),
        )


def not_tried(backend: str, why: str) -> Probe:
    """Return the probe of a backend that was not tried."""
    return Probe(
        backend=backend,
        compile_s=None,
        step_time_s=None,
        steps=0,
        predicted_job_s=None,
        problem=why,
    )
