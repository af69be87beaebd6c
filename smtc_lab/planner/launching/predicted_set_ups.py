"""What is predicted of the launches of a comparison whose script was calibrated.

Comparisons look it up by its name, as they are below the planner: see
``smtc_lab.study.comparison.compare``.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from smtc_lab.errors import SmtcLabError
from smtc_lab.metrics.cautions.unlike_prediction import PredictedSteps
from smtc_lab.planner.calibration.plan import BUSY
from smtc_lab.planner.forecast.kept import KeptCalibrations
from smtc_lab.planner.forecast.launched import placed_if_known
from smtc_lab.planner.run_prediction import predicted_of
from smtc_lab.planner.workload_hash import workload_hash
from smtc_lab.store.run_folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.spec.job import TrainingJob

_UNTOLD = (SmtcLabError, ArithmeticError, LookupError, ValueError)
"""What is raised where a calibration does not tell."""


def predicted_set_ups(
    runs: Sequence[RunRecords], catalog: Catalog, *, root: Path
) -> dict[str, PredictedSteps]:
    """Return what the newest calibration predicts of each set-up that was launched, by label.

    Missing is what is not predicted: no calibration is kept of its workload, it was calibrated
    under another compiler, or it is a set-up that the model does not know. Where compilers or
    Python environments are compared nothing is, as no calibration says which it was made with.

    Args:
        runs: Launches of this machine.
        catalog: Where the instance types are looked up.
        root: Folder of the runs, in which calibrations are kept.
    """
    first = {run.label: run for run in reversed(runs)}
    kinds = {(str(r.job.compiler_config), str(r.job.python_environment)) for r in runs}
    if len(kinds) > 1:
        return {}
    kept, found = KeptCalibrations(root), {}
    for label, run in first.items():
        with contextlib.suppress(*_UNTOLD):  # then nothing is said of it
            if predicted := _predicted(run, kept, catalog, root):
                found[label] = predicted
    return found


def _predicted(
    run: RunRecords, kept: KeptCalibrations, catalog: Catalog, root: Path
) -> PredictedSteps | None:
    job, emulation = run.job, run.job.emulation
    known = kept.newest(
        workload_hash(job.entry_point, job.hyperparameters, job.arguments),
        is_emulated=emulation is not None and emulation.device_step_time_s is not None,
    )
    if known is None or _compiles(job) != (known.calibration.compile_s is not None):
        return None
    placed_if_known(job, catalog)
    calibration: Calibration = known.calibration
    said = predicted_of(calibration, RunFolder(root / str(job.job_name)))
    return PredictedSteps(
        step_time_s=said.step_time_s,
        script_num_workers=calibration.script_num_workers,
        calibrated=calibration.created[:10],
        was_busy=any(each.startswith(BUSY) for each in calibration.problems),
    )


def _compiles(job: TrainingJob) -> bool:
    config = job.compiler_config
    return config is not None and config.enabled and config.backend != "eager"
