"""A job of the local launcher as a set-up of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.catalog.roles import roles
from smtc_lab.planner.forecast.launched import cores_of_vcpu, laid_out, setup_of

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
    """Return a job as a set-up of the model, in cluster time.

    Args:
        job: The job.
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
        scale=cores_of_vcpu(job),
        device_s=None if emulation is None else emulation.device_step_time_s,
        link=None if emulation is None else emulation.link,
        cores=cores,
        own_workers=own_workers,
    )
