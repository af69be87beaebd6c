"""The time dilation of an emulation: how much slower than the cluster this machine goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.catalog.own_cpu_speed import known_cpu_speed, own_cpu_speed
from smtc_lab.launchers.planning import speed_units_of_type, vcpu_speed
from smtc_lab.spec.cluster import LOCAL
from smtc_lab.spec.emulation import MOST_DILATION

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.emulation import Emulation
    from smtc_lab.spec.job import TrainingJob

MOST_INSTANCES = 250
"""Instances for which one machine can stand in."""

SHARE_FOR_INSTANCES = 0.5
"""Share of the machine that the instances of an emulation may fill. The rest is for the agents,
the launching process and the system, and for other programs: beside two busy ones on two cores
a quota of more than half of them is not delivered."""


def common_dilation(jobs: Collection[TrainingJob], catalog: Catalog, *, cores: float) -> float:
    """Return the least time dilation at which each of several jobs fits on this machine.

    The first call measures how fast this machine is, in half a second.

    Args:
        jobs: The jobs that are to be compared.
        catalog: Where the instance types are looked up.
        cores: Cores of this machine.

    Returns:
        1 where no job has an emulated instance, or the largest needs no more than this machine
        has, and no vCPU of it is faster than a core.

    Raises:
        CatalogError: The speed of a type, or of this machine, is not known.
    """
    units = max((speed_units(job, catalog) for job in jobs), default=0.0)
    return 1.0 if units == 0 else _least_dilation(jobs, units, catalog, cores)


def _least_dilation(
    jobs: Collection[TrainingJob], units: float, catalog: Catalog, cores: float
) -> float:
    own = own_cpu_speed().value
    fastest = max(_fastest_vcpu(job, catalog) for job in jobs)
    return max(1.0, fastest / own, units / (cores * SHARE_FOR_INSTANCES * own))


def most_cores(emulation: Emulation, cores: float) -> float:
    """Return the most of its cores whose work a machine can emulate, slowed down.

    Args:
        emulation: It may name a time dilation.
        cores: Cores of this machine.

    Raises:
        CatalogError: The speed of this machine is not known.
    """
    given = asked_dilation(emulation)
    share = SHARE_FOR_INSTANCES if given is None else 1.0
    slowest = MOST_DILATION if given is None else given
    return 0.0 if slowest > MOST_DILATION else slowest * cores * share


def at_dilation(job: TrainingJob, dilation: float) -> TrainingJob:
    """Return an emulated job at a time dilation; one that names its own keeps that.

    Args:
        job: The job.
        dilation: What a launcher chose for all jobs of a comparison.
    """
    emulation = job.emulation
    if emulation is None:
        return job
    chosen: dict[str, float] = {"time_dilation": 1.0}
    if _has_emulated(job):
        asked = asked_dilation(emulation)
        dilation = dilation if asked is None else asked
        speed = own_cpu_speed().value
        chosen = {"time_dilation": dilation, "cores_per_vcpu": 1 / (dilation * speed)}
    return job.model_copy(update={"emulation": emulation.model_copy(update=chosen)})


def at_one_dilation(
    jobs: Sequence[TrainingJob], chosen: Callable[[list[TrainingJob]], float | None]
) -> list[TrainingJob]:
    """Return jobs that are to be compared at one time dilation.

    Args:
        jobs: The jobs. Those that name none take the largest that another one names.
        chosen: Chooses where none is named; None: the launcher slows nothing down by itself.
    """
    emulated = [job for job in jobs if job.emulation is not None]
    dilation = chosen(emulated) if emulated else None
    if dilation is None:
        return list(jobs)
    named = [job.emulation.time_dilation for job in emulated if job.emulation]
    dilation = max(filter(None, named), default=dilation)
    return [at_dilation(job, dilation) for job in jobs]


def asked_dilation(emulation: Emulation) -> float | None:
    """Return the time dilation that an emulation names; None: it names none.

    Cores for one vCPU name that at which so many do its work, and at most those that do all of
    it: nothing goes faster here than on the cluster.
    """
    given, scale = emulation.time_dilation, emulation.cores_per_vcpu
    if given is not None or scale is None:
        return given
    return max(1.0, 1 / (scale * own_cpu_speed().value))


def number_problems(job: TrainingJob) -> list[str]:
    """Return why this machine cannot stand in for so many instances; empty: it can."""
    if job.cluster.num_instances <= MOST_INSTANCES:
        return []
    too_many = (
        f"The cluster has {job.cluster.num_instances} instances, but one machine can stand "
        f"in for {MOST_INSTANCES}. Lower instance_count."
    )
    return [too_many]


def dilation_problems(job: TrainingJob, catalog: Catalog, *, cores: float) -> list[str]:
    """Return why a job cannot be emulated at its time dilation; empty: it can.

    Args:
        job: The job.
        catalog: Where the instance types are looked up.
        cores: Cores of this machine.
    """
    return dilated(job, catalog, cores=cores)[1]


def dilated(
    job: TrainingJob, catalog: Catalog, *, cores: float
) -> tuple[TrainingJob, list[str]]:
    """Return a job at its time dilation, or the least at which it fits, and why it cannot be.

    Args:
        job: The job.
        catalog: Where the instance types are looked up.
        cores: Cores of this machine.
    """
    if job.emulation is None:
        return job, []
    given = job.emulation.time_dilation
    if not _has_emulated(job):
        why = (
            f"time_dilation={given or 1:g} slows emulated instances down, but the cluster has "
            f"none: {LOCAL!r} is this machine as it is. Leave it out, or name an instance type."
        )
        return at_dilation(job, 1.0), [] if given in {None, 1} else [why]
    units = speed_units(job, catalog)
    fitting = _least_dilation([job], units, catalog, cores)
    slowed = at_dilation(job, fitting)
    made = slowed.emulation
    if made is None or made.cores_per_vcpu is None:
        return slowed, []
    wanted = made.cores_per_vcpu * units
    if wanted > cores:
        why = (
            f"At time_dilation={made.dilation:.4g} (cores_per_vcpu={made.cores_per_vcpu:.4g}) "
            f"the instances need {wanted:.2f} cores, but this machine has {cores:g}. Raise "
            f"time_dilation to {fitting:.4g}, or leave it out."
        )
        return slowed, [why]
    return slowed, _too_slow(made.dilation, made.device_step_time_s, units)


def _too_slow(dilation: float, device_s: float | None, units: float) -> list[str]:
    if dilation <= MOST_DILATION:
        return []
    what, seconds = "One second of it", dilation
    if device_s is not None:
        what, seconds = f"A step of {device_s:g} s", dilation * device_s
    why = (
        f"This machine would emulate the cluster, whose vCPUs do the work of {units:,.0f}, "
        f"{dilation:,.0f} times slower than it is (time_dilation, at most "
        f"{MOST_DILATION:,.0f}). {what} would take {seconds:,.3g} s here. Take fewer or "
        "smaller instances, or ask for predictions (smtc-lab plan)."
    )
    return [why]


def emulation_facts(job: TrainingJob) -> dict[str, Any]:
    """Return what a run keeps of its emulation: scale, device, speed of this machine."""
    emulation = job.emulation
    if emulation is None:
        return {"cores_per_vcpu": None, "device_step_time_s": None}
    facts = {
        "time_dilation": emulation.time_dilation,
        "cores_per_vcpu": emulation.cores_per_vcpu,
        "device_step_time_s": emulation.device_step_time_s,
    }
    speed = known_cpu_speed()
    if speed is not None:
        facts["cpu_speed"] = speed.value
        facts["cpu_rate"] = speed.rate
        facts["cpu_benchmark_version"] = speed.benchmark_version
    return facts


def speed_units(job: TrainingJob, catalog: Catalog) -> float:
    """Return the emulated vCPUs of a job, each weighted by its relative speed."""
    return float(
        sum(
            group.instance_count * speed_units_of_type(job, catalog.get(group.instance_type))
            for group in job.cluster.instance_groups
            if group.instance_type != LOCAL
        )
    )


def _fastest_vcpu(job: TrainingJob, catalog: Catalog) -> float:
    """Return the relative speed of the fastest vCPU among the emulated ones of a job."""
    return max(
        (
            vcpu_speed(job, catalog.get(name))
            for name in {group.instance_type for group in job.cluster.instance_groups} - {LOCAL}
        ),
        default=0.0,
    )


def _has_emulated(job: TrainingJob) -> bool:
    return any(group.instance_type != LOCAL for group in job.cluster.instance_groups)
