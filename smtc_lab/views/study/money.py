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
    from collections.abc import Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.metrics.compared.comparison import ClusterResult, GroupResult
    from smtc_lab.views.study.info import PicturedGroup
    from smtc_lab.views.text.set_ups import SetUp, SetUpEstimate


def steps_cost_so_far(
    set_up: int,
    groups: Sequence[PicturedGroup],
    estimate: SetUpEstimate,
    catalog: Catalog,
) -> tuple[StepsCostPart, ...]:
    """Return the cost of 1,000 steps by cause, of what is seen of a set-up so far."""
    return _steps_cost(
        set_up, estimate, [(each, _usd_per_hour(each, catalog)) for each in groups]
    )


def steps_cost_of(set_up: int, cluster: ClusterResult) -> tuple[StepsCostPart, ...]:
    """Return the cost of 1,000 steps by cause, of a cluster of a result."""
    return _steps_cost(
        set_up, cluster, [(each, each.usd_per_hour) for each in cluster.instance_groups]
    )


def launch_cost_of(set_up: int, cluster: ClusterResult) -> tuple[LaunchCostPart, ...]:
    """Return the cost of one launch by cause, of a cluster of a result.

    The parts add up to what was billed.
    """
    compiler = cluster.compiler
    parts = launch_spent(
        cluster.bill,
        first_steps_s=None if compiler is None else compiler.overhead_s.mean,
        usd_per_hour=cluster.usd_per_hour,
    )
    return tuple(
        LaunchCostPart(set_up=set_up, cause=cause, usd=usd, is_waiting=LAUNCH_CAUSES[cause])
        for cause, usd in parts.items()
    )


def _steps_cost(
    set_up: int,
    seen: SetUp,
    groups: Sequence[tuple[GroupResult | PicturedGroup, float | None]],
) -> tuple[StepsCostPart, ...]:
    """Return the cost of 1,000 steps by cause, of groups with the price of one instance."""
    mean = seen.step_time_s
    parts = steps_spent(
        [
            PaidGroup(
                role=group.role,
                usd_per_hour=None if price is None else price * group.instance_count,
                cpu_fraction=seen.utilization.cpu.get(group.instance_group_name),
            )
            for group, price in groups
        ],
        step_time_s=None if mean is None else mean.mean,
        data_wait_fraction=seen.data_wait_fraction,
        device_fraction=seen.utilization.device,
    )
    return tuple(
        StepsCostPart(
            set_up=set_up, cause=cause, usd_per_1000_steps=usd, is_waiting=STEPS_CAUSES[cause]
        )
        for cause, usd in parts.items()
    )


def _usd_per_hour(group: PicturedGroup, catalog: Catalog) -> float | None:
    known = catalog.instance_types.get(group.instance_type)
    price = None if known is None else known.price
    return None if price is None else price.usd_per_hour
