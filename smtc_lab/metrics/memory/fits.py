"""Which accelerators of the catalog can train a model, and what to try in which order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from smtc_lab.catalog.instance_types import usable_device_bytes
from smtc_lab.metrics.memory.needs import ORDER, MemoryFit, amount

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from smtc_lab.catalog.instance_types import InstanceType
    from smtc_lab.metrics.memory.needs import StrategyMemory
    from smtc_lab.metrics.memory.strategies import StepParts


_OFFLOAD = 'distribution={"activation_offload": true}'


def fitting_types(
    strategies: Sequence[StrategyMemory], types: Iterable[InstanceType]
) -> tuple[MemoryFit, ...]:
    """Return the instance types of which one instance fits, the cheapest first.

    Args:
        strategies: What each device holds, by strategy and number of devices.
        types: The types that are looked at; those without accelerators fit nothing.
    """
    fits = [fit for each in types if (fit := _fit(strategies, each)) is not None]
    return tuple(
        sorted(
            fits,
            key=lambda one: (
                math.inf if one.usd_per_hour is None else one.usd_per_hour,
                one.instance_type,
            ),
        )
    )


def _fit(strategies: Sequence[StrategyMemory], each: InstanceType) -> MemoryFit | None:
    usable = usable_device_bytes(each)
    if usable is None or each.accelerator is None:
        return None
    own = {one.strategy: one for one in strategies if one.devices == each.accelerator_count}
    for strategy in ORDER:
        found = own.get(strategy)
        if found is not None and found.peak_bytes <= usable:
            return MemoryFit(
                instance_type=each.name,
                accelerator=each.accelerator,
                strategy=strategy,
                devices=found.devices,
                peak_bytes=found.peak_bytes,
                usable_bytes=usable,
                usd_per_hour=None if each.price is None else each.price.usd_per_hour,
            )
    return None


def advice(
    parts: StepParts,
    strategies: Sequence[StrategyMemory],
    fits: Sequence[MemoryFit],
    *,
    device_bytes: float | None,
    batch_size: int | None,
) -> tuple[str, ...]:
    """Return what to do, in the order of AWS: data parallel, smaller batch, model parallel.

    Before the last comes to let activations wait in host memory, where that is enough.

    Args:
        parts: The step on one device.
        strategies: What each device holds, by strategy and number of devices.
        fits: What ``fitting_types`` returned.
        device_bytes: What a device that was asked for can hold; None: the cheapest that fits
            is meant.
        batch_size: Samples of the batch; None: not known.

    Source:
        AWS, "Strategies for distributed training", Amazon SageMaker AI developer guide: begin
        with data parallelism; out of memory, make the batch smaller; where a batch of 1 does
        not fit either, take model parallelism.
    """
    alone = strategies[0]
    if device_bytes is None:
        if not fits:
            return _smaller_model(alone)
        best = fits[0]
        device_bytes = best.usable_bytes
        told = [f"The cheapest that fits is {best.instance_type}: {best.strategy}."]
    else:
        told = []
    if alone.peak_bytes <= device_bytes:
        holds = (
            f"One device of {amount(device_bytes)} holds it ({amount(alone.peak_bytes)}): "
            "train data parallel on several to be faster."
        )
        return *told, holds
    return (
        *told,
        _smaller_batch(parts, alone, device_bytes, batch_size),
        *_offload(alone, device_bytes),
        _spread(strategies, device_bytes),
    )


def _smaller_batch(
    parts: StepParts, alone: StrategyMemory, device_bytes: float, batch_size: int | None
) -> str:
    """Return up to which batch one device holds the model, as activations grow with it."""
    stays = (
        parts.parameter_bytes
        + parts.buffer_bytes
        + parts.optimizer_bytes
        + parts.gradient_bytes
    )
    grows = alone.peak_bytes - stays
    if batch_size is None or grows <= 0:
        return f"One device of {amount(device_bytes)} does not hold it. Try a smaller batch."
    fitting = math.floor(batch_size * (device_bytes - stays) / grows)
    if fitting >= 1:
        return (
            f"One device of {amount(device_bytes)} does not hold it: a batch of about "
            f"{fitting} would fit, accumulated {math.ceil(batch_size / fitting)} times."
        )
    return (
        f"One device of {amount(device_bytes)} does not hold it with a batch of 1 either: "
        f"{amount(stays)} stay whatever the batch. Spread the model."
    )


def _smaller_model(alone: StrategyMemory) -> tuple[str, ...]:
    smaller = "Make the model smaller, or its layers' activations, by checkpoints."
    if alone.offloaded is None:
        return (smaller,)
    return smaller, (
        f"activation_offload leaves one device {amount(alone.offloaded.peak_bytes)} of "
        f"{amount(alone.peak_bytes)}."
    )


def _offload(alone: StrategyMemory, device_bytes: float) -> tuple[str, ...]:
    """Return that one device holds it where activations wait in host memory, if it does."""
    moved = alone.offloaded
    if moved is None or moved.peak_bytes > device_bytes:
        return ()
    return (
        (
            f"With {_OFFLOAD} one device of {amount(device_bytes)} holds it "
            f"({amount(moved.peak_bytes)}): {amount(moved.host_bytes)} of activations wait in "
            "host memory, and are copied there and back in each step."
        ),
    )


def _spread(strategies: Sequence[StrategyMemory], device_bytes: float) -> str:
    for strategy in ORDER[2:]:
        fitting = [
            one
            for one in strategies
            if one.strategy == strategy and one.peak_bytes <= device_bytes
        ]
        if fitting:
            least = min(fitting, key=lambda one: one.devices)
            return (
                f"Over {least.devices} devices of {amount(device_bytes)} it fits with "
                f'distribution={{"{strategy}": {least.devices}}} '
                f"({amount(least.peak_bytes)} a device)."
            )
    return (
        f"No strategy here fits devices of {amount(device_bytes)}: take larger ones, or more."
    )
