"""Where the money of a set-up goes, as a browser is told: of what is seen, or of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.spent import (
    LAUNCH_CAUSES,
    STEPS_CAUSES,
    PaidGroup,
    launch_spent,
    steps_spent,
)
from smtc_lab.views.study.info import LaunchCostPart, StepsCostPart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.metrics.bill import Bill
    from smtc_lab.metrics.compared.comparison import ClusterResult
    from smtc_lab.metrics.spent import StepsCause
    from smtc_lab.views.study.info import PicturedGroup
    from smtc_lab.views.text.set_ups import SetUpEstimate


def steps_cost_so_far(
    set_up: int,
    groups: Sequence[PicturedGroup],
    estimate: SetUpEstimate,
    catalog: Catalog,
) -> tuple[StepsCostPart, ...]:
    """Return the cost of 1,000 steps by cause, of what is seen of a set-up so far."""
    mean = estimate.step_time_s
    parts = steps_spent(
        [
            PaidGroup(
                role=group.role,
                usd_per_hour=_usd_per_hour(group, catalog),
                cpu_fraction=estimate.utilization.cpu.get(group.instance_group_name),
            )
            for group in groups
        ],
        step_time_s=None if mean is None else mean.mean,
        data_wait_fraction=estimate.data_wait_fraction,
        device_fraction=estimate.utilization.device,
    )
    return _steps_parts(set_up, parts)


def steps_cost_of(set_up: int, cluster: ClusterResult) -> tuple[StepsCostPart, ...]:
    """Return the cost of 1,000 steps by cause, of a cluster of a result."""
    parts = steps_spent(
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
    return _steps_parts(set_up, parts)


def launch_cost_of(set_up: int, cluster: ClusterResult) -> tuple[LaunchCostPart, ...]:
    """Return the cost of one launch by cause, of a cluster of a result."""
    compiler = cluster.compiler
    return launch_cost(
        set_up,
        cluster.bill,
        first_steps_s=None if compiler is None else compiler.overhead_s.mean,
        usd_per_hour=cluster.usd_per_hour,
    )


def launch_cost(
    set_up: int, bill: Bill | None, *, first_steps_s: float | None, usd_per_hour: float | None
) -> tuple[LaunchCostPart, ...]:
    """Return the cost of one launch by cause; the parts add up to what was billed.

    Args:
        set_up: Place of the set-up in its study.
        bill: As ``launch_spent`` takes it, as all that follow.
        first_steps_s: Time of the first steps beyond as many steady ones, in seconds.
        usd_per_hour: Price of the whole cluster.
    """
    parts = launch_spent(bill, first_steps_s=first_steps_s, usd_per_hour=usd_per_hour)
    return tuple(
        LaunchCostPart(set_up=set_up, cause=cause, usd=usd, is_waiting=LAUNCH_CAUSES[cause])
        for cause, usd in parts.items()
    )


def _steps_parts(
    set_up: int, usd_by_cause: Mapping[StepsCause, float]
) -> tuple[StepsCostPart, ...]:
    return tuple(
        StepsCostPart(
            set_up=set_up, cause=cause, usd_per_1000_steps=usd, is_waiting=STEPS_CAUSES[cause]
        )
        for cause, usd in usd_by_cause.items()
    )


def _usd_per_hour(group: PicturedGroup, catalog: Catalog) -> float | None:
    known = catalog.instance_types.get(group.instance_type)
    price = None if known is None else known.price
    return None if price is None else price.usd_per_hour * group.instance_count
