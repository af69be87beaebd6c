"""What is seen of a set-up while its launches still run, from all steps so far."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.machine.environments.named import TODAY
from smtc_lab.metrics.bill import mean_bill
from smtc_lab.metrics.columns import STEP_COLUMNS
from smtc_lab.metrics.communication.spread import spread_of
from smtc_lab.metrics.compared.comparison import Utilization
from smtc_lab.metrics.compared.environments import EnvironmentResult
from smtc_lab.metrics.compared.launch_intervals import bill_intervals, exposed_comm_interval
from smtc_lab.metrics.compared.prepared import batches_by_group, dataloader_of, takers_of
from smtc_lab.metrics.cost import usd_of_run, usd_per_1000_steps
from smtc_lab.metrics.intervals import mean_interval
from smtc_lab.metrics.measured_columns import cpu_of_groups
from smtc_lab.metrics.result import evidence_of
from smtc_lab.metrics.utilization import data_wait_fraction, device_utilization
from smtc_lab.views.text.set_ups import SetUpEstimate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.metrics.bill import Bill
    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.result import Interval
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.views.study.followed_launch import FollowedLaunch


def set_up_estimate(
    launches: Sequence[FollowedLaunch], job: TrainingJob, *, usd_per_hour: float | None = None
) -> SetUpEstimate:
    """Return what is seen of a set-up.

    Args:
        launches: Its launches so far.
        job: What is launched.
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
    groups = job.cluster.instance_groups
    unknown = dict.fromkeys(group.instance_group_name for group in groups)
    step_time_s = mean_interval([each.step_time_s for each in measured]) if measured else None
    evidence = evidence_of(job)
    return SetUpEstimate(
        name=job.cluster.label,
        instance_groups=groups,
        usd_per_hour=usd_per_hour,
        spread=spread_of(job, launches[0].follower.num_trainers if launches else None),
        launches=len(measured),
        steps=steps.shape[1],
        warm_up_steps=tuple(launch.warm_up_steps for launch in measured),
        step_time_s=step_time_s,
        usd_per_1000_steps=step_time_s
        and usd_per_1000_steps(step_time_s=step_time_s, usd_per_hour=usd_per_hour),
        data_wait_fraction=data_wait_fraction(steps),
        exposed_comm_s=exposed_comm_interval(measured),
        utilization=Utilization(
            device=device_utilization(steps),
            cpu=cpu_of_groups(measured) if measured else unknown,
        ),
        bill=bill,
        intervals=intervals,
        batches=batches_by_group(
            job.cluster, served, takers=takers_of(launches[0].follower.job) if launches else 1
        ),
        dataloader=dataloader_of(served),
        evidence=evidence,
        usd_so_far=usd_of_run(
            evidence=evidence,
            whole_s=sum(launch.billed_s() for launch in launches),
            steps_s=sum(bill.steps_s or 0.0 for bill in bills.values()),
            usd_per_hour=usd_per_hour,
        ),
    )


def with_result(
    estimates: Sequence[SetUpEstimate],
    comparison: Comparison | None,
    environments: Sequence[str],
) -> tuple[SetUpEstimate, ...]:
    """Return estimates with what only complete rounds tell.

    Args:
        estimates: What is seen of each set-up.
        comparison: The comparison of the complete rounds; None: there is none.
        environments: Python environment of each; empty: the one that launches.
    """
    clusters = () if comparison is None else comparison.clusters
    results = {cluster.name: cluster for cluster in clusters}
    told = []
    for name, estimate in zip(environments, estimates, strict=True):
        result = results.get(estimate.name)
        environment = None if result is None else result.environment
        if environment is None and len(set(environments)) > 1:
            environment = EnvironmentResult(name=name or TODAY, python="", torch=None)
        compiler = None if result is None else result.compiler
        told.append(replace(estimate, compiler=compiler, environment=environment))
    return tuple(told)


def _mean_bill(
    bills: Mapping[FollowedLaunch, Bill], usd_per_hour: float | None
) -> tuple[Bill | None, dict[str, Interval]]:
    whole = [bill for launch, bill in bills.items() if launch.records is not None]
    running = [bill for launch, bill in bills.items() if not launch.is_over]
    mean = mean_bill(whole or running, usd_per_hour=usd_per_hour)
    return mean, bill_intervals(mean, whole) if whole else {}
