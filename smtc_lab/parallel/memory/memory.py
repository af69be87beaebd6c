"""``smtc_lab.memory``: what a step holds on each device, before anything is launched."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal

import torch

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.instance_types import usable_device_bytes
from smtc_lab.errors import EntryPointError
from smtc_lab.metrics.memory.fits import advice, fitting_types
from smtc_lab.metrics.memory.needs import MemoryNeeds
from smtc_lab.metrics.memory.strategies import (
    in_replicas,
    in_shards,
    in_stages,
    in_tensor_parts,
    on_one_device,
)
from smtc_lab.parallel.arguments import arguments_of, loss_of_output
from smtc_lab.parallel.memory.optimizer_bytes import optimizer_bytes
from smtc_lab.parallel.memory.parts import (
    inputs_and_targets,
    samples_of,
    stage_parts,
    step_parts,
)
from smtc_lab.parallel.memory.trace import trace_step
from smtc_lab.parallel.pipeline.cutting.pieces import Pieces
from smtc_lab.parallel.pipeline.cutting.recording import record
from smtc_lab.parallel.pipeline.cutting.stand_ins import with_values
from smtc_lab.parallel.tensor.preview import kept_share
from smtc_lab.parallel.units import shard_units
from smtc_lab.spec.distribution import MICROBATCHES_EACH

SEES_MOVES = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 15)
"""Whether an imagined step shows what moving activations leaves: with torch 2.9 what was moved
stays in its peak. Where it does not, nothing is told of it."""

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.metrics.memory.needs import StrategyMemory
    from smtc_lab.metrics.memory.strategies import StepParts

_DEVICES = (1, 2, 4, 8, 16)


def memory(  # noqa: PLR0913  options by name
    model: torch.nn.Module,
    batch: Any,  # noqa: ANN401  any batch
    loss_fn: Callable[[Any, Any], torch.Tensor] | None = None,
    *,
    optimizer: torch.optim.Optimizer | None = None,
    devices: Sequence[int] = _DEVICES,
    instance_type: str | None = None,
    device: Literal["accelerator", "cpu"] = "accelerator",
) -> MemoryNeeds:
    """Return what a training step of a model needs on each device, and which devices have it.

    Nothing is trained and nothing is launched: one step is imagined, without its memory. The
    output is held until the backward pass has ended, as by a script that has a name for it.
    What kernels and libraries need for themselves is not seen.

    Args:
        model: Any model, on any device; also on ``meta``.
        batch: Inputs and targets, as for ``Session.step``; or keyword arguments by name, where
            the model returns its loss itself. It is the batch of each device.
        loss_fn: Called with output and targets; None: the output's own ``loss``.
        optimizer: Its optimizer, which is left as it is; None: AdamW.
        devices: Numbers of devices that are looked at, beside one.
        instance_type: Whose devices the advice is for; None: the cheapest that fit.
        device: Whether optimizers step as on an accelerator, all parameters at once.

    Raises:
        EntryPointError: The batch or the loss is none that the model can be trained with, or
            the instance type has no accelerator.
        CatalogError: There is no such instance type.
    """
    inputs, targets = inputs_and_targets(batch, loss_fn)
    loss_of = loss_of_output if loss_fn is None else loss_fn
    catalog = Catalog.load()
    usable = None if instance_type is None else _usable(catalog, instance_type)
    trace = trace_step(model, inputs, targets, loss_of)
    taken = optimizer_bytes(optimizer, on_accelerator=device == "accelerator")
    parts = step_parts(model, trace, taken)
    recording = record(
        model,
        arguments_of(inputs),
        lambda output: loss_of(output, with_values(targets)),
        torch.device("cpu"),
    )
    pieces, counts = Pieces(recording), sorted({*devices} - {1})
    kept = cache(partial(kept_share, model, optimizer=optimizer))
    strategies = _strategies(pieces, parts, counts, kept)
    units = shard_units(model) if SEES_MOVES else ()
    moved = trace_step(model, inputs, targets, loss_of, offloaded=units)
    if moved.host_bytes:
        pieces.offload(units)
        returned = max(one.working_bytes for one in pieces.costs())
        parts_moved = step_parts(model, moved, taken, returned_bytes=returned)
        of_moved = _strategies(pieces, parts_moved, counts, kept)
        strategies = tuple(
            one.model_copy(update={"offloaded": other.offloaded})
            for one, other in zip(strategies, of_moved, strict=True)
        )
    fits = fitting_types(strategies, catalog.instance_types.values())
    batch_size = samples_of(inputs)
    return MemoryNeeds(
        batch_size=batch_size,
        optimizer="AdamW" if optimizer is None else type(optimizer).__name__,
        strategies=strategies,
        fits=fits,
        advice=advice(parts, strategies, fits, device_bytes=usable, batch_size=batch_size),
    )


def _usable(catalog: Catalog, instance_type: str) -> float:
    usable = usable_device_bytes(catalog.get(instance_type))
    if usable is None:
        raise EntryPointError(
            f"{instance_type} has no accelerator whose memory is known. Name another type, or "
            "leave instance_type out."
        )
    return usable


def _strategies(
    pieces: Pieces,
    parts: StepParts,
    devices: Sequence[int],
    kept: Callable[[int], float | None],
) -> tuple[StrategyMemory, ...]:
    rows = [on_one_device(parts)]
    rows += [in_replicas(parts, count) for count in devices]
    rows += [in_shards(parts, count) for count in devices]
    for count in devices:
        microbatches = MICROBATCHES_EACH * count
        stages = stage_parts(pieces, parts, count, microbatches)
        if stages is not None:
            rows.append(in_stages(parts, stages, microbatches))
    for count in devices:
        if (share := kept(count)) is not None:
            rows.append(in_tensor_parts(parts, count, share=share))
    return tuple(rows)
