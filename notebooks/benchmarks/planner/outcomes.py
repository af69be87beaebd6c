"""Predictions beside what was measured: errors, bottlenecks, intervals, choices."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter

from notebooks.benchmarks.planner.measuring import CaseRun  # noqa: TC001  pydantic reads it
from smtc_lab.planner.intervals import Estimate  # noqa: TC001
from smtc_lab.planner.model.predict import predict
from smtc_lab.planner.model.prediction import Bottleneck  # noqa: TC001

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from notebooks.benchmarks.planner.cases import Case
    from smtc_lab.planner.calibration.calibration import Calibration

_TIE = 0.9

PRICES_USD = ((3.0, 0.5), (1.0, 1.0), (0.3, 1.0))
"""Made-up prices per hour, of a device and of a core: dear devices, and dear cores."""


@dataclass(frozen=True)
class Outcome:
    """One configuration, predicted and run."""

    run: CaseRun
    """What it took."""

    predicted_s: Estimate
    """Predicted seconds per step."""

    bottleneck: Bottleneck
    """Predicted to take longest."""

    launch_sd: float | None = None
    """Spread between launches that its calibration found, as ``LaunchSpread.cpu_sd``; None: it
    did not look."""

    @property
    def error_fraction(self) -> float:
        """(predicted - measured) / measured step time."""
        return self.predicted_s.mean / self.run.step_s - 1

    @property
    def is_mean_inside(self) -> bool:
        """Whether the 80 % interval, which is of one launch, holds the mean of all."""
        estimate = self.predicted_s
        return estimate.low <= self.run.step_s <= estimate.high

    @property
    def are_inside(self) -> list[bool]:
        """Whether the 80 % interval holds each launch."""
        estimate = self.predicted_s
        return [estimate.low <= one.mean <= estimate.high for one in self.run.rounds]

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
        is_data = self.bottleneck in {"cpu", "network"}
        return is_data == (self.limit == "data")


_ROW = TypeAdapter(Outcome)


def outcomes(runs: Sequence[CaseRun], calibrations: Mapping[str, Calibration]) -> list[Outcome]:
    """Return every run with its prediction, from the calibration of its workload."""
    found = []
    for run in runs:
        calibration = calibrations[run.case.workload.name]
        said = predict(calibration, run.case.setup)
        spread = calibration.launch_spread
        launch_sd = None if spread is None else spread.cpu_sd
        found.append(Outcome(run, said.step_time_s, said.bottleneck, launch_sd))
    return found


def kept_rows(found: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return one row for each outcome, of which every figure can be made again.

    Beside its fields it has what reads better than it computes: the mean of the rounds
    (``measured_s``) and what really limits it (``measured_limit``).
    """
    return [
        {
            **_ROW.dump_python(one, mode="json"),
            "measured_s": one.run.step_s,
            "measured_limit": one.limit,
        }
        for one in found
    ]


def outcomes_of(rows: Sequence[Mapping[str, Any]]) -> list[Outcome]:
    """Return the outcomes of kept rows.

    Raises:
        ValidationError: A row lacks a field, or one has another type.
    """
    return [_ROW.validate_python(row) for row in rows]


@dataclass(frozen=True)
class Choice:
    """One search among the places of a workload: what was chosen, and what it really costs."""

    chosen: Case
    """The place of least predicted cost per step."""

    regret_fraction: float
    """Its measured cost per step over that of the cheapest, less 1."""

    is_device_bound: bool
    """Whether the trainer limits every place that was searched, by measurement, and one of them
    had no data instance, so that none had to be chosen."""


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

    predicted = [usd_per_s(one) * one.predicted_s.mean for one in group]
    measured = [usd_per_s(one) * one.run.step_s for one in group]
    place = predicted.index(min(predicted))
    return Choice(
        chosen=group[place].run.case,
        regret_fraction=measured[place] / min(measured) - 1,
        is_device_bound=all(one.limit == "trainer" for one in group)
        and any(not one.run.case.place.data_cores for one in group),
    )


def _workload_key(outcome: Outcome) -> tuple[str, int, float]:
    workload = outcome.run.case.workload
    return workload.name, workload.batch_size, workload.device_s
