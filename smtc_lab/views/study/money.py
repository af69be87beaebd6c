"""Where the money goes: what 1,000 steps of a set-up cost, and a launch of it, by cause.

A group's price is split by what its instances did. Data instances prepare data as long as their
CPUs are busy. Training instances compute as long as their devices do; what is left of a step,
they wait for data as long as the trainers did. Nothing is split that is not known, and no part
adds up two scales.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.metrics.cost import usd_per_job
from smtc_lab.views.study.info import LaunchCostPart, StepsCostPart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.metrics.bill import Bill
    from smtc_lab.metrics.compared.comparison import ClusterResult
    from smtc_lab.spec.cluster import Role
    from smtc_lab.views.study.estimate import SetUpEstimate
    from smtc_lab.views.study.info import LaunchCause, PicturedGroup, StepsCause

_STEPS = 1000


@dataclass(frozen=True, kw_only=True)
class PaidGroup:
    """An instance group as it is paid for."""

    role: Role
    """What its instances do."""

    usd_per_hour: float | None
    """Price of all its instances per hour in USD; None: unknown."""

    cpu_fraction: float | None
    """CPU time that they used over CPU time at hand, 0 to 1; None: not known."""


def steps_cost(
    set_up: int,
    groups: Sequence[PaidGroup],
    *,
    step_time_s: float | None,
    data_wait_fraction: float | None,
    device_fraction: float | None,
) -> tuple[StepsCostPart, ...]:
    """Return the cost of 1,000 steps by cause; the parts add up to it.

    Args:
        set_up: Place of the set-up in its study.
        groups: All its instance groups.
        step_time_s: Mean step time in seconds; None: no step.
        data_wait_fraction: Data wait over step time, 0 to 1; None: not known.
        device_fraction: Device time over step time, 0 to 1; None: not known.

    Returns:
        No part where a price is unknown, or there is no step. A device that computes while its
        trainer waits for the next batch is at work: only what is left is data wait.
    """
    prices = [group.usd_per_hour for group in groups]
    if step_time_s is None or None in prices:
        return ()
    found: dict[StepsCause, float] = {}
    for group in groups:
        usd = usd_per_job(billed_s=_STEPS * step_time_s, usd_per_hour=group.usd_per_hour) or 0.0
        shares = (
            _of_trainers(data_wait_fraction, device_fraction)
            if group.role == "train"
            else _of_data_instances(group.cpu_fraction)
        )
        for cause, share in shares:
            found[cause] = found.get(cause, 0.0) + usd * share
    return tuple(
        StepsCostPart(set_up=set_up, cause=cause, usd_per_1000_steps=usd, is_waiting=waits)
        for cause, waits in _WAITING.items()
        if (usd := found.get(cause, 0.0)) > 0
    )


def launch_cost(
    set_up: int, bill: Bill | None, *, first_steps_s: float | None, usd_per_hour: float | None
) -> tuple[LaunchCostPart, ...]:
    """Return the cost of one launch by cause; the parts add up to what was billed.

    Args:
        set_up: Place of the set-up in its study.
        bill: Where the time of its launches went, means; None: not known.
        first_steps_s: Time that the first steps took beyond as many steady ones, in seconds;
            None: not known, and told with the steps.
        usd_per_hour: Price of the whole cluster; None: unknown.

    Returns:
        No part where one is unknown, or was emulated and so is on a scale of its own.
    """
    if bill is None or bill.startup_usd is None or bill.end_usd is None:
        return ()
    if bill.steps_usd is None or bill.evidence == "emulated":
        return ()
    parts: tuple[tuple[LaunchCause, float, bool], ...] = (
        ("startup", bill.startup_usd, True),
        *_of_steps(bill.steps_usd, first_steps_s, usd_per_hour),
        ("end", bill.end_usd, True),
    )
    return tuple(
        LaunchCostPart(set_up=set_up, cause=cause, usd=usd, is_waiting=waits)
        for cause, usd, waits in parts
    )


def steps_cost_so_far(
    set_up: int,
    groups: Sequence[PicturedGroup],
    estimate: SetUpEstimate,
    catalog: Catalog,
) -> tuple[StepsCostPart, ...]:
    """Return the cost of 1,000 steps by cause, of what is seen of a set-up so far."""
    mean = estimate.step_time_s
    return steps_cost(
        set_up,
        [
            PaidGroup(
                role=group.role,
                usd_per_hour=_usd_per_hour(group, catalog),
                cpu_fraction=estimate.cpu.get(group.instance_group_name),
            )
            for group in groups
        ],
        step_time_s=None if mean is None else mean.mean,
        data_wait_fraction=estimate.data_wait_fraction,
        device_fraction=estimate.device_fraction,
    )


def steps_cost_of(set_up: int, cluster: ClusterResult) -> tuple[StepsCostPart, ...]:
    """Return the cost of 1,000 steps by cause, of a cluster of a result."""
    return steps_cost(
        set_up,
        [
            PaidGroup(
                role=group.role,
                usd_per_hour=None
                if group.usd_per_hour is None
                else group.usd_per_hour * group.instance_count,
                cpu_fraction=cluster.utilization.cpu.get(group.instance_group_name),
            )
            for group in cluster.instance_groups
        ],
        step_time_s=cluster.step_time_s.mean,
        data_wait_fraction=cluster.data_wait_fraction,
        device_fraction=cluster.utilization.device,
    )


def launch_cost_of(set_up: int, cluster: ClusterResult) -> tuple[LaunchCostPart, ...]:
    """Return the cost of one launch by cause, of a cluster of a result."""
    compiler = cluster.compiler
    return launch_cost(
        set_up,
        cluster.bill,
        first_steps_s=None if compiler is None else compiler.overhead_s.mean,
        usd_per_hour=cluster.usd_per_hour,
    )


_WAITING: dict[StepsCause, bool] = {
    "compute": False,
    "step": False,
    "data_wait": True,
    "device_idle": True,
    "trainers_unknown": False,
    "prepare_data": False,
    "data_idle": True,
    "data_unknown": False,
}
"""Each cause, in the order in which it is told: whether the instances are paid for waiting."""


def _of_trainers(
    data_wait: float | None, device: float | None
) -> Iterator[tuple[StepsCause, float]]:
    """Return the shares of a step, which add up to 1."""
    if data_wait is None:
        yield "trainers_unknown", 1.0
        return
    busy = 0.0 if device is None else _within(device)
    waits = min(_within(data_wait), 1.0 - busy)
    yield "data_wait", waits
    if device is None:
        yield "step", 1.0 - waits
    else:
        yield "compute", busy
        yield "device_idle", 1.0 - busy - waits


def _of_data_instances(cpu: float | None) -> Iterator[tuple[StepsCause, float]]:
    """Return the shares of a step, which add up to 1."""
    if cpu is None:
        yield "data_unknown", 1.0
    else:
        yield "prepare_data", _within(cpu)
        yield "data_idle", 1.0 - _within(cpu)


def _of_steps(
    steps_usd: float, first_steps_s: float | None, usd_per_hour: float | None
) -> Iterator[tuple[LaunchCause, float, bool]]:
    """Return the parts of what all steps cost: cause, USD, and whether it is waiting."""
    if first_steps_s is None or usd_per_hour is None:
        yield "all_steps", steps_usd, False
        return
    usd = usd_per_job(billed_s=max(0.0, first_steps_s), usd_per_hour=usd_per_hour) or 0.0
    first_usd = min(usd, steps_usd)
    yield "first_steps", first_usd, True
    yield "steps", steps_usd - first_usd, False


def _within(share: float) -> float:
    return min(1.0, max(0.0, share))


def _usd_per_hour(group: PicturedGroup, catalog: Catalog) -> float | None:
    known = catalog.instance_types.get(group.instance_type)
    price = None if known is None else known.price
    return None if price is None else price.usd_per_hour * group.instance_count
