"""Ends the steps of a script that steps no optimizer of torch's, by its backward passes."""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.metrics.records.records import STEP_BOUNDARY

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.runtime.instance_runtime import InstanceRuntime

_TRIALS = 2
"""Backward passes that may be a trial before the script makes its optimizer."""

_SEEN_WEIGHTS = 1024
"""Of a parameter, that tell whether an optimizer has stepped."""

_NO_OPTIMIZER = "the script steps no optimizer of torch's, so a step is timed from "
_FROM_BATCH = f"{_NO_OPTIMIZER}asking for a batch to asking for the next one."
_FROM_BATCH_COMPILED = (
    "the script's optimizer steps where no hook hears it, as one does that is compiled as one "
    "graph (fullgraph=True), so a step is timed from asking for a batch to asking for the next "
    "one."
)
_FROM_BACKWARD = f"{_NO_OPTIMIZER}the end of one backward() to the end of the next."


def after_backward(callback: Callable[[], None]) -> None:
    """Call a function after each ``backward()`` of this process, but for those within one."""
    plain = torch.autograd.backward
    depth = 0

    @functools.wraps(plain)
    def backward(*args: Any, **kwargs: Any) -> None:  # noqa: ANN401  torch's own arguments
        nonlocal depth
        depth += 1
        try:
            plain(*args, **kwargs)
        finally:
            depth -= 1
        if not depth:
            callback()

    torch.autograd.backward = backward


class BackwardSteps:
    """Ends steps where a script computes gradients, and applies them itself.

    With a dataloader a step ends when the next batch is asked for, so that what the script
    does with its gradients counts; without one, with ``backward()``. Nothing, once there is an
    optimizer: then its steps count.
    """

    def __init__(self, runtime: InstanceRuntime, end_step: Callable[[], None]) -> None:
        """Begin to listen.

        Args:
            runtime: Of this process.
            end_step: Ends the step that is open.
        """
        self._runtime = runtime
        self._end_step = end_step
        self._is_due = False
        self._num_steps = 0
        self._how = ""
        self._has_told = False
        self._has_optimizer = False
        self._unheard: Callable[[], torch.optim.Optimizer | None] = lambda: None
        """The first optimizer, until a step of any is heard."""
        self._weights: tuple[torch.Tensor, torch.Tensor] | None = None
        """Some weights of its, and what they were after the last backward pass."""
        after_backward(self._went_backward)
        self._watch_optimizers()

    def will_ask(self) -> None:
        """Say that the script asks for a batch: what was trained on before is a step."""
        if self._weights is not None:
            now, before = self._weights
            self._weights = None
            if not torch.equal(now, before):
                self.lost_optimizer()
        if self._is_due:
            self._is_due = False
            if not self._has_optimizer:
                self._end(_FROM_BATCH)

    def _went_backward(self) -> None:
        runtime = self._runtime
        if runtime.is_restoring:  # what it changes is set back, by nobody's step
            return
        runtime.timer.went_backward()
        if runtime.is_timed_by_session:
            return
        if self._has_optimizer:
            self._weights = _some_weights(self._unheard())
            return
        if runtime.timer.has_batch:
            self._is_due = True
        else:
            self._end(_FROM_BACKWARD)

    def _end(self, how: str) -> None:
        timer = self._runtime.timer
        self._num_steps += 1
        if self._num_steps == 1:
            timer.hold()
        self._how = how
        if self._num_steps == _TRIALS + 1:
            self.release()
        self._end_step()

    def release(self) -> None:
        """Say what ends steps, and record those that were kept back."""
        how, self._how = self._how, ""
        if how and not self._has_told and not self._has_optimizer:
            self._has_told = True
            self._runtime.event(STEP_BOUNDARY, how)
            self._runtime.timer.release()

    def heard_optimizer(self) -> None:
        """Say that an optimizer of torch's has stepped."""
        self._unheard, self._weights = lambda: None, None
        self.found_optimizer()

    def found_optimizer(self) -> None:
        """Say that the script has an optimizer of torch's: what was no step of it was none."""
        if not self._has_optimizer:
            self._has_optimizer = True
            self._runtime.timer.forget()

    def lost_optimizer(self) -> None:
        """Say that the script's optimizer steps unheard: backward passes end its steps too."""
        if not self._has_optimizer:
            return
        self._has_optimizer = False
        self._unheard, self._weights = lambda: None, None
        self._num_steps = _TRIALS + 1  # no trial: it trains
        if not self._has_told:
            self._has_told = True
            self._runtime.event(STEP_BOUNDARY, _FROM_BATCH_COMPILED)
        self._is_due = self._runtime.timer.has_batch

    def _watch_optimizers(self) -> None:
        plain = torch.optim.Optimizer.__init__
        watched: Any = torch.optim.Optimizer

        def __init__(optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401, N807  stands in for torch's own
            self.found_optimizer()
            self._unheard = weakref.ref(optimizer)
            if watched.__init__ is __init__:  # else someone watches through it
                watched.__init__ = plain
            plain(optimizer, *args, **kwargs)

        watched.__init__ = __init__


def _some_weights(
    optimizer: torch.optim.Optimizer | None,
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Return some weights that an optimizer's next step changes, and a copy of them."""
    if optimizer is None:
        return None
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            whole = parameter.detach()
            is_plain = type(whole) is torch.Tensor and whole.device.type in {"cpu", "cuda"}
            if is_plain and parameter.grad is not None and whole.numel():
                some = whole.reshape(-1)[:_SEEN_WEIGHTS] if whole.is_contiguous() else whole
                return some, some.clone()
    return None
