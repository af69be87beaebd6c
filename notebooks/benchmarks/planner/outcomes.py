"""Predictions beside what was measured: errors, bottlenecks, intervals, choices."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from smtc_lab.planner.model.predict import predict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from notebooks.benchmarks.planner.cases import Case
    from notebooks.benchmarks.planner.measuring import CaseRun
    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.planner.model.prediction import Prediction

_TIE = 0.9

PRICES_USD = ((3.0, 0.5), (1.0, 1.0), (0.3, 1.0))
"""Made-up prices per hour, of a device and of a core: dear devices, and dear cores."""


@dataclass(frozen=True)
class Outcome:
    """One configuration, predicted and run."""

    run: CaseRun
    """What it took."""

    prediction: Prediction
    """What was predicted of it."""

    @property
    def error_fraction(self) -> float:
        """(predicted - measured) / measured step time."""
        return self.prediction.step_time_s.value / self.run.step_s - 1

    @property
    def is_inside(self) -> bool:
        """Whether the 80 % interval holds the measured mean."""
        estimate = self.prediction.step_time_s
        return estimate.low <= self.run.step_s <= estimate.high

    @property
    def limit(self) -> Literal["data", "trainer"] | None:
        """What really limits it; None: within 10 % of a tie.

        The differential method tells the way of the data from the trainer, no more: what each
        takes without the other.
        """
        data_s, trainer_s = self.run.loader_s, self.run.resident_s
        if min(data_s, trainer_s) > _TIE * max(data_s, trainer_s):
            return None
        return "data" if data_s > trainer_s else "trainer"

    @property
    def is_bottleneck_right(self) -> bool | None:
        """Whether the predicted bottleneck is what really limits it; None: a tie."""
        if self.limit is None:
            return None
        is_data = self.prediction.bottleneck in {"cpu", "network"}
        return is_data == (self.limit == "data")


def outcomes(runs: Sequence[CaseRun], calibrations: Mapping[str, Calibration]) -> list[Outcome]:
    """Return every run with its prediction, from the calibration of its workload."""
    return [
        Outcome(run, predict(calibrations[run.case.workload.name], run.case.setup))
        for run in runs
    ]


@dataclass(frozen=True)
class Choice:
    """One search among the places of a workload: what was chosen, and what it really costs."""

    chosen: Case
    """The place of least predicted cost per step."""

    regret_fraction: float
    """Its measured cost per step over that of the cheapest, less 1."""

    is_device_bound: bool
    """Whether the trainer limits every place that was searched, by measurement."""


def choices(found: Sequence[Outcome]) -> list[Choice]:
    """Return a search among all places of each workload, batch and device, at each price."""
    ordered = sorted(found, key=_workload_key)
    groups = [list(group) for _, group in groupby(ordered, key=_workload_key)]
    return [
        _choice(group, device_usd, core_usd)
        for group in groups
        if len(group) > 1
        for device_usd, core_usd in PRICES_USD
    ]


def _choice(group: Sequence[Outcome], device_usd: float, core_usd: float) -> Choice:
    def usd_per_s(outcome: Outcome) -> float:
        place = outcome.run.case.place
        cores = place.trainer_cores + place.data_cores
        return (device_usd + core_usd * cores) / 3600

    predicted = [usd_per_s(one) * one.prediction.step_time_s.value for one in group]
    measured = [usd_per_s(one) * one.run.step_s for one in group]
    place = predicted.index(min(predicted))
    return Choice(
        chosen=group[place].run.case,
        regret_fraction=measured[place] / min(measured) - 1,
        is_device_bound=all(one.limit == "trainer" for one in group),
    )


def _workload_key(outcome: Outcome) -> tuple[str, int, float]:
    workload = outcome.run.case.workload
    return workload.name, workload.batch_size, workload.device_s
