"""What DistributedDataParallel hides of its all-reduce behind the backward pass.

It puts gradients into buckets in the order in which they become ready, sends a bucket as soon
as it is whole, one after another, and never splits a parameter. What is still on its way when
the backward pass ends, the step waits for.

Source:
    ``compute_bucket_assignment_by_size`` in torch/csrc/distributed/c10d/reducer.cpp, 2.15.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from smtc_lab.planner.calibration.calibration import Calibration

MIB = 2**20

FIRST_BUCKET_BYTES = MIB
"""What closes DDP's first bucket, where the user gives no limit."""

BUCKET_BYTES = 25 * MIB
"""What closes each of the others."""

BACKWARD_BEGINS = 1 / 3
"""Part of a device's step before its backward pass, where no launch tells. Assumed: a backward
pass is about twice the work of a forward pass."""

_MOST_PIECES = 64


@dataclass(frozen=True, slots=True)
class Gradients:
    """The gradients of one step, in the order in which they become ready."""

    nbytes: tuple[float, ...]
    """Bytes of each."""

    ready: tuple[float, ...]
    """When each is ready, as a part of the device's step, rising, 0 to 1."""

    is_estimated: bool
    """Whether sizes or times were assumed, and not measured."""

    @property
    def total_bytes(self) -> float:
        """Bytes of all together."""
        return float(sum(self.nbytes))


@dataclass(frozen=True, slots=True)
class Bucket:
    """Gradients that are sent together."""

    nbytes: float
    """Bytes of them."""

    ready: float
    """When the last of them is ready, as a part of the device's step."""


@dataclass(frozen=True, slots=True)
class ExchangeTimes:
    """What the exchange of gradients takes, shape (set-ups, draws)."""

    all_reduce_s: NDArray[np.float64]
    """All buckets together, in seconds."""

    exposed_s: NDArray[np.float64]
    """What a step waits for behind its backward pass, in seconds."""


def estimated_gradients(total_bytes: float) -> Gradients:
    """Return gradients of which no more than their bytes are known: even ones, evenly ready."""
    pieces = int(np.clip(np.ceil(total_bytes / MIB), 1, _MOST_PIECES))
    ready = BACKWARD_BEGINS + (1 - BACKWARD_BEGINS) * np.arange(1, pieces + 1) / pieces
    return Gradients(
        nbytes=(total_bytes / pieces,) * pieces,
        ready=tuple(float(each) for each in ready),
        is_estimated=True,
    )


def gradients_of(calibration: Calibration) -> Gradients | None:
    """Return the gradients of one step; None: not even their bytes are known.

    Where the device is emulated, or is a GPU, the order and the sizes are what was seen; when
    they are ready is not, since the CPU of a calibration has computed them at another time.
    Then the backward pass is taken to fill the last two thirds of the device's step.
    """
    total_bytes, seen = calibration.gradient_bytes, calibration.gradients
    if seen is None:
        return estimated_gradients(total_bytes) if total_bytes else None
    if calibration.emulated_device_s is None:
        return Gradients(seen.nbytes, seen.ready_fraction, is_estimated=False)
    begin, end = seen.begin_fraction, seen.ready_fraction[-1]
    length = max(end - begin, 1e-9)
    share = (1 - BACKWARD_BEGINS) / length
    ready = tuple(
        min(1.0, BACKWARD_BEGINS + share * (each - begin)) for each in seen.ready_fraction
    )
    return Gradients(seen.nbytes, ready, is_estimated=True)


def buckets_of(
    gradients: Gradients, *, limits: Sequence[float] = (FIRST_BUCKET_BYTES, BUCKET_BYTES)
) -> tuple[Bucket, ...]:
    """Return the buckets of gradients, in the order in which they are sent.

    Args:
        gradients: The gradients of one step.
        limits: Bytes that close the first buckets, and the last of them all others. With
            ``bucket_cap_mb`` given, DDP has that one alone.
    """
    found: list[Bucket] = []
    held = 0.0
    for place, (nbytes, ready) in enumerate(
        zip(gradients.nbytes, gradients.ready, strict=True), start=1
    ):
        held += nbytes
        is_full = held >= limits[min(len(found), len(limits) - 1)]
        if is_full or (place == len(gradients.nbytes) and held > 0):
            found.append(Bucket(held, ready))
            held = 0.0
    return tuple(found)


def exchange(
    buckets: Sequence[Bucket],
    device_s: NDArray[np.float64],
    all_reduce_s: Callable[[float], NDArray[np.float64]],
) -> ExchangeTimes:
    """Return what an exchange of gradients takes, and how much of it a step waits for.

    Args:
        buckets: As ``buckets_of`` returns them.
        device_s: Device time of a step without it, in seconds.
        all_reduce_s: The seconds of an all-reduce of so many bytes.
    """
    total_s = end_s = np.zeros(())
    for bucket in buckets:
        took_s = all_reduce_s(bucket.nbytes)
        total_s = total_s + took_s
        # NaN, an unknown bandwidth, passes through both
        end_s = np.maximum(end_s, bucket.ready * device_s) + took_s
    backward_end_s = buckets[-1].ready * device_s if buckets else 0.0
    exposed_s = np.maximum(end_s - backward_end_s, 0.0)
    return ExchangeTimes(*np.broadcast_arrays(total_s, exposed_s))
