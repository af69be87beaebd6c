"""A job of the local launcher as a set-up of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.catalog.roles import roles
from smtc_lab.planner.forecast.launched import laid_out, setup_of

if TYPE_CHECKING:
    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.planner.forecast.type_table import TypeTable
    from smtc_lab.planner.model.setup import Setup
    from smtc_lab.spec.job import TrainingJob


def launched_setup(
    job: TrainingJob,
    catalog: Catalog,
    table: TypeTable,
    *,
    cores: float,
    own_workers: int | None = None,
) -> Setup:
    """Return a job that has its scale as a set-up of the model.

    Args:
        job: The job, as ``launched_jobs`` returns it.
        catalog: Where the instance types are looked up.
        table: The same as columns.
        cores: Cores of this machine.
        own_workers: As for ``setup_of``.
    """
    groups, emulation = job.cluster.instance_groups, job.emulation
    rows = [np.array([table.row_of[group.instance_type]]) for group in groups]
    laid = laid_out(groups, rows, roles(job.cluster, catalog), table)
    return setup_of(
        job,
        laid,
        table,
        scale=None if emulation is None else emulation.cores_per_vcpu,
        device_s=None if emulation is None else emulation.stretched_device_s,
        link=None if emulation is None else emulation.link,
        time_stretch=1.0 if emulation is None else emulation.time_stretch,
        cores=cores,
        own_workers=own_workers,
    )
