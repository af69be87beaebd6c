"""What the accelerators of an instance type can hold of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtc_lab.catalog.instance_types import InstanceType

USABLE_FRACTION = 0.9
"""Share of an accelerator's memory that a model can have: the rest is the driver's, the
libraries', and what lies between allocations. An estimate."""


def usable_device_bytes(instance_type: InstanceType) -> float | None:
    """Return the bytes that a model can have on one accelerator; None: unknown, or none."""
    memory_gib = instance_type.accelerator_memory_gib
    if not instance_type.has_accelerator or memory_gib is None:
        return None
    return USABLE_FRACTION * memory_gib * 2**30
