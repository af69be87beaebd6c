"""What emulated accelerators can hold, as their types have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.catalog.instance_types import usable_device_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.catalog.placed import Placed
    from smtc_lab.spec.distribution import Distribution
    from smtc_lab.spec.job import TrainingJob

DEVICE_BYTES = "device_bytes"
"""Name of what the facts of a plan say of an emulated device's memory."""


def device_facts(job: TrainingJob, where: Placed) -> dict[str, Any]:
    """Return what a run keeps of its emulated devices' memory; empty: none is known.

    It is that of the smallest device that trains.
    """
    if job.emulation is None:
        return {}
    sizes = [usable_device_bytes(e.known) for e in where.training if e.known is not None]
    known_sizes = [size for size in sizes if size is not None]
    return {DEVICE_BYTES: min(known_sizes)} if known_sizes else {}


def limit_bytes(asked: Distribution, facts: Mapping[str, Any]) -> float | None:
    """Return what each trainer of a pipeline may hold; None: there is no limit.

    Args:
        asked: The job's distribution.
        facts: Those of its plan.
    """
    limits = [
        float(one)
        for one in (asked.limit_bytes, facts.get(DEVICE_BYTES))
        if one is not None and asked.pipeline > 1
    ]
    return min(limits, default=None)
