"""What a picture shows of a set-up: its groups, and how busy they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from smtc_lab.catalog.roles import roles
from smtc_lab.catalog.trainers import trainers_per_instance
from smtc_lab.errors import CatalogError, SpecError
from smtc_lab.views.live.part_use import PartUse
from smtc_lab.views.study.info import PicturedGroup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.catalog.instance_types import InstanceType
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.views.text.set_ups import SetUpEstimate


def pictured_groups(job: TrainingJob, catalog: Catalog) -> tuple[PicturedGroup, ...]:
    """Return the groups of a job's cluster; none where the catalog cannot tell what they do."""
    try:
        role_of = roles(job.cluster, catalog)
    except (CatalogError, SpecError):  # of an older or another catalog
        return ()
    try:
        trainers = trainers_per_instance(job, role_of, catalog)
    except SpecError:  # as above, or accelerators of this machine are not known
        trainers = {}
    found = []
    for group in job.cluster.instance_groups:
        told = PicturedGroup(
            instance_group_name=group.instance_group_name,
            instance_type=group.instance_type,
            instance_count=group.instance_count,
            role=role_of[group.instance_group_name],
            trainers=trainers.get(group.instance_group_name),
        )
        known = catalog.instance_types.get(group.instance_type)
        found.append(told if known is None else _with_size(told, known))
    return tuple(found)


def _with_size(told: PicturedGroup, known: InstanceType) -> PicturedGroup:
    return replace(
        told,
        vcpus=known.vcpus,
        memory_gib=known.memory_gib,
        accelerator=known.accelerator,
        accelerator_count=known.accelerator_count,
        network_gbps=known.network_gbps,
    )


def part_use(groups: Sequence[PicturedGroup], estimate: SetUpEstimate) -> PartUse | None:
    """Return how busy the parts of a set-up were in its measured steps; None: no step.

    Groups of one role count by their vCPUs, or by their instances where those are unknown.
    """
    if estimate.steps == 0:
        return None
    return PartUse(
        trainer_cpu=_cpu(groups, estimate, "train"),
        data_cpu=_cpu(groups, estimate, "data"),
        device=estimate.utilization.device,
        network=None,
    )


def _cpu(groups: Sequence[PicturedGroup], estimate: SetUpEstimate, role: str) -> float | None:
    shares = [
        (
            estimate.utilization.cpu.get(group.instance_group_name),
            group.instance_count * (group.vcpus or 1),
        )
        for group in groups
        if group.role == role
    ]
    known = [(share, weight) for share, weight in shares if share is not None]
    if not known or len(known) < len(shares):
        return None
    return sum(share * weight for share, weight in known) / sum(weight for _, weight in known)
