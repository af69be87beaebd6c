"""One set-up in, one prediction out; many set-ups at once for a search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.errors import PlannerError
from smtc_lab.planner.calibration.parts import ASSUMED_SPREAD
from smtc_lab.planner.intervals import estimate
from smtc_lab.planner.model.exchange import said_of_ranks
from smtc_lab.planner.model.job import job_parts
from smtc_lab.planner.model.model import EXTRAPOLATION_ERROR, MODEL_ERROR, Model
from smtc_lab.planner.model.prediction import (
    STAGES,
    Bottleneck,
    Evidence,
    GradientExchange,
    IntervalBasis,
    Prediction,
    Stage,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.metrics.result import Interval
    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.planner.model.model import Times
    from smtc_lab.planner.model.setup import Setup

_TAIL_PERCENT = 10.0
_SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """What the price and the length of a job depend on, beside its step time."""

    usd_per_hour: float | None = None
    """Price of all instances in USD per hour; None: unknown."""

    is_rented: bool = True
    """Whether it has a price at all; this machine has none."""

    steps: int | None = None
    """Steps of the job; None: not given."""

    useful_fraction: float = 1.0
    """Share of the time that is not lost to interruptions and checkpoints."""

    billed_fraction: float = 1.0
    """Share of the time of the steps that is billed: all but waiting for spot instances."""

    is_extrapolated: bool = False
    """Whether the device time is of other hardware or of the user."""

    is_estimated: bool = False
    """Whether the calibration does not tell the device time, and it matters."""

    interval_basis: IntervalBasis = "calibrated machine"
    """Which of two intervals the estimates have."""

    cautions: tuple[str, ...] = ()
    """What a reader must know, beside what the model itself says."""


def predict(calibration: Calibration, setup: Setup, *, steps: int | None = None) -> Prediction:
    """Return what is predicted of one set-up, for example of this machine with other quotas.

    Args:
        calibration: What was measured.
        setup: One set-up. Its speeds are relative to the calibrated machine.
        steps: Steps of the job; None: nothing is said of a whole job.

    Raises:
        PlannerError: The calibration lacks what this set-up needs.
    """
    terms = Terms(is_rented=False, steps=steps)
    return predictions(Model(calibration), setup, [terms])[0]


def predictions(model: Model, setup: Setup, terms: Sequence[Terms]) -> list[Prediction]:
    """Return what is predicted of several set-ups.

    Args:
        model: The model, with its draws.
        setup: The set-ups.
        terms: Price and length of the job, one for each set-up.

    Raises:
        PlannerError: The calibration lacks what a set-up needs, or has no device time for it.
    """
    times = model.times(setup)
    if np.isnan(times.step_s).any():
        raise PlannerError(
            "The device time of a set-up is not known: its accelerator is another than the "
            "calibrated one. Give device_s={'<accelerator>': seconds per step}."
        )
    is_beyond, cautions = _said_of_all(model, setup)
    is_narrow = model.extrapolated(setup) is None
    is_estimated, why = model.unidentified(setup, times), _unidentified(model, setup)
    ranks = np.broadcast_to(setup.trainers * setup.devices, len(terms))
    about_ranks = said_of_ranks(model.inputs)
    names, ties = model.longest(times.stages)
    estimates = _estimates(times.step_s)
    return [
        _prediction(
            model.calibration,
            replace(
                each,
                is_extrapolated=is_beyond or each.is_extrapolated,
                is_estimated=bool(is_estimated[place]),
                interval_basis="calibrated machine" if is_narrow else "extrapolation",
                cautions=(
                    *cautions,
                    *(about_ranks if ranks[place] > 1 else []),
                    *([why] if is_estimated[place] else []),
                    *each.cautions,
                ),
            ),
            estimates[place],
            (stages_at(times, place), exchange_at(times, place)),
            (names[place], bool(ties[place])),
        )
        for place, each in enumerate(terms)
    ]


def _prediction(
    calibration: Calibration,
    terms: Terms,
    step_time_s: Interval,
    parts_s: tuple[dict[Stage, float | None], GradientExchange | None],
    longest: tuple[Bottleneck, bool],
) -> Prediction:
    stages_s, exchange = parts_s
    usd_per_s = None if terms.usd_per_hour is None else terms.usd_per_hour / _SECONDS_PER_HOUR
    usd_per_step = None if usd_per_s is None else step_time_s.scaled(usd_per_s)
    parts = job_parts(
        calibration,
        _steps_s(step_time_s, terms),
        usd_per_s=usd_per_s,
        billed_fraction=terms.billed_fraction,
    )
    job_s = None if parts is None else parts.whole_s
    return Prediction(
        step_time_s=step_time_s,
        usd_per_hour=terms.usd_per_hour,
        usd_per_step=usd_per_step,
        usd_per_1000_steps=None if usd_per_step is None else usd_per_step.scaled(1000),
        job_s=job_s,
        usd_per_job=None if parts is None else parts.whole_usd,
        parts=parts,
        stages_s=stages_s,
        exchange=exchange,
        utilization={
            stage: None if time_s is None else min(1.0, time_s / step_time_s.mean)
            for stage, time_s in stages_s.items()
        },
        bottleneck=longest[0],
        is_near_tie=longest[1],
        evidence=_evidence(terms),
        interval_basis=terms.interval_basis,
        unknown=_unknown(calibration, terms, stages_s),
        cautions=terms.cautions,
    )


def _evidence(terms: Terms) -> Evidence:
    if terms.is_estimated:
        return "estimated"
    return "extrapolated" if terms.is_extrapolated else "predicted"


def stages_at(times: Times, place: int) -> dict[Stage, float | None]:
    """Return the stages of one of several set-ups in seconds; None: unknown."""
    found: dict[Stage, float | None] = {}
    for stage in STAGES:
        values: NDArray[np.float64] = getattr(times.stages, stage)
        value = float(values[place, 0])
        found[stage] = None if np.isnan(value) else value
    return found


def exchange_at(times: Times, place: int) -> GradientExchange | None:
    """Return the exchange of gradients of one of several set-ups; None: there is none."""
    shape = times.step_s.shape
    all_reduce_s, exposed_s = (
        float(np.broadcast_to(each, shape)[place, 0])
        for each in (times.stages.exchange.all_reduce_s, times.stages.exchange.exposed_s)
    )
    if not all_reduce_s > 0:
        return None
    return GradientExchange(all_reduce_s=all_reduce_s, exposed_s=exposed_s)


def _estimates(draws: NDArray[np.float64]) -> list[Interval]:
    """Return numbers, the first draw of each row, with the 80 % intervals of the rows."""
    low, high = np.percentile(draws, [_TAIL_PERCENT, 100 - _TAIL_PERCENT], axis=1)
    mean = draws[:, 0]
    rows = zip(mean, np.minimum(mean, low), np.maximum(mean, high), strict=True)
    return [estimate(mean, low, high) for mean, low, high in rows]


def _steps_s(step_time_s: Interval, terms: Terms) -> Interval | None:
    if terms.steps is None:
        return None
    return step_time_s.scaled(terms.steps / max(terms.useful_fraction, 1e-9))


def _said_of_all(model: Model, setup: Setup) -> tuple[bool, tuple[str, ...]]:
    """Return whether the device time goes beyond the calibration, and cautions of all."""
    batch_size = setup.batch_size or model.inputs.batch_size
    cautions = []
    is_beyond = not model.inputs.is_measured_at(batch_size)
    if is_beyond:
        cautions.append(
            f"The device time of batches of {batch_size:,} samples is extrapolated."
        )
    declared_s = model.calibration.emulated_device_s
    if declared_s is not None:
        cautions.append(
            f"The device is emulated: it was declared to take {declared_s:g} s a step."
        )
    if not model.sharpness.is_fitted:
        cautions.append("How well the stages overlap is a default, not fitted to runs.")
    cautions += _said_of_launches(model.calibration)
    if why := model.extrapolated(setup):
        cautions.append(
            f"The interval is an extrapolation's ({100 * EXTRAPOLATION_ERROR:.0f} % of model "
            f"error, {100 * MODEL_ERROR:.0f} % on the calibrated machine): {why}."
        )
    return is_beyond, tuple(cautions)


def _said_of_launches(calibration: Calibration) -> list[str]:
    """Return what the intervals hold of launches that differ; nothing where they do not."""
    spread = calibration.launch_spread or ASSUMED_SPREAD
    if spread.cpu_sd == 0:
        return []
    sd = f"{100 * spread.cpu_sd:.2g} % (standard deviation)"
    if spread.repeats == 0:
        said = (
            "How far CPU-bound launches of one set-up lie apart was not measured: the "
            f"intervals assume {sd}. Calibrate again to measure it."
        )
    else:
        said = (
            f"CPU-bound launches of one set-up differ by {sd}, as {spread.repeats} repeated "
            "ones tell: the intervals hold that."
        )
    return [said]


def _unidentified(model: Model, setup: Setup) -> str:
    low_s, high_s = model.device_interval_s(setup)
    return (
        f"The device time is not identified: the calibration puts it at {low_s:.3g} to "
        f"{high_s:.3g} s a step, and it may bound this one. Add device_points, of steps with "
        "resident data, as calibrate() measures them, or give device_s."
    )


def _unknown(
    calibration: Calibration, terms: Terms, stages_s: dict[Stage, float | None]
) -> tuple[str, ...]:
    reasons = []
    if stages_s["network"] is None:
        reasons.append(
            "The time on the network is unknown (bytes per sample were not measured, or an "
            "instance type has no bandwidth in the catalog), so a step may take longer."
        )
    if terms.usd_per_hour is None and terms.is_rented:
        reasons.append("The cost is unknown: an instance type has no price.")
    if terms.steps is not None and calibration.startup_s is None:
        reasons.append("The time of a whole job is unknown: start-up was not measured.")
    elif terms.steps is not None and calibration.end_s is None:
        reasons.append(
            "The end of a job is unknown and left out: this calibration is of an older version."
        )
    return tuple(reasons)
