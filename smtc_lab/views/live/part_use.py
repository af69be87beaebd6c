"""How busy the parts of a cluster are, as pictures show it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class PartUse:
    """How busy each part of a cluster is, or would be, 0 to 1. None: not known."""

    trainer_cpu: float | None = None
    """CPU time of the training instances over the CPU time that they have."""

    data_cpu: float | None = None
    """The same of the data instances; None also where there are none."""

    device: float | None = None
    """Share of the step in which the devices compute, exchange of gradients included."""

    network: float | None = None
    """Share of the step in which batches of data instances cross the network."""
