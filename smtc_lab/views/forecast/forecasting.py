"""From the set-ups of a form to what is told of them. Heavy: import it in a thread."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.errors import SmtcLabError
from smtc_lab.machine.cores import available_cores
from smtc_lab.planner.calibration.calibrate import DEFAULT_SECONDS
from smtc_lab.planner.forecast.effort import effort_of
from smtc_lab.planner.forecast.forecast import Foreseen, forecast
from smtc_lab.store.run_folder import runs_root
from smtc_lab.views.forecast.calibrator import CALIBRATOR
from smtc_lab.views.forecast.describer import described, foretold_of
from smtc_lab.views.forecast.info import (
    Forecast,
    ForecastSetUp,
    MissingCalibrations,
)
from smtc_lab.views.forecast.typed import TypedSetUp, read_set_up
from smtc_lab.views.live.foretold import keep_foretold
from smtc_lab.views.live.part_use import PartUse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.folder import StudyFolder
    from smtc_lab.views.forecast.calibrator import Calibrating, Calibrator

_NOT_CALIBRATED = (
    "Nothing is predicted yet: {} was not calibrated with these hyperparameters. Calibrate it."
)


def forecast_of(
    value: Sequence[object],
    rounds: int,
    *,
    catalog: Catalog,
    calibrating: Calibrating,
    folder: Path | None = None,
) -> Forecast:
    """Return what is told of the set-ups of a form.

    Args:
        value: Each a ``TrainingJob`` as JSON, legal or not; the baseline first.
        rounds: Launches of each set-up, at least 1.
        catalog: Instance types and prices.
        calibrating: How far a calibration is.
        folder: Folder from which relative paths count; None: that of this process.
    """
    read = [read_set_up(each, folder) for each in value]
    cores = available_cores()
    legal = [(each.asked, each.model) for each in read if each.asked is not None]
    found = iter(
        forecast(
            [asked for asked, _ in legal], [model for _, model in legal], catalog, cores=cores
        )
    )
    told = [(each, each.problem if each.asked is None else next(found)) for each in read]
    missing = effort_of(_missing(read), cores=cores)
    return Forecast(
        of=json.dumps(value),
        set_ups=tuple(_told(each, what) for each, what in told),
        comparison_s=_sum_of([_whole_s(what) for _, what in told], rounds),
        comparison_usd=_sum_of([_usd(what) for _, what in told], rounds),
        missing=None if missing is None else MissingCalibrations(**asdict(missing)),
        calibrating=calibrating,
    )


def keep_forecast(
    study: StudyFolder, value: Sequence[object], *, catalog: Catalog, folder: Path | None = None
) -> None:
    """Keep what is predicted now of the set-ups of a study that was just started.

    It is told beside what comes; where it cannot be kept, the study goes on without.

    Args:
        study: Where it is kept.
        value: As for ``forecast_of``.
        catalog: Instance types and prices.
        folder: As for ``forecast_of``.
    """
    with contextlib.suppress(SmtcLabError, OSError):
        told = forecast_of(
            value, 1, catalog=catalog, calibrating=CALIBRATOR.calibrating, folder=folder
        )
        keep_foretold(study, [foretold_of(each) for each in told.set_ups])


def calibrate_missing(
    value: Sequence[object],
    calibrator: Calibrator,
    *,
    folder: Path | None = None,
    seconds: float = DEFAULT_SECONDS,
) -> None:
    """Begin to calibrate each workload of a form that has no calibration.

    Args:
        value: As for ``forecast_of``.
        calibrator: What calibrates.
        folder: As for ``forecast_of``.
        seconds: How long each launch measures.
    """
    jobs = _missing([read_set_up(each, folder) for each in value])
    calibrator.start(jobs, root=runs_root(), seconds=seconds)


def _missing(read: Sequence[TypedSetUp]) -> list[TrainingJob]:
    """Return one job for each workload that has no calibration."""
    jobs = {
        each.workload: each.asked.job
        for each in reversed(read)
        if each.asked is not None and each.model is None
    }
    return list(reversed(jobs.values()))


def _told(read: TypedSetUp, what: Foreseen | str) -> ForecastSetUp:
    if isinstance(what, str):
        script = "" if read.asked is None else Path(read.asked.job.entry_point).name
        problem = what or _NOT_CALIBRATED.format(script)
        return ForecastSetUp(problem=problem, utilization=PartUse())
    assert read.asked is not None  # noqa: S101  something was foreseen of it
    assert read.model is not None  # noqa: S101  as above
    return described(what, read.asked.job, read.model.calibration)


def _whole_s(what: Foreseen | str) -> float | None:
    return None if isinstance(what, str) else what.whole_s


def _usd(what: Foreseen | str) -> float | None:
    cost = None if isinstance(what, str) else what.usd_per_job
    return None if cost is None else cost.mean


def _sum_of(values: Sequence[float | None], rounds: int) -> float | None:
    """Return the sum over all launches; None: one of them is not known, or there is none."""
    known = [value for value in values if value is not None]
    return rounds * sum(known) if known and len(known) == len(values) else None
