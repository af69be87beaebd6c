"""The trial behind ``auto``: what the trainers of a job measured, and what comes of it."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import torch
from torch import distributed

from smtc_lab.compiler.chooser import Chooser
from smtc_lab.compiler.step_times import not_tried

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from smtc_lab.errors import CompilerError

_FAILED_S = math.inf
"""What a trainer says whose step failed."""


class Probing:
    """Says which backend the next step runs under, until one of them stays.

    Whoever runs the steps switches to ``current``, and tells how each step went.
    """

    def __init__(  # noqa: PLR0913  what is known, by name
        self,
        backends: Sequence[str],
        *,
        num_steps: Callable[[], int | None],
        apart: Mapping[str, float] = MappingProxyType({}),
        anew: Mapping[str, float] = MappingProxyType({}),
        not_tried: Mapping[str, str],
        say: Callable[[str, str], None],
    ) -> None:
        """Begin eagerly.

        Args:
            backends: What to try after eager, in this order.
            num_steps: Returns the steps of the job; None: not known.
            apart: Backends whose steps are taken in another process; and the share of its
                compile time that each takes again where it is kept.
            anew: Those for which the script starts anew where they are kept; and the seconds
                from its start to its first step, as far as they can be foreseen.
            not_tried: Why other backends cannot be tried, by name.
            say: Tells people; called with a kind of event and a sentence.
        """
        self._chooser = Chooser(
            ["eager", *backends], num_steps=num_steps, apart=apart, anew=anew
        )
        self.apart = tuple(apart)
        """Backends whose steps are taken in another process."""

        self._not_tried = dict(not_tried)
        self._say = say
        self._problem: str | None = None
        self._probe_s = 0.0

    @property
    def current(self) -> str:
        """Backend of the next step."""
        return self._chooser.current

    @property
    def is_over(self) -> bool:
        """Whether ``current`` stays."""
        return self._chooser.is_done

    def compile_limit_s(self) -> float | None:
        """Return how long ``current`` may compile at most to pay back; None: nobody knows."""
        return self._chooser.compile_limit_s()

    def started(self, seconds: float, place: str) -> None:
        """Say how long the script took to start for ``current``, and where it did."""
        self._chooser.started(seconds, place)

    def failed(self, error: CompilerError) -> None:
        """Say that ``current`` cannot run the step; the step itself may go on eagerly."""
        self._problem = str(error)

    def ended(self, seconds: float, device: torch.device) -> None:
        """Say what the step took, after which the trial may be over.

        Args:
            seconds: What it took on this trainer; after ``failed``, what was lost by it.
            device: Where the trainers exchange tensors: the device of the model.
        """
        problem, self._problem = self._problem, None
        slowest = _slowest_s(_FAILED_S if problem else seconds, device)
        if slowest == _FAILED_S:
            problem = problem or "another trainer could not run it"
            self._say("warning", f"auto: {self.current} cannot run this job: {problem}")
            self._chooser.failed(problem, lost_s=seconds)
        else:
            self._chooser.ended(slowest)
        if self.is_over:
            self._probe_s = self._chooser.probe_s()
            self._say("compiler", f"auto: {self._chooser.because}")

    def facts(self) -> dict[str, Any]:
        """Return fields of a ``CompilerReport``: what was measured, and why it was chosen."""
        others = tuple(not_tried(name, why) for name, why in self._not_tried.items())
        return {
            "probes": self._chooser.probes() + others,
            "probe_steps": self._chooser.probe_steps(),
            "probe_s": self._probe_s,
            "chosen_because": self._chooser.because,
        }


def _slowest_s(seconds: float, device: torch.device) -> float:
    """Return the longest of what the trainers measured; alone: what this one did.

    Every trainer must call it after the same step.
    """
    if not (distributed.is_available() and distributed.is_initialized()):
        return seconds
    if distributed.get_world_size() == 1:
        return seconds
    value = torch.tensor([seconds], dtype=torch.float64, device=device)
    distributed.all_reduce(value, op=distributed.ReduceOp.MAX)
    return float(value)
