"""The memory of a training step on each device, by strategy, and which devices have it."""

from __future__ import annotations

from typing import Literal

from smtc_lab.metrics.result import Result
from smtc_lab.text_table import aligned

GIB = 2**30

Strategy = Literal["one device", "data", "shard", "pipeline", "tensor"]
"""How a model is spread over devices. ``data``: each has all of it. ``shard``: each has a part
of every parameter (FSDP2). ``pipeline``: each runs a stage. ``tensor``: each computes a part of
every layer."""

ORDER: tuple[Strategy, ...] = ("one device", "data", "shard", "tensor", "pipeline")
"""In which order they are preferred, where several fit."""


class OffloadedMemory(Result):
    """What the fullest device holds where activations wait in host memory."""

    activation_bytes: float
    """What the forward keeps on the device for the backward, with what comes back for one
    layer."""

    host_bytes: float
    """What it keeps in the memory of the host, for this device; of a pipeline for that which
    keeps most there."""

    peak_bytes: float
    """The most at any moment of a step, on the device."""


class StrategyMemory(Result):
    """What the fullest device holds under one strategy. All of it is predicted."""

    strategy: Strategy
    """How the model is spread."""

    devices: int
    """Devices that share one replica of the model; of ``data``, that have one each."""

    parameter_bytes: float
    """Parameters and buffers that it keeps."""

    gradient_bytes: float
    """Gradients that it keeps until the optimizer has stepped."""

    optimizer_bytes: float
    """What the optimizer keeps from step to step."""

    activation_bytes: float
    """What the forward keeps for the backward, of all microbatches at once in flight."""

    peak_bytes: float
    """The most at any moment of a step. It may be less than the sum of the parts, as
    activations go while gradients come; and more, with what an operation needs meanwhile."""

    offloaded: OffloadedMemory | None = None
    """The same with ``activation_offload``; None: that moves nothing."""

    note: str = ""
    """What it is taken from, where it is less sure than others; empty: a pass of the model."""


class MemoryFit(Result):
    """One instance type whose devices can train the model."""

    instance_type: str
    """Its name."""

    accelerator: str
    """Its accelerator."""

    strategy: Strategy
    """The first strategy, in order of preference, that fits."""

    devices: int
    """Devices of one instance, all of which are used."""

    peak_bytes: float
    """What the fullest of them holds, as predicted."""

    usable_bytes: float
    """What each of them can hold of a model."""

    usd_per_hour: float | None
    """Price of the instance in USD per hour; None: unknown."""


class MemoryNeeds(Result):
    """What a step of a model needs, by strategy, and what has it."""

    schema_version: Literal[1] = 1
    """Version of this schema."""

    evidence: Literal["predicted"] = "predicted"
    """None of it was measured."""

    batch_size: int | None
    """Samples of the batch on each device; None: not known."""

    optimizer: str = ""
    """Name of the optimizer's class, such as ``AdamW``; empty: not said."""

    strategies: tuple[StrategyMemory, ...]
    """Strategies, each on several numbers of devices."""

    fits: tuple[MemoryFit, ...]
    """Instance types of the catalog that fit, the cheapest first, those of unknown price
    last."""

    advice: tuple[str, ...]
    """What to do, the simplest first."""

    def __str__(self) -> str:
        return "\n".join([*self._table(), "", *self._fitting(), "", *self.advice]).strip()

    def __repr__(self) -> str:
        return str(self)

    def _table(self) -> list[str]:
        head = ("strategy", "devices", "parameters", "gradients", "optimizer", "activations")
        is_moved = any(one.offloaded for one in self.strategies)
        rows: list[tuple[str, ...]] = [
            (*head, "peak a device", *(_OFFLOADED if is_moved else ()))
        ]
        for one in self.strategies:
            parts = (
                one.parameter_bytes,
                one.gradient_bytes,
                one.optimizer_bytes,
                one.activation_bytes,
                one.peak_bytes,
            )
            moved = _moved(one.offloaded) if is_moved else ()
            rows.append((one.strategy, str(one.devices), *map(amount, parts), *moved))
        samples = "" if self.batch_size is None else f" of {self.batch_size:,} samples"
        stepped = f", stepped by {self.optimizer}" if self.optimizer else ""
        return [
            f"Predicted for a batch{samples} on each device{stepped}:",
            *aligned(rows, numbers_from=1),
        ]

    def _fitting(self) -> list[str]:
        if not self.fits:
            return ["No instance type of the catalog fits."]
        lines = ["Fits, the cheapest first:"]
        for one in self.fits[:_SHOWN]:
            price = "price unknown" if one.usd_per_hour is None else f"${one.usd_per_hour:g}/h"
            lines.append(
                f"  {one.instance_type} ({one.devices} x {one.accelerator}, {price}): "
                f"{one.strategy}, {amount(one.peak_bytes)} of {amount(one.usable_bytes)}"
            )
        left = len(self.fits) - _SHOWN
        return [*lines, f"  and {left} more"] if left > 0 else lines


_SHOWN = 8
_OFFLOADED = ("peak offloaded", "on the host")
"""Columns of what ``activation_offload`` brings."""


def _moved(offloaded: OffloadedMemory | None) -> tuple[str, ...]:
    if offloaded is None:
        return "", ""
    return amount(offloaded.peak_bytes), amount(offloaded.host_bytes)


def amount(num_bytes: float) -> str:
    """Return an amount of memory for people: ``3.21 GiB``, ``12.5 MiB``."""
    if num_bytes >= GIB / 10:
        return f"{num_bytes / GIB:.3g} GiB"
    return f"{num_bytes / 2**20:.3g} MiB"
