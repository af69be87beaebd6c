"""Chooses a backend by what its steps took: the reckoning behind ``auto``, without a clock.

Whoever runs the steps asks ``current`` for the backend of the next one, and says how long it
took. Steps in this process are real ones, so no progress is lost, and a probe costs only what
it takes beyond the same steps under the backend that is kept. Steps in another process cost all
that they take, and compiling again what is kept.
"""

from __future__ import annotations

import math
from itertools import chain
from statistics import median
from types import MappingProxyType
from typing import TYPE_CHECKING

from smtc_lab.compiler.choosing.step_times import FEWEST_STEPS, UNSETTLED_STEPS, StepTimes

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from smtc_lab.metrics.records.compiler_report import Probe

_SHORTEST_S = 0.25
"""How long the steady steps of a backend take at least before anything is concluded: what
disturbs the machine, such as a compiler that is just ending, lasts tenths of a second."""

_BUDGET_S = 10.0
_BUDGET_FRACTION = 0.05
"""A backend is measured for at most 10 s of steady steps, and 5 % of the time of all steps."""

_BUDGET_UNKNOWN_S = 3.0
"""The same where nobody knows how many steps there are: the job may end any time."""

_GAIN_HOPED = 0.25
"""Share of the time of all steps that a compiler may save at best, before anything is known of
it. Where even that does not pay for the least compile time, it is not tried."""

_LEAST_COMPILE_S = {"inductor": 4.0, "xla": 2.0}
"""What compiling takes at least, in seconds: seen with networks of a few layers on one core."""

_CLOSE = 0.02
"""Ratio of step times beyond which a difference counts although noise could explain it."""


class Chooser:
    """Tries each backend in turn until its ratio to eager is known, and keeps the best.

    Backends that can take turns from step to step do: what slows the machine down then slows
    both of them down.
    """

    def __init__(
        self,
        backends: Sequence[str],
        *,
        num_steps: Callable[[], int | None],
        apart: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        """Begin with the first backend.

        Args:
            backends: What may be chosen; the first one is what nothing needs to be paid for.
            num_steps: Returns the steps of the job; None: not known, taken for many.
            apart: Backends whose steps are taken in another process; and the share of its
                compile time that each takes again where it is kept.
        """
        self._num_steps_of_job = num_steps
        self._apart = apart
        self._turns = {"inductor", *apart}  # can take turns with the first one at no cost
        self._first = backends[0]
        self._times = StepTimes(backends)
        self._next_look = dict.fromkeys(backends, 0)
        self._lost_s = 0.0
        self._plan = self._probe_all()
        self.current = next(self._plan)
        """Backend of the next step."""

        self.is_done = False
        """Whether ``current`` stays."""

        self._because: str | None = None

    @property
    def because(self) -> str:
        """What was chosen and why; before that, how far the choice came. One sentence."""
        return self._because or (
            f"no choice was made: the job ended after {self.probe_steps()} steps, while "
            f"{self.current} was measured"
        )

    @property
    def _num_steps(self) -> int | None:
        return self._num_steps_of_job()

    def ended(self, seconds: float) -> None:
        """Say what the step under ``current`` took."""
        self._times.add(self.current, seconds)
        self._go_on(None)

    def failed(self, problem: str, *, lost_s: float) -> None:
        """Say that ``current`` could not run its step, and what the attempt took."""
        self._lost_s += lost_s
        self._times.problems[self.current] = problem
        self._go_on(problem)

    def compile_limit_s(self) -> float | None:
        """Return how long ``current`` may compile at most to pay back; None: nobody knows."""
        left_s = self._left_s()
        if left_s is None:
            return None
        times = 1 + self._apart.get(self.current, 0.0)
        return max(left_s / 2 / times, _LEAST_COMPILE_S["inductor"])

    def probes(self) -> tuple[Probe, ...]:
        """Return what was measured, in the order in which it was tried."""
        return self._times.probes(self._num_steps)

    def probe_steps(self) -> int:
        """Return the steps of the job that were taken so far."""
        return len(self._steps_of_job())

    def probe_s(self) -> float:
        """Return the seconds that all took beyond the job's steps under ``current``."""
        step_s = self._times.step_s(self.current)
        if step_s is None:
            return 0.0
        of_job = self._steps_of_job()
        apart_s = sum(sum(self._times.all_s(name)) for name in self._apart)
        return max(0.0, sum(of_job) - step_s * len(of_job)) + apart_s + self._lost_s

    def _steps_of_job(self) -> list[float]:
        here = (name for name in self._times.backends if name not in self._apart)
        return list(chain.from_iterable(map(self._times.all_s, here)))

    def _go_on(self, problem: str | None) -> None:
        try:
            self.current = self._plan.send(problem)
        except StopIteration:
            self.is_done = True

    def _probe_all(self) -> Generator[str, str | None, None]:
        """Yield the backend of each step; is sent what went wrong in it, None if nothing."""
        for _ in range(UNSETTLED_STEPS + FEWEST_STEPS):
            yield self._first
        for name in self._times.backends[1:]:
            if (problem := self._cannot_pay(name)) is not None:
                self._times.problems[name] = problem
            else:
                yield from self._probe(name)
        self.current = self._best()
        self._because = self._reason()

    def _probe(self, name: str) -> Generator[str, str | None, None]:
        others_turn = False
        # What cannot take turns is compared with what was measured before.
        while name not in self._turns and not (
            self._is_due(self._first) and self._is_known(self._first)
        ):
            yield self._first
        while not (self._is_due(name) and self._is_clear(name)):
            is_steady = len(self._times.steady_s(name)) > 0
            others_turn = is_steady and name in self._turns and not others_turn
            problem = yield self._first if others_turn else name
            if problem is not None:
                return

    def _cannot_pay(self, name: str) -> str | None:
        """Return why compiling is not even tried; None: it may pay."""
        left_s = self._left_s()
        least_s = min(_LEAST_COMPILE_S.values()) * (1 + self._apart.get(name, 0.0))
        if left_s is None or left_s * _GAIN_HOPED > least_s:
            return None
        return (
            f"not tried: the steps left take {left_s:.3g} s under {self._first}, and "
            "compiling would take longer than it can save of them"
        )

    def _is_due(self, name: str) -> bool:
        """Return whether a backend took enough steps since this was last true to look again.

        Looking sorts all step times: after each of thousands of steps, that would take longer
        than short steps themselves.
        """
        taken = len(self._times.all_s(name))
        if taken < self._next_look[name]:
            return False
        self._next_look[name] = taken + 1 + taken // 10
        return True

    def _is_clear(self, name: str) -> bool:
        """Return whether more steps of a backend would tell nothing new, or cost too much."""
        steady_s = self._times.steady_s(name)
        shortest_s = min(_SHORTEST_S, self._budget_s())
        if len(steady_s) < FEWEST_STEPS or sum(steady_s) < shortest_s:
            return False
        ratio, doubt = self._times.ratio(name, self._rival(name))
        is_told_apart = not ratio * (1 - doubt) <= 1 <= ratio * (1 + doubt)
        return is_told_apart or doubt < _CLOSE / 2 or self._is_known(name)

    def _is_known(self, name: str) -> bool:
        """Return whether a step time is known well enough, or must be taken as it is."""
        spent_s = sum(self._times.steady_s(name))
        return self._times.doubt(name) < _CLOSE / 2 or spent_s >= self._budget_s()

    def _budget_s(self) -> float:
        """Return how long a backend is measured at most."""
        left_s = self._left_s()
        if left_s is None:
            return _BUDGET_UNKNOWN_S
        return min(_BUDGET_S, _BUDGET_FRACTION * left_s)

    def _rival(self, name: str) -> str:
        """Return the fastest of the backends that were measured before this one."""
        return min(
            (it for it in self._times.measured() if it != name),
            key=lambda it: median(self._times.steady_s(it)),
        )

    def _best(self) -> str:
        """Return the fastest backend; the earlier one where they cannot be told apart."""
        best = self._first
        for name in self._times.measured():
            if name == best:
                continue
            ratio, doubt = self._times.ratio(name, best)
            is_faster = ratio < 1 - _CLOSE or ratio * (1 + doubt) < 1
            if is_faster and self._to_go_s(name) < self._to_go_s(best):
                best = name
        return best

    def _to_go_s(self, name: str) -> float:
        """Return what a backend would take from here on: all steps left, compile time in."""
        step_s = self._times.step_s(name) or math.inf
        if self._num_steps is None:
            return step_s
        left = max(0, self._num_steps - self.probe_steps())
        return left * step_s + self._again_s(name)

    def _again_s(self, name: str) -> float:
        """Return what compiling again takes where a backend is kept."""
        return self._apart.get(name, 0.0) * (self._times.compile_s(name) or 0.0)

    def _left_s(self) -> float | None:
        """Return the time of the steps left under the first backend; None: not known."""
        step_s = self._times.step_s(self._first)
        if self._num_steps is None or step_s is None:
            return None
        return max(0, self._num_steps - self.probe_steps()) * step_s

    def _reason(self) -> str:
        seen = ", ".join(
            f"{name} {1000 * step_s:.4g} ms"
            for name in self._times.backends
            if (step_s := self._times.step_s(name)) is not None
        )
        left = (
            "a number of steps that is not known, taken for many"
            if self._num_steps is None
            else f"{self._num_steps} steps"
        )
        problems = "".join(f"; {name} {why}" for name, why in self._times.problems.items())
        again = "".join(map(self._too_late, self._apart))
        return f"{self.current} is kept for {left}: a steady step takes {seen}{again}{problems}"

    def _too_late(self, name: str) -> str:
        """Return what is to be said of a faster backend that is not kept; empty: nothing."""
        kept_s, step_s = map(self._times.step_s, (self.current, name))
        if kept_s is None or step_s is None or step_s >= (1 - _CLOSE) * kept_s:
            return ""
        return (
            f"; {name} would compile again for about {self._again_s(name):.3g} s, more than it "
            "would save"
        )
