"""A step in bytes for any number of samples, from two that were followed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.parallel.memory.parts import step_parts
from smtc_lab.parallel.memory.trace import StepTrace, trace_step
from smtc_lab.parallel.torch_names import needed

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.metrics.memory.strategies import StepParts
    from smtc_lab.parallel.memory.optimizer_bytes import OptimizerBytes

tree_map_only = needed("torch.utils._pytree:tree_map_only")


class StepSizes:
    """Steps of one model with batches of any size.

    What is there at one moment grows in proportion to the samples, from a constant; so two
    passes tell all. Where they do not go through the same moments, each size has its own pass.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        batch: tuple[Any, Any],
        loss_of: Callable[[Any, Any], torch.Tensor],
        *,
        samples: int,
        taken: OptimizerBytes,
    ) -> None:
        """Follow a step of the batch, and one of twice as many samples.

        Args:
            model: Any model.
            batch: Inputs and targets.
            loss_of: Returns the loss of an output and its targets.
            samples: Samples of the batch.
            taken: What the optimizer takes.
        """
        self._model, self._batch, self._loss_of = model, batch, loss_of
        self._samples, self._taken = samples, taken
        self._one, self._two = self._followed(samples), self._followed(2 * samples)
        self._known: dict[int, StepParts] = {}

    def at(self, samples: int) -> StepParts:
        """Return the parts of a step of so many samples on one device."""
        if samples not in self._known:
            self._known[samples] = step_parts(self._model, self._trace(samples), self._taken)
        return self._known[samples]

    def _trace(self, samples: int) -> StepTrace:
        one, two = self._one, self._two
        if one.others.shape != two.others.shape:
            return self._followed(samples)
        more = samples / self._samples - 1

        def at(first: Any, second: Any) -> Any:  # noqa: ANN401  numbers or arrays of them
            return first + more * (second - first)

        return replace(
            one,
            input_bytes=max(0, round(at(one.input_bytes, two.input_bytes))),
            activation_bytes=max(0, round(at(one.activation_bytes, two.activation_bytes))),
            gradients=at(one.gradients, two.gradients),
            others=at(one.others, two.others).clip(min=0.0),
        )

    def _followed(self, samples: int) -> StepTrace:
        inputs, targets = tree_map_only(
            torch.Tensor, lambda one: self._resized(one, samples), self._batch
        )
        return trace_step(self._model, inputs, targets, self._loss_of)

    def _resized(self, value: torch.Tensor, samples: int) -> torch.Tensor:
        if not value.ndim or value.shape[0] != self._samples:
            return value
        if samples <= self._samples:
            return value[:samples]
        return value[:1].expand(samples, *value.shape[1:])
