"""What is known before a launch to cloud what will be compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.catalog.roles import instances_of_roles
from smtc_lab.errors import CatalogError, SpecError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.cluster import Role
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
    fed = next((job for job in jobs if _counts(job, catalog)["data"]), None)
    alone = next((job for job in jobs if not _counts(job, catalog)["data"]), None)
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


def _counts(job: TrainingJob, catalog: Catalog) -> dict[Role, int]:
    """Return the instances of each role; none where the job is refused anyway."""
    try:
        return instances_of_roles(job.cluster, catalog)
    except (CatalogError, SpecError):
        return {"train": 0, "data": 0}


def _names_no_smtc_lab(entry_point: str) -> bool:
    try:
        with Path(entry_point).open("rb") as file:
            return b"smtc_lab" not in file.read(_LONGEST_SCRIPT)
    except OSError:
        return False
