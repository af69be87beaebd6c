"""What is seen of a set-up while its launches still run, from all steps so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.bill import mean_bill
from smtc_lab.metrics.columns import STEP_COLUMNS
from smtc_lab.metrics.compared.launch_intervals import bill_intervals, exposed_comm_interval
from smtc_lab.metrics.compared.prepared import batches_by_group, dataloader_of, takers_of
from smtc_lab.metrics.intervals import mean_interval
from smtc_lab.metrics.measured_columns import cpu_of_groups
from smtc_lab.metrics.utilization import data_wait_fraction, device_utilization

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.metrics.bill import Bill
    from smtc_lab.metrics.compared.comparison import Dataloader
    from smtc_lab.metrics.result import Interval
    from smtc_lab.spec.cluster import Cluster
    from smtc_lab.views.study.followed_launch import FollowedLaunch


@dataclass(frozen=True, kw_only=True)
class SetUpEstimate:
    """What is seen of one set-up so far, warm-up left out."""

    steps: int
    """Steps of all its launches."""

    trainers: int | None
    """Trainers of a launch; None: nothing was launched yet."""

    warm_up_steps: int
    """Steps that were left out, of all its launches."""

    step_time_s: Interval | None
    """Mean step time in seconds; None: no step yet."""

    data_wait_fraction: float | None
    """Data wait over step time; None: no step yet."""

    exposed_comm_s: Interval | None
    """Communication of a step with nothing beside it, in seconds; None: not recorded."""

    device_fraction: float | None
    """Device time over step time; None: not known."""

    cpu: dict[str, float | None]
    """By group: CPU time used over CPU time at hand; None: not known."""

    bill: Bill | None
    """Means over its launches that have completed, as of a result; while none has, of the one
    that runs. None: nothing is known."""

    bill_intervals: dict[str, Interval]
    """Of that, by name, ``bill.end_s`` and so on; empty: no launch has completed."""

    batches: dict[str, int]
    """By group: batches that it prepared; empty: not known."""

    dataloader: Dataloader | None
    """Whose dataloader most batches came through; None: not known."""

    billed_s: float
    """Time of all its launches from start to end, or until now, in seconds."""

    stepping_s: float
    """Of that, from the first step of each launch to its last one so far."""


def set_up_estimate(
    launches: Sequence[FollowedLaunch],
    cluster: Cluster,
    *,
    usd_per_hour: float | None = None,
) -> SetUpEstimate:
    """Return what is seen of a set-up.

    Args:
        launches: Its launches so far.
        cluster: Where it runs.
        usd_per_hour: Price of its cluster; None: unknown.
    """
    seen = [(launch, found) for launch in launches if (found := launch.measured()) is not None]
    measured = [found for _, found in seen]
    served = [launch.served for launch, _ in seen]
    steps = np.concatenate(
        [np.empty((len(STEP_COLUMNS), 0)), *(launch.steps for launch in measured)], axis=1
    )
    bills = {
        launch: bill
        for launch in launches
        if (bill := launch.bill(usd_per_hour=usd_per_hour)) is not None
    }
    bill, intervals = _mean_bill(bills, usd_per_hour)
    takers = takers_of(launches[0].follower.job) if launches else 1
    groups = [group.instance_group_name for group in cluster.instance_groups]
    return SetUpEstimate(
        steps=steps.shape[1],
        trainers=launches[0].follower.num_trainers if launches else None,
        warm_up_steps=sum(launch.warm_up_steps for launch in measured),
        step_time_s=mean_interval([launch.step_time_s for launch in measured])
        if measured
        else None,
        data_wait_fraction=data_wait_fraction(steps),
        exposed_comm_s=exposed_comm_interval(measured),
        device_fraction=device_utilization(steps),
        cpu=cpu_of_groups(measured) if measured else dict.fromkeys(groups),
        bill=bill,
        bill_intervals=intervals,
        batches=batches_by_group(cluster, served, takers=takers),
        dataloader=dataloader_of(served),
        billed_s=sum(launch.billed_s() for launch in launches),
        stepping_s=sum(bill.steps_s or 0.0 for bill in bills.values()),
    )


def _mean_bill(
    bills: Mapping[FollowedLaunch, Bill], usd_per_hour: float | None
) -> tuple[Bill | None, dict[str, Interval]]:
    whole = [bill for launch, bill in bills.items() if launch.records is not None]
    running = [bill for launch, bill in bills.items() if not launch.is_over]
    mean = mean_bill(whole or running, usd_per_hour=usd_per_hour)
    return mean, bill_intervals(mean, whole) if whole else {}
