"""Whether data instances are to reduce gradients, by a calibration of the script."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.catalog.roles import instances_of_roles
from smtc_lab.errors import SmtcLabError
from smtc_lab.machine.cores import available_cores
from smtc_lab.metrics.communication.reducing import LEAST_GAIN
from smtc_lab.planner.forecast.launched_setup import launched_setup
from smtc_lab.planner.forecast.type_table import type_table
from smtc_lab.spec.cluster import LOCAL
from smtc_lab.spec.distribution import Distribution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.planner.forecast.calibrated import CalibratedModel
    from smtc_lab.planner.model.setup import Setup
    from smtc_lab.spec.job import TrainingJob

UNTOLD = (SmtcLabError, ArithmeticError, LookupError, ValueError)
"""What is raised where a calibration does not tell."""


def with_known_reduction(
    job: TrainingJob, catalog: Catalog, known: CalibratedModel
) -> TrainingJob:
    """Return a job of this machine whose ``reduce_on="auto"`` is decided as at its launch.

    Any other comes back as it is, and so does one of which the calibration does not tell.
    """
    spread = job.distribution
    if not isinstance(spread, Distribution) or spread.reduce_on != "auto":
        return job
    counts = instances_of_roles(job.cluster, catalog)
    if counts["train"] <= 2 or not counts["data"] or not stands_here(job):
        return job
    try:
        judged = judged_setups(known, launched_setups(job, catalog))
    except UNTOLD:
        return job
    if judged is None:
        return job
    reduce_on = "data_group" if judged[0] else None
    decided = spread.model_copy(update={"reduce_on": reduce_on})
    return job.model_copy(update={"distribution": decided})


def stands_here(job: TrainingJob) -> bool:
    """Return whether this machine stands for a job's instances, and not only runs them."""
    groups = job.cluster.instance_groups
    return job.emulation is not None or any(each.instance_type == LOCAL for each in groups)


def launched_setups(job: TrainingJob, catalog: Catalog) -> Sequence[Setup]:
    """Return a job of this machine with reducers, and without."""
    spread = job.distribution
    assert isinstance(spread, Distribution)  # noqa: S101  the callers have looked
    cores = float(available_cores())
    made = []
    for reduce_on in ("data_group", None):
        decided = spread.model_copy(update={"reduce_on": reduce_on})
        asked = job.model_copy(update={"distribution": decided})
        table = type_table(asked, catalog)
        made.append(launched_setup(asked, catalog, table, cores=cores))
    return made


def judged_setups(known: CalibratedModel, setups: Sequence[Setup]) -> tuple[bool, str] | None:
    """Return whether reducing shortens a step enough, and a clause that says why.

    Args:
        known: What was calibrated.
        setups: A job with reducers, and without.

    Returns:
        None: the calibration tells of no gradients, or gives no time.
    """
    if known.of_means.inputs.gradients is None:
        return None
    with np.errstate(all="ignore"):
        reduced_s, plain_s = (
            float(known.of_means.times(setup).step_s[0, 0]) for setup in setups
        )
    if not (np.isfinite([reduced_s, plain_s]).all() and min(reduced_s, plain_s) > 0):
        return None
    return reduced_s <= (1 - LEAST_GAIN) * plain_s, (
        f"by the calibration of {known.calibration.created[:10]} a step takes "
        f"{1e3 * reduced_s:.3g} ms with it and {1e3 * plain_s:.3g} ms without"
    )
