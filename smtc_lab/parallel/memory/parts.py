"""What a step is made of: its batch, its loss, its bytes on one device and on each stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.errors import EntryPointError
from smtc_lab.metrics.memory.strategies import StageParts, StepParts
from smtc_lab.parallel.arguments import arguments_of
from smtc_lab.parallel.pipeline.cutting.partition import best_partition
from smtc_lab.parallel.pipeline.cutting.pieces import activation_bytes, host_bytes, parameters
from smtc_lab.parallel.pipeline.schedules import SCHEDULES
from smtc_lab.parallel.units import shard_units

if TYPE_CHECKING:
    from smtc_lab.parallel.memory.optimizer_bytes import OptimizerBytes
    from smtc_lab.parallel.memory.trace import StepTrace
    from smtc_lab.parallel.pipeline.cutting.pieces import Pieces


def inputs_and_targets(batch: Any, loss_fn: object) -> tuple[Any, Any]:  # noqa: ANN401  any batch
    """Return the two halves of a batch.

    Raises:
        EntryPointError: It is not two, and there is a loss function that needs both.
    """
    if isinstance(batch, Mapping) or loss_fn is None:
        return batch, None
    if isinstance(batch, tuple | list) and len(batch) == 2:
        return batch[0], batch[1]
    raise EntryPointError(
        f"The batch is a {type(batch).__name__}, but a loss function needs inputs and targets. "
        "Give both, as (inputs, targets)."
    )


def step_parts(
    model: torch.nn.Module,
    trace: StepTrace,
    taken: OptimizerBytes,
    *,
    returned_bytes: float = 0.0,
) -> StepParts:
    """Return a step on one device, in bytes.

    Args:
        model: The model.
        trace: Its step.
        taken: What its optimizer takes.
        returned_bytes: What comes back from host memory at once.
    """
    sizes = [
        float(one.numel() * one.element_size())
        for one in model.parameters()
        if one.requires_grad
    ]
    stepped_at_once = sum(sizes) if taken.steps_all_at_once else max(sizes, default=0.0)
    return StepParts(
        parameter_bytes=trace.parameter_bytes,
        buffer_bytes=trace.buffer_bytes,
        input_bytes=trace.input_bytes,
        gradient_bytes=trace.gradient_bytes,
        activation_bytes=trace.activation_bytes,
        host_bytes=trace.host_bytes,
        returned_bytes=returned_bytes,
        optimizer_bytes=taken.state * trace.gradient_bytes,
        working_bytes=taken.working * stepped_at_once,
        computed_bytes=trace.peak_bytes,
        layer_bytes=tuple(map(_own_bytes, shard_units(model))),
    )


def _own_bytes(module: torch.nn.Module) -> float:
    return float(sum(one.numel() * one.element_size() for one in module.parameters()))


def stage_parts(
    pieces: Pieces,
    parts: StepParts,
    count: int,
    microbatches: int,
    *,
    microbatch: float | None = None,
) -> list[StageParts] | None:
    """Return the stages of the cut that leaves the fullest device the least.

    Args:
        pieces: The model.
        parts: The step on one device.
        count: Stages.
        microbatches: Of a step.
        microbatch: A microbatch's share of the batch with which the model was recorded; None:
            that batch is the whole step's.

    Returns:
        None: it cannot be cut so often.
    """
    each = 1 / microbatches if microbatch is None else microbatch
    in_flight = SCHEDULES["1f1b"].in_flight(count, microbatches)
    kept = (parts.gradient_bytes + parts.optimizer_bytes) / (parts.parameter_bytes or 1.0)
    costs = [
        replace(
            one,
            activation_bytes=one.activation_bytes * each,
            working_bytes=one.working_bytes * each,
            received_bytes=one.received_bytes * each,
        )
        for one in pieces.costs(state_factor=1 + kept)
    ]
    try:
        partition = best_partition(
            costs,
            count,
            microbatches=microbatches,
            in_flight=in_flight,
            memory_weight=1.0,
        )
    except EntryPointError:
        return None
    found = []
    for stage, (first, end) in enumerate(partition.bounds):
        calls = pieces.sequence[first:end]
        numbers = set[int]().union(*(parameters(call) for call in calls))
        found.append(
            StageParts(
                parameter_bytes=pieces.parameter_bytes(numbers),
                activation_bytes=sum(map(activation_bytes, calls)) * each
                + costs[first].received_bytes,
                host_bytes=sum(map(host_bytes, calls)) * each,
                returned_bytes=max(one.working_bytes for one in costs[first:end]),
                in_flight=in_flight[stage],
                pieces=(first, end),
            )
        )
    return found


def samples_of(inputs: Any) -> int | None:  # noqa: ANN401  any batch
    """Return the samples of a batch; None: it has no tensor that could tell."""
    args, kwargs = arguments_of(inputs)
    sizes = [
        one.shape[0]
        for one in (*args, *kwargs.values())
        if isinstance(one, torch.Tensor) and one.ndim
    ]
    return sizes[0] if sizes else None
