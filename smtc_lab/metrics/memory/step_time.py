"""How long a step would take on devices that nobody has run it on, and how sure that is.

Computing is the model's operations over the peak of the devices and the share of it that
training reaches. What devices exchange is bytes over the bandwidth that the catalog has: at
best all of it goes on beside computing, at worst none of it does, at half of the bandwidth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.metrics.result import Interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.catalog.instance_types import InstanceType

_BACKWARD = 2 / 3
"""Share of computing beside which gradients travel."""

_WORST_WIRE = 0.5
"""Share of a rated bandwidth that exchanges have at worst. Assumed."""


@dataclass(frozen=True, kw_only=True)
class Wires:
    """The network of a cluster, in bytes per second and one direction; None: unknown."""

    inside: float | None
    """Between two devices of an instance."""

    between: float | None
    """Of an instance, to the others."""

    def slowest(self, *, crosses: bool, inside: bool) -> float | None:
        """Return the bandwidth of what is used; None: some of it is unknown, or nothing is.

        Args:
            crosses: Whether bytes go from instance to instance.
            inside: Whether they go from device to device of an instance.
        """
        used = ([self.between] if crosses else []) + ([self.inside] if inside else [])
        known = [one for one in used if one]
        return min(known) if known and len(known) == len(used) else None


def wires_of(instance_type: InstanceType, link_gb_per_s: float | None) -> Wires:
    """Return the network of instances of a type.

    Args:
        instance_type: The type.
        link_gb_per_s: Between its devices.
    """
    gbps = instance_type.network_gbps
    return Wires(
        inside=None if link_gb_per_s is None else 1e9 * link_gb_per_s,
        between=None if gbps is None else 1e9 / 8 * gbps,
    )


@dataclass(frozen=True, kw_only=True)
class SharedStep:
    """How devices of a cluster share a step."""

    instances: int
    devices_each: int
    """Devices of each instance."""

    shard: int = 1
    """Devices that share the parameters of a replica, neighbours first."""

    @property
    def devices(self) -> int:
        """All devices."""
        return self.instances * self.devices_each


def exchange_s(
    shape: SharedStep,
    wires: Wires,
    *,
    parameter_bytes: float,
    gradient_bytes: float,
    accumulations: int,
) -> float | None:
    """Return how long exchanges of a step take at the rated bandwidth; None: it is unknown.

    Replicas average gradients once, in a ring. Shards gather parameters for the forward and
    the backward of each part of the batch, and sum up its gradients.

    Args:
        shape: How the devices share the step.
        wires: Their network.
        parameter_bytes: Of the whole model.
        gradient_bytes: As above.
        accumulations: Parts of the batch of a device, one after the other.
    """
    replicas = shape.devices // shape.shard
    in_shards = accumulations * _around(shape.shard) * (2 * parameter_bytes + gradient_bytes)
    in_replicas = 2 * _around(replicas) * gradient_bytes
    travels = []
    if shape.shard > 1:
        crosses = shape.shard > shape.devices_each
        travels.append((in_shards, crosses, shape.devices_each > 1))
    if replicas > 1:
        # of shards inside an instance each has a ring of its own, all through one card
        travels.append((in_replicas, shape.instances > 1, shape.devices_each > shape.shard))
    took_s = 0.0
    for num_bytes, crosses, inside in travels:
        rate = wires.slowest(crosses=crosses, inside=inside)
        if rate is None:
            return None
        took_s += num_bytes / rate
    return took_s


def _around(ranks: int) -> float:
    return (ranks - 1) / ranks


def step_interval(
    compute_s: Callable[[float], float],
    utilization: Interval,
    *,
    beside_s: float = 0.0,
    after_s: float = 0.0,
    worst_s: float = 0.0,
) -> Interval:
    """Return the time of a step, with the ends between which it is expected.

    Args:
        compute_s: Returns what computing takes at a share of the peak.
        utilization: The share of the peak that training reaches.
        beside_s: What exchanges take at the rated bandwidth that may go on beside it.
        after_s: What those take that nothing is computed beside.
        worst_s: What those take together where nothing hides any of them.
    """
    likely_s = compute_s(utilization.mean)
    exposed_s = max(0.0, beside_s - _BACKWARD * likely_s) + after_s
    return Interval(
        mean=likely_s + exposed_s,
        low=max(compute_s(utilization.high), beside_s),
        high=compute_s(utilization.low) + max(beside_s + after_s, worst_s) / _WORST_WIRE,
        evidence="estimated",
    )
