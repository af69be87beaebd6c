"""The jobs that the options of ``%%smtc`` describe."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.study.options import compared_jobs
from smtc_lab.study.options.job_options import Refusals

if TYPE_CHECKING:
    import click

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.job import TrainingJob


def described_jobs(
    context: click.Context, entry_point: Path
) -> tuple[list[TrainingJob], Catalog]:
    """Return one job for each set-up, and the catalog with the prices that are given.

    Raises:
        SpecError: Something that was given is not legal, or would be without effect.
    """
    here = os.pathsep.join(filter(None, [str(Path.cwd()), os.environ.get("PYTHONPATH")]))
    with context.scope(cleanup=False):
        refusals = Refusals()
        jobs, catalog = compared_jobs.described_jobs(
            context.params,
            str(entry_point),
            refusals,
            variables={"PYTHONPATH": here},  # a cell imports what its notebook can import
        )
        refusals.raise_if_any()
    return jobs, catalog
