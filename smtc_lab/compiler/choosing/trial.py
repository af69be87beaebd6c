"""The trial behind ``auto``: what the trainers of a job measured, and what comes of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import distributed

from smtc_lab.compiler.choosing.step_times import not_tried

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.compiler.choosing.chooser import Chooser
    from smtc_lab.errors import CompilerError

_FAILED_S = math.inf
"""What a trainer says whose step failed."""


class Probing:
    """Tells a chooser how the steps of all trainers went, and people what comes of it.

    Whoever runs the steps switches to what the chooser has next, and tells how each step went.
    """

    def __init__(
        self, chooser: Chooser, *, not_tried: Mapping[str, str], say: Callable[[str, str], None]
    ) -> None:
        """Begin.

        Args:
            chooser: New; its first backend is eager.
            not_tried: Why other backends cannot be tried, by name.
            say: Tells people; called with a kind of event and a sentence.
        """
        self.chooser = chooser
        """Says which backend the next step runs under, until one of them stays."""

        self._not_tried = dict(not_tried)
        self._say = say
        self._problem: str | None = None
        self._probe_s = 0.0

    def failed(self, error: CompilerError) -> None:
        """Say that the backend cannot run the step; the step itself may go on eagerly."""
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
            self._say("warning", f"auto: {self.chooser.current} cannot run this job: {problem}")
            self.chooser.failed(problem, lost_s=seconds)
        else:
            self.chooser.ended(slowest)
        if self.chooser.is_done:
            self._probe_s = self.chooser.probe_s()
            self._say("compiler", f"auto: {self.chooser.because}")

    def facts(self) -> dict[str, Any]:
        """Return fields of a ``CompilerReport``: what was measured, and why it was chosen."""
        others = tuple(not_tried(name, why) for name, why in self._not_tried.items())
        return {
            "probes": self.chooser.probes() + others,
            "probe_steps": self.chooser.probe_steps(),
            "probe_s": self._probe_s,
            "chosen_because": self.chooser.because,
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
