"""What was seen of one cluster, over all its launches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from smtc_lab.catalog.roles import roles
from smtc_lab.metrics.bill import mean_bill
from smtc_lab.metrics.communication.spread import spread_of
from smtc_lab.metrics.compared.comparison import ClusterResult, GroupResult, Utilization
from smtc_lab.metrics.compared.launch_intervals import exposed_comm_interval
from smtc_lab.metrics.compared.prepared import (
    batches_by_group,
    dataloader_of,
    served_in,
    takers_of,
)
from smtc_lab.metrics.cost import usd_per_1000_steps, usd_per_job, usd_per_step
from smtc_lab.metrics.intervals import mean_interval
from smtc_lab.metrics.measured_columns import cpu_of_groups, samples_of_group
from smtc_lab.metrics.records.facts import cpu_quota_cores, cpu_quota_mechanism
from smtc_lab.metrics.utilization import (
    cpu_delivered_fraction,
    data_wait_fraction,
    delivered_interval,
    delivered_over_s,
    device_utilization,
)
from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.metrics.compared.measured_cluster import MeasuredCluster
    from smtc_lab.metrics.measured_launch import MeasuredLaunch
    from smtc_lab.metrics.result import Interval


def cluster_result(measured: MeasuredCluster, *, catalog: Catalog) -> ClusterResult:
    """Return the numbers of one cluster.

    Raises:
        CatalogError: An instance type is not in the catalog.
        ValueError: A launch has no start time.
    """
    launches = measured.launches
    steps = np.concatenate([launch.steps for launch in launches], axis=1)
    data_wait = data_wait_fraction(steps)
    if data_wait is None:
        raise ValueError(
            f"The {steps.shape[1]} measured steps of {measured.label!r} took no time, so "
            "nothing can be told of them. Time steps that do something."
        )
    step_time_s = mean_interval(measured.step_times_s).of(measured.evidence)
    usd_per_hour = catalog.usd_per_hour(measured.cluster)
    bills = [launch.bill(usd_per_hour=usd_per_hour) for launch in launches]
    exposed_s = exposed_comm_interval(launches)
    delivered = _delivered(launches)
    served = [served_in(launch.run) for launch in launches]
    first = launches[0].run
    return ClusterResult(
        name=measured.label,
        instance_groups=_group_results(measured, catalog),
        usd_per_hour=usd_per_hour,
        launches=len(launches),
        steps=steps.shape[1],
        warm_up_steps=tuple(launch.warm_up_steps for launch in launches),
        step_time_s=step_time_s,
        usd_per_1000_steps=usd_per_1000_steps(
            step_time_s=step_time_s, usd_per_hour=usd_per_hour
        ),
        usd_per_step=usd_per_step(step_time_s=step_time_s, usd_per_hour=usd_per_hour),
        usd_per_job=_mean_usd_per_job(measured, usd_per_hour),
        startup_s=_mean_startup_s(measured),
        samples_per_s=_samples_per_s(measured, step_time_s),
        data_wait_fraction=data_wait,
        exposed_comm_s=None if exposed_s is None else exposed_s.of(measured.evidence),
        utilization=Utilization(device=device_utilization(steps), cpu=cpu_of_groups(launches)),
        cpu_delivered_fraction=None if delivered is None else delivered.fraction,
        cpu_delivered=None if delivered is None else delivered.interval,
        cpu_delivered_over_s=None if delivered is None else delivered.over_s,
        cpu_quota_mechanism=", ".join(
            dict.fromkeys(cpu_quota_mechanism(launch.run) for launch in launches)
        ),
        runs=tuple(launch.run.job.job_name or "" for launch in launches),
        batches=batches_by_group(measured.cluster, served, takers=takers_of(first.job)),
        dataloader=dataloader_of(served),
        bill=mean_bill(bills, usd_per_hour=usd_per_hour),
        spread=spread_of(first.job, len(first.steps)),
        hyperparameters=first.job.hyperparameters,
        arguments=first.job.arguments,
    )


class _Delivered(NamedTuple):
    """CPU time delivered over asked, of the group that got the least."""

    fraction: float
    interval: Interval | None
    over_s: float


def _delivered(launches: Sequence[MeasuredLaunch]) -> _Delivered | None:
    found = []
    for group in launches[0].cluster.instance_groups:
        name = group.instance_group_name
        fraction = cpu_delivered_fraction(samples_of_group(launches, name))
        if fraction is not None:
            windows = [launch.group_samples(name) for launch in launches]
            interval = delivered_interval(windows)
            found.append(_Delivered(fraction, interval, delivered_over_s(windows)))
    return min(found, key=lambda each: each.fraction, default=None)


def _group_results(measured: MeasuredCluster, catalog: Catalog) -> tuple[GroupResult, ...]:
    role_of = roles(measured.cluster, catalog)
    run = measured.launches[0].run
    results = []
    for group in measured.cluster.instance_groups:
        known = None if group.instance_type == LOCAL else catalog.get(group.instance_type)
        price = known.price if known else None
        hosts = [host for host, of in measured.cluster.hosts().items() if of == group]
        results.append(
            GroupResult(
                instance_group_name=group.instance_group_name,
                instance_type=group.instance_type,
                instance_count=group.instance_count,
                role=role_of[group.instance_group_name],
                runs=group.runs,
                vcpus=known.vcpus if known else None,
                usd_per_hour=price.usd_per_hour if price else None,
                price_kind=price.kind if price else None,
                price_date=price.date if price else None,
                cpu_quota_cores=cpu_quota_cores(run, hosts[0]),
            )
        )
    return tuple(results)


def _samples_per_s(measured: MeasuredCluster, step_time_s: Interval) -> Interval | None:
    """Return samples per second of the job: all ranks' samples over the job's step times."""
    counts = [launch.num_samples() for launch in measured.launches]
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return None
    per_step = sum(known) / sum(len(launch.step_time_s) for launch in measured.launches)
    return step_time_s.at(
        per_step / step_time_s.mean, per_step / step_time_s.high, per_step / step_time_s.low
    )


def _mean_startup_s(measured: MeasuredCluster) -> float:
    startups_s = [launch.startup_s() for launch in measured.launches]
    known_s = [startup_s for startup_s in startups_s if startup_s is not None]
    if len(known_s) < len(startups_s):
        name = measured.launches[startups_s.index(None)].run.job.job_name
        raise ValueError(
            f"Run {name} of {measured.label} has no start time (started_s=None), so its "
            "start-up cannot be told. Run it again."
        )
    return sum(known_s) / len(known_s)


def _mean_usd_per_job(measured: MeasuredCluster, usd_per_hour: float | None) -> float | None:
    if measured.evidence == "emulated":  # start-up and end are this machine's own
        return None
    billed_s = [launch.billed_s() for launch in measured.launches]
    costs_usd = [
        usd_per_job(billed_s=seconds, usd_per_hour=usd_per_hour)
        for seconds in billed_s
        if seconds is not None
    ]
    known_usd = [cost_usd for cost_usd in costs_usd if cost_usd is not None]
    return sum(known_usd) / len(known_usd) if known_usd else None
