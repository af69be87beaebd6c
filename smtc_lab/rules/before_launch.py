"""What is known before a launch to cloud what will be compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.catalog.roles import roles
from smtc_lab.errors import CatalogError, SpecError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.job import TrainingJob

_LONGEST_SCRIPT = 1_000_000


def launch_cautions(jobs: Sequence[TrainingJob], catalog: Catalog) -> list[str]:
    """Return what a user should know before jobs are launched, one sentence or two for each.

    All of it can run. What cannot is refused by ``Launcher.check``.

    Args:
        jobs: What is launched; several are compared, the baseline first.
        catalog: Where the instance types are looked up.
    """
    # Only a script that does not name this package is taken to make torch's own dataloader.
    fed = next((job for job in jobs if _is_fed(job, catalog)), None)
    alone = next((job for job in jobs if not _is_fed(job, catalog)), None)
    if fed is None or alone is None or not _names_no_smtc_lab(fed.entry_point):
        return []
    return [
        (
            f"{alone.cluster.label} takes its batches through torch's own dataloader and "
            f"{fed.cluster.label}, which has a data group, through smtc_lab's, so clusters are "
            "not all that differs. Make the loader with smtc_lab.Session().dataloader(), which "
            "is the same on every cluster."
        )
    ]


def _is_fed(job: TrainingJob, catalog: Catalog) -> bool:
    """Return whether data instances serve a job's trainers; not where it is refused anyway."""
    try:
        role_of = roles(job.cluster, catalog)
    except (CatalogError, SpecError):
        return False
    return any(
        each.runs is None and role_of[each.instance_group_name] == "data"
        for each in job.cluster.instance_groups
    )


def _names_no_smtc_lab(entry_point: str) -> bool:
    try:
        with Path(entry_point).open("rb") as file:
            return b"smtc_lab" not in file.read(_LONGEST_SCRIPT)
    except OSError:
        return False
