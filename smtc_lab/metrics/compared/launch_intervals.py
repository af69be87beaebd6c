"""Intervals of numbers that each launch has one of: costs, start-up, shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.bill import Bill
from smtc_lab.metrics.columns import STEP
from smtc_lab.metrics.cost import saving_interval
from smtc_lab.metrics.intervals import (
    launch_interval,
    mean_interval,
    ratio_interval,
    share_interval,
)
from smtc_lab.metrics.measured_columns import cpu_of_groups
from smtc_lab.metrics.utilization import (
    data_wait_fraction,
    device_utilization,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.metrics.compared.comparison import ClusterResult
    from smtc_lab.metrics.compared.measured_cluster import MeasuredCluster
    from smtc_lab.metrics.measured_columns import MeasuredColumns
    from smtc_lab.metrics.measured_launch import MeasuredLaunch
    from smtc_lab.metrics.result import Interval

_SECONDS_PER_HOUR = 3600.0
_BILLED = tuple(name for name in Bill.model_fields if name.endswith(("_s", "_usd")))


def launch_intervals(measured: MeasuredCluster, result: ClusterResult) -> dict[str, Interval]:
    """Return the intervals of a cluster's plain numbers, over its launches.

    Args:
        measured: Its launches.
        result: What was made of them.

    Returns:
        By name of the field, ``utilization.device``, ``utilization.cpu.<group>`` and
        ``bill.end_s`` for those inside; without those that are not known.
    """
    launches = measured.launches
    found: dict[str, Interval | None] = {
        "startup_s": _of_times([launch.startup_s() for launch in launches]),
        "usd_per_job": (
            None if result.usd_per_job is None else _usd_per_job(launches, result.usd_per_hour)
        ),
        "data_wait_fraction": _share(
            result.data_wait_fraction, [data_wait_fraction(each.steps) for each in launches]
        ),
        "cpu_delivered_fraction": result.cpu_delivered,
        "utilization.device": _share(
            result.utilization.device, [device_utilization(each.steps) for each in launches]
        ),
    }
    found |= bill_intervals(
        result.bill, [launch.bill(usd_per_hour=result.usd_per_hour) for launch in launches]
    )
    cpu = [cpu_of_groups([launch]) for launch in launches]
    for group, mean in result.utilization.cpu.items():
        found[f"utilization.cpu.{group}"] = _share(mean, [each[group] for each in cpu])
    return {
        name: interval.of(measured.evidence)
        for name, interval in found.items()
        if interval is not None
    }


def exposed_comm_interval(launches: Sequence[MeasuredColumns]) -> Interval | None:
    """Return the communication of a step beside which nothing was computed, in seconds.

    Args:
        launches: Of one cluster; those that did not record it of every step do not count.

    Returns:
        The mean over ranks and steps; None: no launch recorded it.
    """
    exposed_s = [each.steps[STEP["exposed_comm_s"]] for each in launches]
    known_s = [each for each in exposed_s if np.isfinite(each).all()]
    return mean_interval(known_s) if known_s else None


def bill_intervals(mean: Bill | None, bills: Sequence[Bill]) -> dict[str, Interval]:
    """Return the intervals of what is known of a bill.

    Args:
        mean: Of the bills, or None.
        bills: Of each launch.

    Returns:
        By ``bill.`` and the name of the field.
    """
    if mean is None:
        return {}
    fields = [name for name in _BILLED if getattr(mean, name) is not None]
    found = {name: _of_times([getattr(bill, name) for bill in bills]) for name in fields}
    return {
        f"bill.{name}": interval.of(mean.evidence)
        for name, interval in found.items()
        if interval is not None
    }


def saving_per_job(
    baseline: tuple[MeasuredCluster, ClusterResult],
    candidate: tuple[MeasuredCluster, ClusterResult],
    *,
    candidates: int,
    looks: int,
) -> Interval | None:
    """Return the share of a whole launch's cost that the candidate saves, with its interval.

    Args:
        baseline: The cluster that it refers to, and its result.
        candidate: The other cluster, and its result.
        candidates: Clusters that are compared with the baseline.
        looks: As for the speed-up.

    Returns:
        None: a price is unknown, or when a launch began or ended.
    """
    before, after = (_billed_s(measured.launches) for measured, _ in (baseline, candidate))
    if before is None or after is None:
        return None
    ratio = ratio_interval(
        before,
        after,
        paired=baseline[0].rounds == candidate[0].rounds,
        candidates=candidates,
        looks=looks,
    )
    return saving_interval(
        speedup=ratio,
        baseline_usd_per_hour=baseline[1].usd_per_hour,
        candidate_usd_per_hour=candidate[1].usd_per_hour,
    )


def _billed_s(launches: Sequence[MeasuredLaunch]) -> list[NDArray[np.float64]] | None:
    seconds = [launch.billed_s() for launch in launches]
    return [np.array([each]) for each in seconds if each] if all(seconds) else None


def _of_times(seconds: Sequence[float | None]) -> Interval | None:
    known = [each for each in seconds if each is not None]
    if not known:
        return None
    found = launch_interval(known)  # a time of 0 has one that is not of logarithms
    return found.at(found.mean, max(0.0, found.low), found.high)


def _usd_per_job(
    launches: Sequence[MeasuredLaunch], usd_per_hour: float | None
) -> Interval | None:
    billed_s = _of_times([launch.billed_s() for launch in launches])
    if billed_s is None or usd_per_hour is None:
        return None
    return billed_s.scaled(usd_per_hour / _SECONDS_PER_HOUR)


def _share(mean: float | None, values: Sequence[float | None]) -> Interval | None:
    known = [value for value in values if value is not None]
    return share_interval(mean, known) if mean is not None and known else None
