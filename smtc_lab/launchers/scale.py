"""The scale of an emulation: how much of this machine stands for one vCPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.catalog.own_cpu_speed import known_cpu_speed, own_cpu_speed
from smtc_lab.launchers.planning import speed_units_of_type
from smtc_lab.spec.cluster import LOCAL
from smtc_lab.spec.emulation import STANDARD_SCALE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.job import TrainingJob

MOST_INSTANCES = 250
"""Instances for which one machine can stand in."""

SHARE_FOR_INSTANCES = 0.5
"""Share of the machine that the instances of an emulation may fill. The rest is for the agents,
the launching process and the system, and for other programs: beside two busy ones on two cores
a quota of more than half of them is not delivered."""


def common_scale(jobs: Collection[TrainingJob], catalog: Catalog, *, cores: float) -> float:
    """Return the cores per vCPU of several jobs that are to be compared.

    It is that of ``STANDARD_SCALE``, or what lets the largest job fit on this machine where
    that is less. The first call measures how fast this machine is, in half a second.

    Args:
        jobs: The jobs that are to be compared.
        catalog: Where the instance types are looked up.
        cores: Cores of this machine.

    Raises:
        CatalogError: The speed of this machine cannot be measured.
    """
    fitting = fitting_scale(jobs, catalog, cores=cores)
    return min(fitting, standard_scale()) if any(map(_has_emulated, jobs)) else fitting


def fitting_scale(jobs: Collection[TrainingJob], catalog: Catalog, *, cores: float) -> float:
    """Return the most cores per vCPU at which the largest of several jobs fits here.

    Args:
        jobs: The jobs that are to be compared.
        catalog: Where the instance types are looked up.
        cores: Cores of this machine.
    """
    return cores * SHARE_FOR_INSTANCES / max(speed_units(job, catalog) for job in jobs)


def at_scale(job: TrainingJob, scale: float, *, is_here: bool = True) -> TrainingJob:
    """Return an emulated job at a scale that was chosen for it; one that names its own stays.

    Args:
        job: The job.
        scale: Cores per vCPU that a launcher chose for all jobs of a comparison.
        is_here: Whether its instances are of this machine. Then the device slows down with its
            vCPUs where the scale is below the standard one; elsewhere that is not known.
    """
    emulation = job.emulation
    if emulation is None or emulation.cores_per_vcpu is not None:
        return job
    stretch = max(1.0, standard_scale() / scale) if is_here and _has_emulated(job) else 1.0
    chosen = {"cores_per_vcpu": scale, "time_stretch": emulation.time_stretch * stretch}
    return job.model_copy(update={"emulation": emulation.model_copy(update=chosen)})


def at_one_scale(
    jobs: Sequence[TrainingJob],
    chosen: Callable[[list[TrainingJob]], float | None],
    *,
    is_here: bool = True,
) -> list[TrainingJob]:
    """Return jobs that are to be compared at one scale; those that name their own stay.

    Args:
        jobs: The jobs.
        chosen: Chooses the cores per vCPU of those that are emulated; None: there is no scale.
        is_here: As for ``at_scale``.
    """
    emulated = [job for job in jobs if job.emulation is not None]
    if all(job.emulation and job.emulation.cores_per_vcpu is not None for job in emulated):
        return list(jobs)
    scale = chosen(emulated)
    if scale is None:
        return list(jobs)
    return [at_scale(job, scale, is_here=is_here) for job in jobs]


def number_problems(job: TrainingJob) -> list[str]:
    """Return why this machine cannot stand in for so many instances; empty: it can."""
    if job.cluster.num_instances <= MOST_INSTANCES:
        return []
    too_many = (
        f"The cluster has {job.cluster.num_instances} instances, but one machine can stand "
        f"in for {MOST_INSTANCES}. Lower instance_count."
    )
    return [too_many]


def scale_problems(job: TrainingJob, catalog: Catalog, *, cores: float) -> list[str]:
    """Return why a job does not fit on this machine at the scale that it names; empty: it does.

    Args:
        job: The job.
        catalog: Where the instance types are looked up.
        cores: Cores of this machine.
    """
    scale = job.emulation.cores_per_vcpu if job.emulation else None
    if scale is None:
        return []
    wanted = scale * speed_units(job, catalog)
    if wanted <= cores:
        return []
    fitting = fitting_scale([job], catalog, cores=cores)
    too_large = (
        f"With {scale:g} cores for each vCPU (cores_per_vcpu, --scale) the instances need "
        f"{wanted:.2f} cores, but this machine has {cores:g}. Lower cores_per_vcpu to "
        f"{fitting:.4f}, or leave it out."
    )
    return [too_large]


def emulation_facts(job: TrainingJob) -> dict[str, Any]:
    """Return what a run keeps of its emulation: the scale, the device, this machine's speed."""
    emulation = job.emulation
    if emulation is None:
        return {"cores_per_vcpu": None, "device_step_time_s": None}
    facts = {
        "cores_per_vcpu": emulation.cores_per_vcpu,
        "device_step_time_s": emulation.device_step_time_s,
        "time_stretch": emulation.time_stretch,
    }
    speed = known_cpu_speed()
    if speed is not None:
        facts["cpu_speed"] = speed.value
        facts["cpu_rate"] = speed.rate
        facts["cpu_benchmark_version"] = speed.benchmark_version
    return facts


def speed_units(job: TrainingJob, catalog: Catalog) -> float:
    """Return the vCPUs of a job's instances, each weighted by its relative speed."""
    return (
        sum(
            group.instance_count * speed_units_of_type(job, catalog, group.instance_type)
            for group in job.cluster.instance_groups
            if group.instance_type != LOCAL
        )
        or 1.0
    )


def standard_scale() -> float:
    """Return the cores of this machine that do ``STANDARD_SCALE`` of a vCPU's work.

    The first call measures how fast this machine is, in half a second.

    Raises:
        CatalogError: That cannot be measured.
    """
    return STANDARD_SCALE / own_cpu_speed().value


def _has_emulated(job: TrainingJob) -> bool:
    return any(group.instance_type != LOCAL for group in job.cluster.instance_groups)
