"""The runs of a compared cluster, as the series that charts are drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.bill import bill_of
from smtc_lab.metrics.columns import STEP, steps_of
from smtc_lab.metrics.records.cluster_time import dilation_of_job
from smtc_lab.metrics.records.interrupted import interrupted
from smtc_lab.metrics.result import evidence_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.metrics.bill import Bill
    from smtc_lab.metrics.compared.comparison import ClusterResult
    from smtc_lab.metrics.records.records import RunRecords

    Floats = NDArray[np.float64]

_LEAST = 1e-4
"""Below this much of a bin is rounding: seconds since the epoch are exact to 0.2 µs."""


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One run of a cluster, and how much of its begin was not measured."""

    number: int
    """Place among the launches of its cluster, from 1."""

    run: RunRecords
    """What the run left behind."""

    warm_up_steps: int
    """Steps left out at the begin of each rank."""

    @cached_property
    def columns(self) -> Floats:
        """The steps of the job, shape (C, steps), as in ``metrics.columns.STEP_COLUMNS``."""
        return steps_of(self.run)

    @property
    def step_time_s(self) -> Floats:
        """Its step times in seconds, the longest of all ranks in each, shape (steps,)."""
        times_s: Floats = self.columns[STEP["step_time_s"]]
        return times_s

    @property
    def num_steps(self) -> int:
        """Steps that every rank made."""
        return len(self.step_time_s)

    @property
    def first_step_begin_s(self) -> float | None:
        """When the first step of any rank began, in seconds since the epoch."""
        return float(self.columns[STEP["begin_time_s"], 0]) if self.num_steps else None

    @property
    def bill(self) -> Bill:
        """Where its time went, without prices."""
        ends_s = self.columns[STEP["end_time_s"]]
        begin_s = self.first_step_begin_s
        return bill_of(
            started_s=self.run.started_s,
            steps=None if begin_s is None else (begin_s, float(ends_s.max())),
            ended_s=self.run.ended_s,
            usd_per_hour=None,
            evidence=evidence_of(self.run.job),
            interrupted=interrupted(
                self.run.attempts,
                self.columns[[STEP["begin_time_s"], STEP["end_time_s"]]],
                ended_s=self.run.ended_s,
            ),
            dilation=dilation_of_job(self.run.job),
        )


def launches_of(cluster: ClusterResult, runs: Sequence[RunRecords]) -> list[Launch]:
    """Return the launches of a cluster in its own order, without runs that are not given."""
    by_name = {run.job.job_name: run for run in runs}
    warm_up = dict(zip(cluster.runs, cluster.warm_up_steps, strict=False))
    return [
        Launch(number=number, run=by_name[name], warm_up_steps=warm_up.get(name, 0))
        for number, name in enumerate(cluster.runs, start=1)
        if name in by_name
    ]


def measured_step_times(launches: Sequence[Launch]) -> Floats:
    """Return the job's step times behind the warm-up, in seconds, sorted, shape (steps,)."""
    times_s = [launch.step_time_s[launch.warm_up_steps :] for launch in launches]
    return np.sort(np.concatenate([np.empty(0), *times_s]))


def rolling_mean(values: Floats, window: int) -> Floats:
    """Return the centred mean over ``window`` values; near the ends over those that exist."""
    if window < 1:
        raise ValueError(f"window={window} is below 1. Give the number of values to average.")
    half = window // 2
    sums = np.concatenate(([0.0], np.cumsum(values)))
    place = np.arange(values.size)
    first = np.maximum(place - half, 0)
    last = np.minimum(place + half + 1, values.size)
    means: Floats = (sums[last] - sums[first]) / (last - first)
    return means


def time_edges(launches: Sequence[Launch], *, most_bins: int = 80) -> Floats:
    """Return the edges of equal bins over the longest launch, in seconds from its first step.

    Bins are at least one second wide, so that each holds a system sample or two; the edges
    begin at the earliest start-up. Empty when no launch made a step.
    """
    begins_s, ends_s = [], []
    for launch in launches:
        zero_s = launch.first_step_begin_s
        if zero_s is None:
            continue
        last_s = float(launch.columns[STEP["end_time_s"], -1])
        begins_s.append((launch.run.started_s or zero_s) - zero_s)
        ends_s.append(last_s - zero_s)
    if not ends_s:
        return np.empty(0)
    begin_s, end_s = min(*begins_s, 0.0), max(ends_s)
    width_s = max(1.0, float(end_s - begin_s) / most_bins)
    # An edge at 0 keeps start-up and steps apart.
    before = int(np.ceil(-begin_s / width_s))
    after = max(1, int(np.ceil(end_s / width_s)))
    edges: Floats = width_s * np.arange(-before, after + 1.0)
    return edges


def cpu_fractions(
    launches: Sequence[Launch], hosts: Sequence[str], edges: Floats, quota_cores: float | None
) -> Floats:
    """Return CPU time used over CPU time at hand in each bin, NaN where nothing was sampled.

    Args:
        launches: The launches to add up.
        hosts: The hosts of one instance group.
        edges: Bin edges in seconds from the first step, shape (B + 1,).
        quota_cores: Cores of a host where a sample has no quota of its own; None: unknown.

    Returns:
        Fractions from 0 to 1, shape (B,).
    """
    rows = [
        (
            sample.time_s - sample.interval_s / 2 - zero_s,
            sample.cpu_used_s,
            sample.interval_s * cores,
        )
        for launch in launches
        if (zero_s := launch.first_step_begin_s) is not None
        for host in hosts
        for sample in launch.run.system.get(host, ())
        if (cores := sample.cpu_quota_cores or quota_cores) is not None
    ]
    return _fractions(rows, edges)


def gpu_fractions(launches: Sequence[Launch], edges: Floats) -> Floats:
    """Return the devices' busy share in each bin, NaN where nothing is known, shape (B,).

    It is what NVML saw where there was a GPU, else device time over step time.
    """
    sampled = [
        (
            sample.time_s - sample.interval_s / 2 - zero_s,
            sample.gpu_utilization_fraction * sample.interval_s,
            sample.interval_s,
        )
        for launch in launches
        if (zero_s := launch.first_step_begin_s) is not None
        for samples in launch.run.system.values()
        for sample in samples
        if sample.gpu_utilization_fraction is not None
    ]
    if sampled:
        return _fractions(sampled, edges)
    busy_s, covered_s = np.zeros(max(0, edges.size - 1)), np.zeros(max(0, edges.size - 1))
    for launch in launches:
        zero_s = launch.first_step_begin_s
        if zero_s is None or edges.size < 2:
            continue
        ends_s = launch.columns[STEP["end_time_s"]] - zero_s
        device_s = launch.columns[STEP["device_time_s"]]
        known_s = np.where(np.isnan(device_s), 0.0, launch.columns[STEP["rank_time_s"]])
        busy_s += _spread(0.0, ends_s, np.nan_to_num(device_s), edges)
        covered_s += _spread(0.0, ends_s, known_s, edges)
    return _ratio(busy_s, covered_s)


def _spread(begin_s: float, ends_s: Floats, amounts: Floats, edges: Floats) -> Floats:
    """Return how much falls in each bin when each amount is even from one end to the next."""
    times_s = np.concatenate(([begin_s], ends_s))
    sums = np.concatenate(([0.0], np.cumsum(amounts)))
    spread: Floats = np.diff(np.interp(edges, times_s, sums))
    return spread


def _fractions(rows: list[tuple[float, float, float]], edges: Floats) -> Floats:
    array = np.array(rows, dtype=np.float64).reshape(-1, 3)
    return np.clip(_binned_ratio(array[:, 0], array[:, 1], array[:, 2], edges), 0.0, 1.0)


def _binned_ratio(place: Floats, above: Floats, below: Floats, edges: Floats) -> Floats:
    """Return the sum of ``above`` over the sum of ``below`` in each bin; NaN: it is empty."""
    if edges.size < 2:
        return np.empty(0)
    sums = np.histogram(place, edges, weights=above)[0]
    weights = np.histogram(place, edges, weights=below)[0]
    return _ratio(sums, weights)


def _ratio(above: Floats, below: Floats) -> Floats:
    ratio: Floats = np.full(above.shape, np.nan)
    np.divide(above, below, out=ratio, where=below > _LEAST)
    return ratio
