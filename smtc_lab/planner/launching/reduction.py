"""Who reduces the gradients of a launch, where a calibration of its script is kept.

Launchers look it up by its name, as they are below the planner: see
``smtc_lab.launchers.reduction``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.planner.forecast.kept import KeptCalibrations
from smtc_lab.planner.forecast.reduction import (
    UNTOLD,
    judged_setups,
    launched_setups,
    stands_here,
)
from smtc_lab.planner.outlook import Outlook
from smtc_lab.planner.plan_settings import PlanSettings
from smtc_lab.planner.workload_hash import workload_hash
from smtc_lab.store.run_folder import runs_root

if TYPE_CHECKING:
    from _typeshed import StrPath

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.job import TrainingJob


def judged_by_calibration(
    job: TrainingJob, catalog: Catalog, *, root: StrPath | None = None
) -> tuple[bool, str] | None:
    """Return whether reducing shortens the steps of a job enough, and a clause that says why.

    Args:
        job: A job with data instances, and with ``distribution``.
        catalog: Where the instance types are looked up.
        root: Folder of runs; None: the default one.

    Returns:
        None: no calibration of the script tells.
    """
    emulation = job.emulation
    is_emulated = emulation is not None and emulation.device_step_time_s is not None
    try:
        workload = workload_hash(job.entry_point, job.hyperparameters, job.arguments)
        kept = KeptCalibrations(runs_root(root))
        known = kept.newest(workload, is_emulated=is_emulated)
        if known is None:
            return None
        if stands_here(job):
            return judged_setups(known, launched_setups(job, catalog))
        outlook = Outlook(known.calibration, PlanSettings(num_devices=None, steps=1), catalog)
        rows = outlook.clusters_of(job.cluster)
        both = [replace(rows, reduces=np.array([reduces])) for reduces in (True, False)]
        return judged_setups(known, [outlook.setup(each) for each in both])
    except UNTOLD:
        return None  # whatever it does not know, the network alone has to tell
