"""What one instance type has, and what an hour of it costs."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal

GBPS_PER_FLOW = 5.0
"""Gbit/s of one connection between two instances outside a placement group.

Source:
    Amazon EC2 User Guide, "Amazon EC2 instance network bandwidth".
"""

USABLE_FRACTION = 0.9
"""Share of an accelerator's memory that a model can have: the rest is the driver's, the
libraries', and what lies between allocations. An estimate."""

PriceKind = Literal["list", "historical", "estimated", "user"]
"""Where a price comes from. ``list``: AWS's price list of that date. ``historical``: the last
published price of a type that has left the list. ``estimated``: the EC2 price times the factor
of its family (within 0.35 % of all list prices); never shown as a list price. ``user``: given
by the user."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """On-demand price of one instance in us-east-1, or as the user gave it."""

    usd_per_hour: float
    """USD for one hour of one instance, at least 0."""

    kind: PriceKind
    """Where the price comes from."""

    date: str
    """Date of the price, ``YYYY-MM-DD``; ``YYYY-MM`` where the source gives no day."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceType:
    """One SageMaker training instance type.

    Source:
        AWS DescribeInstanceTypes, 2026-05. None where AWS gives no value.
    """

    name: str
    """SageMaker's name, for example ``ml.c5.9xlarge``."""

    family: str
    """The part between the dots, for example ``c5``."""

    vcpus: int
    """vCPUs: hardware threads, two for each core where ``threads_per_core`` is 2."""

    physical_cores: int | None
    """CPU cores; None: unknown."""

    threads_per_core: int | None
    """vCPUs of one core; None: unknown."""

    cpu_vendor: str | None
    """``Intel`` or ``AMD``; None: unknown."""

    sustained_clock_ghz: float | None
    """Clock that all cores sustain, in GHz; None: unknown."""

    arch: str | None
    """Instruction set, for example ``x86_64``; None: unknown."""

    memory_gib: float
    """Memory in GiB."""

    accelerator: str | None
    """Name of the GPU or Trainium chip; None: the type has none."""

    accelerator_count: int
    """Number of GPUs or Trainium chips."""

    accelerator_memory_gib: float | None
    """Memory of one accelerator in GiB; None: unknown, or the type has none."""

    network_gbps: float | None
    """Rated network bandwidth in Gbit/s, the baseline for "up to" types; None: unknown."""

    network_single_card_peak_gbps: float | None
    """Peak bandwidth of one network card in Gbit/s; None: unknown."""

    price: Price | None
    """On-demand training price; None: no source, so its cost is unknown, not zero."""

    @property
    def has_accelerator(self) -> bool:
        """Whether the type has a GPU or a Trainium chip."""
        return self.accelerator_count > 0

    @property
    def card_gbps(self) -> float | None:
        """Gbit/s over one network card, over which batches come; None: unknown."""
        known = [
            gbps
            for gbps in (self.network_gbps, self.network_single_card_peak_gbps)
            if gbps is not None
        ]
        return min(known, default=None)


def usable_device_bytes(instance_type: InstanceType) -> float | None:
    """Return the bytes that a model can have on one accelerator; None: unknown, or none."""
    memory_gib = instance_type.accelerator_memory_gib
    if not instance_type.has_accelerator or memory_gib is None:
        return None
    return USABLE_FRACTION * memory_gib * 2**30


OLD_AFTER_DAYS = 90
"""Days after which a price is marked as old."""


def is_old(price: Price, today: dt.date) -> bool:
    """Return whether a price is more than 90 days old; a month counts from its first day."""
    day = price.date if len(price.date) > 7 else f"{price.date}-01"
    return (today - dt.date.fromisoformat(day)).days > OLD_AFTER_DAYS
