"""``smtc_lab.cheapest_cluster``: where a model fits, how fast a step would be, for how much."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.catalog.accelerators import (
    PRECISIONS,
    Precision,
    accelerator_speeds,
    published_utilization,
)
from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.instance_types import usable_device_bytes
from smtc_lab.errors import EntryPointError
from smtc_lab.metrics.memory.cluster_offer import ClusterOffer, by_cost
from smtc_lab.metrics.memory.offer_words import advice_on
from smtc_lab.metrics.memory.offers import ClusterOffers
from smtc_lab.metrics.memory.step_time import wires_of
from smtc_lab.metrics.memory.strategies import on_one_device
from smtc_lab.metrics.result import Interval
from smtc_lab.parallel.arguments import arguments_of, loss_of_output
from smtc_lab.parallel.memory.estimate import StepEstimate, workload_of
from smtc_lab.parallel.memory.optimizer_bytes import optimizer_bytes
from smtc_lab.parallel.memory.parts import inputs_and_targets, samples_of
from smtc_lab.parallel.memory.sizes import StepSizes
from smtc_lab.parallel.memory.spreads import Spreads
from smtc_lab.parallel.pipeline.cutting.pieces import Pieces
from smtc_lab.parallel.pipeline.cutting.recording import record
from smtc_lab.parallel.pipeline.cutting.stand_ins import with_values
from smtc_lab.parallel.tensor.preview import kept_share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from smtc_lab.catalog.instance_types import InstanceType
    from smtc_lab.parallel.memory.spreads import Spread

_MOST_INSTANCES = 64
_OF_DTYPE: dict[torch.dtype, Precision] = {torch.float16: "fp16", torch.bfloat16: "bf16"}
_MAKER = "NVIDIA"
"""Whose accelerators are looked at: what a core of others holds of a step is not known."""


def cheapest_cluster(  # noqa: PLR0913  options by name
    model: torch.nn.Module,
    batch: Any,  # noqa: ANN401  any batch
    loss_fn: Callable[[Any, Any], torch.Tensor] | None = None,
    *,
    optimizer: torch.optim.Optimizer | None = None,
    global_batch_size: int | None = None,
    precision: Precision | None = None,
    utilization: float | None = None,
    instance_types: Sequence[str] | None = None,
    max_instances: int = 4,
    catalog: Catalog | None = None,
) -> ClusterOffers:
    """Return which clusters and strategies fit a model, with time and price, cheapest first.

    Nothing is trained and nothing is launched; what is held is predicted as ``memory`` does,
    with batches as large as fit. Times are estimates: operations over the devices' peak and the
    share of it that published trainings reached, and bytes over the rated network.

    Args:
        model: Any model, on any device; also on ``meta``.
        batch: As for ``memory``; of any size.
        loss_fn: As for ``memory``.
        optimizer: Its optimizer, which is left as it is; None: AdamW.
        global_batch_size: Samples of a step on all devices together; None: those of ``batch``.
        precision: In what matrices are multiplied, where autocast changes that: ``fp32``,
            ``tf32``, ``fp16`` or ``bf16``; None: as the parameters are.
        utilization: Share of the peak that your training reaches, above 0 to 1; None: what
            published ones did.
        instance_types: Types that are looked at; None: all with NVIDIA's GPUs.
        max_instances: Instances of a cluster, 1 to 64: 1, 2, 4 and so on are looked at.
        catalog: Types and prices; None: those that came with the package or were refreshed.

    Raises:
        EntryPointError: The batch or the loss is none that the model can be trained with, a
            number is outside its range, or a type has no GPU whose memory is known.
        CatalogError: There is no such instance type.
    """
    types = _types(catalog or Catalog.load(), instance_types)
    inputs, targets = inputs_and_targets(batch, loss_fn)
    samples = samples_of(inputs)
    wanted = _checked(samples, global_batch_size, precision, utilization, max_instances)
    loss_of = loss_of_output if loss_fn is None else loss_fn
    sizes = StepSizes(
        model,
        (inputs, targets),
        loss_of,
        samples=samples or 1,
        taken=optimizer_bytes(optimizer, on_accelerator=True),
    )
    pieces = _pieces(model, inputs, targets, loss_of)
    used = precision or _precision_of(model)
    reached, source = _utilization(used, pieces, utilization)
    alone = sizes.at(1)
    estimate = StepEstimate(
        pieces=pieces,
        recorded=samples or 1,
        global_batch_size=wanted,
        parameter_bytes=alone.parameter_bytes,
        gradient_bytes=alone.gradient_bytes,
        utilization=reached,
    )
    spreads = Spreads(
        sizes,
        pieces,
        recorded=samples or 1,
        global_batch_size=wanted,
        kept_share=partial(kept_share, model, optimizer=optimizer),
    )
    offers = by_cost(
        offer
        for each in types
        for offer in _offers(each, spreads, estimate, used, max_instances)
    )
    return ClusterOffers(
        global_batch_size=wanted,
        optimizer="AdamW" if optimizer is None else type(optimizer).__name__,
        precision=used,
        utilization=reached,
        utilization_source=source,
        flops_per_sample=estimate.flops_per_sample,
        offers=offers,
        advice=advice_on(offers, alone_bytes=on_one_device(alone).peak_bytes),
    )


def _pieces(
    model: torch.nn.Module,
    inputs: Any,  # noqa: ANN401  any batch
    targets: Any,  # noqa: ANN401  as above
    loss_of: Callable[[Any, Any], torch.Tensor],
) -> Pieces:
    """Return the model as a sequence, as it was recorded with a batch."""

    def loss(output: Any) -> torch.Tensor:  # noqa: ANN401  any output
        return loss_of(output, with_values(targets))

    return Pieces(record(model, arguments_of(inputs), loss, torch.device("cpu")))


def _types(catalog: Catalog, names: Sequence[str] | None) -> list[InstanceType]:
    if names is None:
        return [
            each
            for each in catalog.instance_types.values()
            if usable_device_bytes(each) is not None and _is_known(each)
        ]
    found = [catalog.get(name) for name in names]
    for each in found:
        if usable_device_bytes(each) is None or not _is_known(each):
            raise EntryPointError(
                f"{each.name} has no {_MAKER} GPU whose memory is known. Name another type, or "
                "leave instance_types out."
            )
    return found


def _is_known(each: InstanceType) -> bool:
    return (each.accelerator or "").startswith(_MAKER)


def _checked(
    samples: int | None,
    global_batch_size: int | None,
    precision: str | None,
    utilization: float | None,
    max_instances: int,
) -> int:
    """Return the samples of a step on all devices; refuse what is out of its range."""
    problems = []
    if not samples:
        problems.append(
            "the batch has no samples, so what one sample takes is not known: give tensors "
            "with one row for each sample, at least one"
        )
    if global_batch_size is not None and global_batch_size < 1:
        problems.append(f"global_batch_size={global_batch_size} must be at least 1")
    if precision is not None and precision not in PRECISIONS:
        problems.append(
            f"precision={precision[:80]!r} is not one of {', '.join(PRECISIONS)}: take one"
        )
    if utilization is not None and not 0 < utilization <= 1:
        problems.append(
            f"utilization={utilization:g} must be above 0 and at most 1: give a share of the "
            "devices' peak"
        )
    if not 1 <= max_instances <= _MOST_INSTANCES:
        problems.append(f"max_instances={max_instances} must be 1 to {_MOST_INSTANCES}")
    if problems or not samples:
        raise EntryPointError(f"cheapest_cluster: {'; '.join(problems)}.")
    return samples if global_batch_size is None else global_batch_size


def _precision_of(model: torch.nn.Module) -> Precision:
    """Return in what most parameters are."""
    counts: dict[torch.dtype, int] = {}
    for one in model.parameters():
        counts[one.dtype] = counts.get(one.dtype, 0) + one.numel()
    most = max(counts, key=lambda dtype: counts[dtype], default=torch.float32)
    return _OF_DTYPE.get(most, "fp32")


def _utilization(
    precision: Precision, pieces: Pieces, given: float | None
) -> tuple[Interval, str]:
    if given is not None:
        own = Interval(mean=given, low=given, high=given, evidence="estimated", spread="none")
        return own, "given"
    known = published_utilization(precision, workload_of(pieces))
    found = Interval(mean=known.median, low=known.low, high=known.high, evidence="estimated")
    return found, (
        f"what 95 % of {known.figures} published trainings of {known.models} models reached"
    )


def _offers(
    each: InstanceType,
    spreads: Spreads,
    estimate: StepEstimate,
    precision: Precision,
    max_instances: int,
) -> Iterator[ClusterOffer]:
    """Yield the offers of clusters of one type."""
    usable = usable_device_bytes(each) or 0.0
    speed = accelerator_speeds().get(each.accelerator or "")
    wires = wires_of(each, None if speed is None else speed.link_gb_per_s)
    peak = None if speed is None else speed.peak_flops_per_s(precision)
    count = 1
    while count <= max_instances:
        for spread in spreads.over(count, each.accelerator_count, usable):
            step_s = estimate.step_s(
                spread, wires, devices_each=each.accelerator_count, peak_flops_per_s=peak
            )
            yield _offer(each, count, usable, spread, step_s)
        count *= 2


def _offer(
    each: InstanceType, count: int, usable: float, spread: Spread, step_s: Interval | None
) -> ClusterOffer:
    price = each.price
    return ClusterOffer(
        instance_type=each.name,
        instance_count=count,
        accelerator=each.accelerator or "",
        devices=count * each.accelerator_count,
        strategy=spread.strategy,
        data=spread.data,
        shard=spread.shard,
        pipeline=spread.pipeline,
        microbatches=spread.microbatches,
        tensor=spread.tensor,
        batch_size=spread.batch_size,
        accumulations=spread.accumulations,
        peak_bytes=spread.peak_bytes,
        usable_bytes=usable,
        step_s=step_s,
        usd_per_hour=None if price is None else count * price.usd_per_hour,
        price_kind=None if price is None else price.kind,
    )
