"""What a browser is told of a scaling study, beside what it is told of any comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.metrics.result import Interval  # noqa: TC001  pydantic reads it
from smtc_lab.metrics.scaling.scaling import Cause, Mode  # noqa: TC001  pydantic reads it
from smtc_lab.study.scaling.scale import SCALING
from smtc_lab.views.study.info import Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.scaling.scaling import Scaling, ScalingPoint
    from smtc_lab.views.study.info import ComparisonInfo


@dataclass(frozen=True, kw_only=True)
class LostInfo:
    """A part of what a step takes longer than ideally."""

    cause: Cause
    """What it is lost to."""

    s_per_step: Interval
    """In seconds; below 0: it takes less than ideally."""


@dataclass(frozen=True, kw_only=True)
class ScaledPoint:
    """One number of devices."""

    set_up: int
    """Place of the set-up."""

    devices: int
    """Trainers."""

    speedup: Interval | None
    """Samples per second over those of the curve's fewest devices; None: these are they."""

    efficiency: Interval | None
    """The same over the growth of devices; None: as ``speedup``."""

    marginal_efficiency: Interval | None
    """What each added device brings, over what each before brings; None: none was added."""

    step_time_s: float
    """Mean step time in seconds."""

    ideal_step_time_s: float
    """What it would be if it scaled ideally, in seconds."""

    lost: tuple[LostInfo, ...]
    """What the difference goes to; the parts add up to it."""

    usd_per_million_samples: Interval | None
    """Cost of the steps of a million samples in USD; None: unknown."""

    usd_per_epoch: Interval | None
    """Cost of those of an epoch in USD; None: unknown, or nobody asked."""


@dataclass(frozen=True, kw_only=True)
class ScaledCurve:
    """Points of one job."""

    name: str
    """What the job is called."""

    knee: int | None
    """Devices up to which each added one brings more than ``bound``; None: not told yet, or
    none does, so that the first point is no knee to be shown."""

    points: tuple[ScaledPoint, ...]
    """The fewest devices first."""


@dataclass(frozen=True, kw_only=True)
class ScalingInfo:
    """How a job grows with its devices, by the rounds that are whole."""

    mode: Mode
    """What stays the same."""

    bound: float
    """Share of a device that an added one must bring, for the knee."""

    curves: tuple[ScaledCurve, ...]
    """One for each job."""


def scaling_info(scaling: Scaling, set_ups: Sequence[str]) -> ScalingInfo:
    """Return what a view is told of a result.

    Args:
        scaling: The result, or that of the rounds so far.
        set_ups: Names of all set-ups, in the order of the view.
    """
    return ScalingInfo(
        mode=scaling.mode,
        bound=scaling.bound,
        curves=tuple(
            ScaledCurve(
                name=curve.name,
                knee=None if curve.knee == curve.points[0].devices else curve.knee,
                points=tuple(
                    _point(each, set_ups) for each in curve.points if each.set_up in set_ups
                ),
            )
            for curve in scaling.curves
        ),
    )


def scaling_section(scaling: Scaling, set_ups: Sequence[str]) -> tuple[Section, ...]:
    """Return its charts as a study shows them, arguments as of ``scaling_info``."""
    return (Section(name=SCALING, values=scaling_info(scaling, set_ups)),)


def scaling_of(info: ComparisonInfo) -> ScalingInfo | None:
    """Return what a study tells of how its job grows; None: nothing."""
    return next((one.values for one in info.sections if one.name == SCALING), None)


def _point(point: ScalingPoint, set_ups: Sequence[str]) -> ScaledPoint:
    return ScaledPoint(
        set_up=set_ups.index(point.set_up),
        devices=point.devices,
        speedup=point.speedup,
        efficiency=point.efficiency,
        marginal_efficiency=point.marginal_efficiency,
        step_time_s=point.step_time_s.mean,
        ideal_step_time_s=point.ideal_step_time_s,
        lost=tuple(
            LostInfo(cause=part.cause, s_per_step=part.s_per_step) for part in point.lost
        ),
        usd_per_million_samples=point.usd_per_million_samples,
        usd_per_epoch=point.usd_per_epoch,
    )
