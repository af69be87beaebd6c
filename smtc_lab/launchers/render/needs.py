"""What an instance of a job asks of a cluster, and why a job cannot be asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.errors import CatalogError, SpecError
from smtc_lab.launchers.job_environment import elsewhere_problems
from smtc_lab.launchers.planning import place

if TYPE_CHECKING:
    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.job import TrainingJob

_MEMORY_FRACTION = 0.8
"""Share of a type's memory that is asked for: no machine gives all of it to jobs, and one that
is asked for more than it gives is never found."""


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What one instance asks for."""

    cpus: int
    """Hardware threads."""

    memory_gib: int
    """Memory in GiB; four fifths of what the type has."""

    gpus: int
    """NVIDIA GPUs."""

    neuron_devices: int
    """AWS Trainium chips."""


def needs_of(instance_type: str, catalog: Catalog) -> Needs:
    """Return what an instance of a type asks for.

    Raises:
        CatalogError: The catalog has no such type.
    """
    known = catalog.get(instance_type)
    is_gpu = (known.accelerator or "").startswith("NVIDIA")
    return Needs(
        cpus=known.vcpus,
        memory_gib=max(1, int(known.memory_gib * _MEMORY_FRACTION)),
        gpus=known.accelerator_count if is_gpu else 0,
        neuron_devices=0 if is_gpu else known.accelerator_count,
    )


def cluster_problems(job: TrainingJob, catalog: Catalog) -> list[str]:
    """Return every reason why a job cannot run on machines that a scheduler chooses."""
    problems = []
    for group in job.cluster.instance_groups:
        try:
            catalog.get(group.instance_type)
        except CatalogError as error:
            problems.append(str(error))
    if job.emulation is not None:
        problems.append(
            "The job has an emulation, which stands in for hardware on one machine. Drop it "
            "from the job to run on a cluster."
        )
    if job.working_dir == "own":
        problems.append(
            "working_dir='own' is made where this machine launches, but the job is launched by "
            "a cluster. Leave it out, or launch the job on='local'."
        )
    problems += elsewhere_problems(job, "the nodes of a cluster run their own")
    if not problems:
        try:
            place(job, catalog, runs_here=False)
        except SpecError as error:
            return error.problems
    return problems


def plainly_named(job: TrainingJob) -> TrainingJob:
    """Return the job with a name: its own, or that of its script. The same each time."""
    if job.job_name is not None:
        return job
    stem = re.sub(r"[^A-Za-z0-9]+", "-", Path(job.entry_point).stem)[:32].strip("-")
    return job.model_copy(update={"job_name": stem or "job"})
