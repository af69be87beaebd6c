"""From what is foreseen of a set-up to what its form is told."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from smtc_lab.metrics.result import evidence_of
from smtc_lab.planner.forecast.exchanges import FEEDER
from smtc_lab.views.forecast.info import (
    AddedGroup,
    ForecastSetUp,
    KeptCalibration,
    TypeOffers,
)
from smtc_lab.views.live.foretold import Foretold
from smtc_lab.views.live.part_use import PartUse
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.planner.forecast.exchanges import Exchange
    from smtc_lab.planner.forecast.forecast import Foreseen
    from smtc_lab.spec.job import TrainingJob

_DIGITS = 4
"""Of a number of which thousands are told at each move of a pointer."""


def described(foreseen: Foreseen, job: TrainingJob, calibration: Calibration) -> ForecastSetUp:
    """Return what a form is told of one of its set-ups.

    Args:
        foreseen: What is predicted of it.
        job: The set-up.
        calibration: What it is predicted with.
    """
    made = foreseen.prediction
    groups = job.cluster.instance_groups
    return ForecastSetUp(
        calibration=_kept(calibration),
        is_emulated=evidence_of(job) == "emulated",
        step_time_s=made.step_time_s,
        usd_per_hour=made.usd_per_hour,
        usd_per_1000_steps=made.usd_per_1000_steps,
        usd_per_job=foreseen.usd_per_job,
        job_s=foreseen.job_s,
        bottleneck=made.bottleneck,
        is_near_tie=made.is_near_tie,
        limiting_workers=foreseen.limiting_workers,
        advice="" if foreseen.advice is None else fmt.plain(foreseen.advice.sentence),
        evidence=made.evidence,
        cautions=tuple(map(fmt.plain, (*made.unknown, *made.cautions))),
        utilization=PartUse(
            trainer_cpu=foreseen.cpu.trainer_fraction,
            data_cpu=foreseen.cpu.data_fraction,
            device=made.utilization["device"],
            network=made.utilization["network"] if foreseen.has_data else None,
        ),
        data_share=foreseen.cpu.data_share,
        offers=tuple(
            _offers(group.instance_group_name, exchange)
            for group, exchange in zip(groups, foreseen.of_groups, strict=True)
        ),
        added=_added(foreseen.with_data),
    )


def foretold_of(said: ForecastSetUp) -> Foretold | None:
    """Return what is kept of a prediction beside what it predicts; None: there is none."""
    if said.step_time_s is None:
        return None
    return Foretold(
        step_time_s=said.step_time_s,
        usd_per_1000_steps=said.usd_per_1000_steps,
        use=said.utilization,
    )


def _kept(calibration: Calibration) -> KeptCalibration:
    cpu, cores = calibration.machine.get("cpu"), calibration.machine.get("cores")
    known = cores if isinstance(cores, int | float) else None
    return KeptCalibration(
        created=fmt.plain(calibration.created, 40),
        machine=f"{fmt.cores(known)} of {fmt.plain(str(cpu), 60)}",
        emulated_device_s=calibration.emulated_device_s,
    )


def _offers(name: str, exchange: Exchange) -> TypeOffers:
    return TypeOffers(
        instance_group_name=name,
        step_time_s=tuple(map(_short, exchange.step_s.tolist())),
        usd_per_1000_steps=tuple(map(_short, exchange.usd_per_1000_steps.tolist())),
    )


def _added(exchange: Exchange) -> AddedGroup | None:
    step_s, usd = float(exchange.step_s[0]), float(exchange.usd_per_1000_steps[0])
    if not math.isfinite(step_s):
        return None
    return AddedGroup(
        instance_type=FEEDER,
        step_time_s=step_s,
        usd_per_1000_steps=usd if math.isfinite(usd) else None,
    )


def _short(value: float) -> float | None:
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
