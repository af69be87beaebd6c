"""Makes a scaling study's result out of the records of its runs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.compared.cautions import TRAINS_APART
from smtc_lab.metrics.compared.measured_cluster import measured_clusters, speedup_of
from smtc_lab.metrics.compared.result_cautions import UNLIKE_SAMPLES
from smtc_lab.metrics.cost import usd_per_step
from smtc_lab.metrics.records.cluster_time import dilation_of_job
from smtc_lab.metrics.scaling.advice import advice
from smtc_lab.metrics.scaling.efficiency import (
    cost_efficiency,
    efficiency,
    knee,
    marginal_efficiency,
    speedup,
)
from smtc_lab.metrics.scaling.lost import lost_parts, parts_of_steps
from smtc_lab.metrics.scaling.scaling import LostPart, Mode, Scaling, ScalingCurve, ScalingPoint
from smtc_lab.metrics.scaling.verdict import verdict_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.metrics.compared.comparison import ClusterResult, Comparison
    from smtc_lab.metrics.compared.measured_cluster import MeasuredCluster
    from smtc_lab.metrics.measured_launch import MeasuredLaunch
    from smtc_lab.metrics.records.records import RunRecords, StepRecord
    from smtc_lab.metrics.result import Interval

DEFAULT_BOUND = 0.5
"""Share of a device that an added one must bring, where nobody says it."""

_MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class ScaledSetUp:
    """One set-up of a scaling study."""

    set_up: str
    """Name in tables and charts."""

    curve: str
    """Which job it is of."""

    devices: int
    """Trainers."""

    instances: int
    """Training instances."""

    idle_devices: int = 0
    """Accelerators of these instances without a trainer."""


@dataclass(frozen=True, kw_only=True)
class ScalingQuestion:
    """What was asked of a scaling study."""

    mode: Mode
    set_ups: tuple[ScaledSetUp, ...]
    """In the order of the study; each curve with the fewest devices first."""

    bound: float = DEFAULT_BOUND
    samples_per_epoch: int | None = None
    catalog: Catalog
    looks: int = 1
    """Moments at which the result is looked at before it is the final one."""


@dataclass(frozen=True, kw_only=True)
class _Measured:
    """A set-up with its launches."""

    design: ScaledSetUp
    cluster: MeasuredCluster
    result: ClusterResult

    @property
    def samples_per_step(self) -> float | None:
        counts = [launch.num_samples() for launch in self.cluster.launches]
        known = [count for count in counts if count is not None]
        steps = sum(len(launch.step_time_s) for launch in self.cluster.launches)
        return sum(known) / steps if len(known) == len(counts) else None

    def growth_over(self, fewer: _Measured, mode: Mode) -> float:
        """Return the samples of a step over those of another set-up."""
        own, other = self.samples_per_step, fewer.samples_per_step
        if own is not None and other:
            return own / other
        return self.design.devices / fewer.design.devices if mode == "weak" else 1.0


def scaling_of(
    runs: Sequence[RunRecords], comparison: Comparison, question: ScalingQuestion
) -> Scaling:
    """Return how a job grows with its devices, by the runs of whole rounds.

    A set-up whose trainers each train the model by themselves is no point of a curve.
    Every ratio holds over all set-ups but one, and over every look, as in a comparison of them.

    Args:
        runs: At least one for each set-up, told apart by their labels, the first one's first.
        comparison: What ``compare_runs`` made of them.
        question: What was asked.

    Raises:
        ValueError: A set-up has no completed run or no measured step.
    """
    measured = {cluster.label: cluster for cluster in measured_clusters(runs)}
    results = {cluster.name: cluster for cluster in comparison.clusters}
    found = [
        _Measured(design=each, cluster=measured[each.set_up], result=results[each.set_up])
        for each in question.set_ups
        if each.set_up in measured and not measured[each.set_up].trains_apart
    ]
    curves = tuple(
        _curve(name, [each for each in found if each.design.curve == name], found, question)
        for name in dict.fromkeys(each.design.curve for each in found)
    )
    jobs = {each.design.set_up: each.cluster.launches[0].run.job for each in found}
    made = Scaling(
        mode=question.mode,
        bound=question.bound,
        samples_per_epoch=question.samples_per_epoch,
        curves=curves,
        verdict="",
        comparison=comparison,
    )
    cautions = [each for each in comparison.findings if each.kind != UNLIKE_SAMPLES]
    first = [each for each in cautions if each.kind == TRAINS_APART]
    findings = (
        *first,
        *advice(made, jobs, question.catalog),
        *(each for each in cautions if each not in first),
    )
    told = made.model_copy(update={"findings": findings})
    return told.model_copy(update={"verdict": verdict_of(told)})


def _curve(
    name: str,
    points: Sequence[_Measured],
    all_points: Sequence[_Measured],
    question: ScalingQuestion,
) -> ScalingCurve:
    candidates = max(1, len(all_points) - 1)
    marginal = [
        marginal_efficiency(
            _speedup(before, after, question, candidates),
            devices_growth=after.design.devices / before.design.devices,
        )
        for before, after in pairwise(points)
    ]
    made = [
        _point(each, points[0], all_points[0], question, candidates).model_copy(
            update={"marginal_efficiency": brought}
        )
        for each, brought in zip(points, [None, *marginal], strict=True)
    ]
    devices = [each.design.devices for each in points]
    return ScalingCurve(
        name=name, points=tuple(made), knee=knee(devices, marginal, bound=question.bound)
    )


def _point(
    point: _Measured,
    fewest: _Measured,
    first: _Measured,
    question: ScalingQuestion,
    candidates: int,
) -> ScalingPoint:
    """Return a point with what it is compared with, but for the point before it."""
    growth = point.design.devices / fewest.design.devices
    ideal = point.growth_over(fewest, question.mode) / growth
    made = _alone(point, ideal * fewest.result.step_time_s.mean, question)
    if point is not first:
        per_dollar = cost_efficiency(
            _speedup(first, point, question, candidates),
            usd_per_hour=point.result.usd_per_hour,
            baseline_usd_per_hour=first.result.usd_per_hour,
        )
        made = made.model_copy(update={"cost_efficiency": per_dollar})
    if point is fewest:
        return made
    sped_up = _speedup(fewest, point, question, candidates)
    loss_s, lost = lost_parts(
        *([_parts(launch) for launch in each.cluster.launches] for each in (point, fewest)),
        growth=ideal,
        candidates=candidates,
        looks=question.looks,
    )
    return made.model_copy(
        update={
            "speedup": sped_up,
            "efficiency": efficiency(sped_up, devices_growth=growth),
            "loss_s": loss_s.of(sped_up.evidence),
            "lost": tuple(
                LostPart(cause=part.cause, s_per_step=part.s_per_step.of(sped_up.evidence))
                for part in lost
            ),
        }
    )


def _alone(
    point: _Measured, ideal_step_time_s: float, question: ScalingQuestion
) -> ScalingPoint:
    """Return what a point is and costs, without what it is compared with."""
    design, result, samples = point.design, point.result, point.samples_per_step
    usd_per_hour, epoch = result.usd_per_hour, question.samples_per_epoch
    of_step = usd_per_step(step_time_s=result.step_time_s, usd_per_hour=usd_per_hour)
    steps_of_million = None if not samples else _MILLION / samples
    steps_of_epoch = None if not samples or epoch is None else epoch / samples
    return ScalingPoint(
        set_up=design.set_up,
        devices=design.devices,
        instances=design.instances,
        idle_devices=design.idle_devices,
        usd_per_hour=usd_per_hour,
        step_time_s=result.step_time_s,
        samples_per_step=samples,
        speedup=None,
        efficiency=None,
        marginal_efficiency=None,
        cost_efficiency=None,
        usd_per_million_samples=_times(of_step, steps_of_million),
        epoch_s=_times(result.step_time_s, steps_of_epoch),
        usd_per_epoch=_times(of_step, steps_of_epoch),
        ideal_step_time_s=ideal_step_time_s,
        loss_s=None,
        exposed_comm_s=result.exposed_comm_s,
    )


def _times(interval: Interval | None, factor: float | None) -> Interval | None:
    return None if interval is None or factor is None else interval.scaled(factor)


def _speedup(
    fewer: _Measured, more: _Measured, question: ScalingQuestion, candidates: int
) -> Interval:
    ratio = speedup_of(fewer.cluster, more.cluster, candidates=candidates, looks=question.looks)
    return speedup(ratio, samples_growth=more.growth_over(fewer, question.mode))


def _parts(launch: MeasuredLaunch) -> NDArray[np.float64]:
    """Return the parts of a launch's measured steps, shape (5, S)."""
    by_rank = [
        {record.step: record for record in records}
        for records in launch.run.steps.values()
        if records
    ]
    common = sorted(set[int].intersection(*map(set, by_rank)))[launch.warm_up_steps :]
    # one trainer exchanges nothing and waits for nobody
    unknown = 0.0 if len(by_rank) == 1 else None
    columns = np.array(
        [[_recorded(records[step], unknown) for step in common] for records in by_rank],
        dtype=np.float64,
    )
    return parts_of_steps(*np.moveaxis(columns, 2, 0) / dilation_of_job(launch.run.job))


def _recorded(record: StepRecord, unknown: float | None) -> tuple[float | None, ...]:
    exposed_s, wait_s = record.exposed_comm_s, record.rank_wait_s
    return (
        record.step_time_s,
        record.data_wait_s,
        record.device_time_s,
        unknown if exposed_s is None else exposed_s,
        unknown if wait_s is None else wait_s,
    )
