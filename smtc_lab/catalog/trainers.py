"""How many trainers each instance of a job has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.errors import SpecError
from smtc_lab.spec.cluster import LOCAL
from smtc_lab.spec.distribution import MAX_TRAINERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.spec.cluster import InstanceGroup, Role
    from smtc_lab.spec.distribution import Distribution
    from smtc_lab.spec.job import TrainingJob


PER_HOST_REMEDY = ", or say with processes_per_host how many trainers an instance has"
"""What else can be done about a product that does not fit; a command line cannot."""


def trainers_per_instance(
    job: TrainingJob, role_of: Mapping[str, Role], catalog: Catalog, *, devices_here: int = 0
) -> dict[str, int]:
    """Return the trainers of each instance of a group, by the group's name; 0: it has none.

    One where the job has no distribution. Else as many as the type has accelerators, whether
    or not they are emulated; where it has none, as many as the distribution's product leaves.

    Args:
        job: The job.
        role_of: The role of every group.
        catalog: Where instance types are looked up; a type that it does not know counts as one
            without an accelerator.
        devices_here: Accelerators of each training instance of the type ``local``.

    Raises:
        SpecError: The distribution does not fit the cluster; all reasons at once.
    """
    groups = job.cluster.instance_groups
    none = {group.instance_group_name: 0 for group in groups}
    training = [group for group in groups if role_of[group.instance_group_name] == "train"]
    asked = job.distribution
    if asked is None:
        return none | {group.instance_group_name: 1 for group in training}
    if problems := _group_problems(asked, role_of):
        raise SpecError(problems)
    devices = {
        group.instance_group_name: _num_devices(group, catalog, devices_here)
        for group in training
    }
    found = _given(asked, devices)
    if open_groups := [group for group in training if not found[group.instance_group_name]]:
        found |= _shares(asked, training, open_groups, found)
    if problems := _problems(asked, training, devices, found):
        raise SpecError(problems)
    return none | found


def total_trainers(groups: Iterable[InstanceGroup], of_each: Mapping[str, int]) -> int:
    """Return the trainers of some groups together.

    Args:
        groups: The groups.
        of_each: Trainers of each instance, by the name of its group.
    """
    return sum(group.instance_count * of_each[group.instance_group_name] for group in groups)


def _num_devices(group: InstanceGroup, catalog: Catalog, devices_here: int) -> int:
    if group.instance_type == LOCAL:
        return devices_here
    known = catalog.instance_types.get(group.instance_type)
    return 0 if known is None else known.accelerator_count


def _product(asked: Distribution) -> int:
    """Return the trainers that a distribution needs at least."""
    return (asked.data or 1) * asked.per_replica


def _given(asked: Distribution, devices: Mapping[str, int]) -> dict[str, int]:
    """Return the trainers per instance that do not hang on the product; 0: they do."""
    if asked.processes_per_host is not None:
        return dict.fromkeys(devices, asked.processes_per_host)
    return dict(devices)


def _shares(
    asked: Distribution,
    training: Sequence[InstanceGroup],
    open_groups: Sequence[InstanceGroup],
    found: Mapping[str, int],
) -> dict[str, int]:
    """Return what the product leaves the groups whose types do not say how many trainers."""
    taken = total_trainers(training, found)
    instances = sum(group.instance_count for group in open_groups)
    left = _product(asked) - taken
    if asked.data is None:
        left = max(left, instances)
    if left < instances or left % instances:
        elsewhere = f" beside {taken} on those with accelerators" if taken else ""
        raise SpecError(
            f"{_words(asked)} {_counted(_product(asked), 'trainer')}, which "
            f"{_counted(instances, 'training instance')}{elsewhere} cannot share evenly. Ask "
            f"for a multiple of {instances}."
        )
    return {group.instance_group_name: left // instances for group in open_groups}


def _group_problems(asked: Distribution, role_of: Mapping[str, Role]) -> list[str]:
    """Return what is wrong with the groups that a distribution names."""
    problems = [
        f"distribution names the instance group {name!r}, which the job does not have. Choose "
        f"among {', '.join(sorted(role_of))}."
        for name in asked.instance_groups
        if name not in role_of
    ]
    training = {name for name, role in role_of.items() if role == "train"}
    if not problems and asked.instance_groups and set(asked.instance_groups) != training:
        problems.append(
            f"distribution names the instance groups {', '.join(asked.instance_groups)}, but "
            f"{', '.join(sorted(training))} train. Give the others role='data', or name all "
            "that train."
        )
    return problems


def _problems(
    asked: Distribution,
    training: Sequence[InstanceGroup],
    devices: Mapping[str, int],
    found: Mapping[str, int],
) -> list[str]:
    """Return why the trainers that were found do not fit the devices, or the product."""
    total = total_trainers(training, found)
    num_devices = sum(
        group.instance_count * devices[group.instance_group_name] for group in training
    )
    problems = [
        f"Number of node-local processes {found[group.instance_group_name]} cannot be larger "
        f"than the device count {devices[group.instance_group_name]} of "
        f"{group.instance_type}. Ask for fewer trainers, or for a larger instance."
        for group in training
        if 0 < devices[group.instance_group_name] < found[group.instance_group_name]
    ]
    problems += [
        f"distribution tensor={asked.tensor} divides layers among trainers of one instance, "
        f"but {group.instance_type} has {each}. Choose a tensor that divides them."
        for group in training
        if (each := found[group.instance_group_name]) % asked.tensor
    ]
    if problems:
        return problems
    product = _product(asked)
    if total > MAX_TRAINERS:
        return [f"{_words(asked)} {total} trainers, but a job may have {MAX_TRAINERS}."]
    if asked.data is not None and product != total:
        there = f"{'is' if total == 1 else 'are'} {_counted(total, 'trainer')}"
        why = f"{there} on {_instances(training)}"
        if product > total == num_devices:
            why += f"; the processes {product} cannot be larger than the device count {total}"
        needs = f"{_words(asked)} {_counted(product, 'trainer')}"
        return [f"{needs}, but there {why}. {_remedy(asked, total)}"]
    if total % asked.per_replica:
        return [
            (
                f"distribution {_factors(asked, with_data=False)} makes replicas of "
                f"{asked.per_replica} trainers, which do not divide the "
                f"{_counted(total, 'trainer')} on {_instances(training)}. Choose what does."
            )
        ]
    return []


def _words(asked: Distribution) -> str:
    parts = _factors(asked)
    if asked.processes_per_host is not None:
        parts += f"{', ' if parts else ''}processes_per_host={asked.processes_per_host}"
    return f"distribution {parts or 'auto'} asks for"


def _factors(asked: Distribution, *, with_data: bool = True) -> str:
    """Return the factors of the number of trainers, as a user writes them."""
    parts = [f"data={asked.data}"] if with_data and asked.data is not None else []
    parts += [
        f"{name}={size}"
        for name in ("shard", "pipeline", "tensor")
        if (size := getattr(asked, name)) > 1
    ]
    return ", ".join(parts)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _instances(training: Sequence[InstanceGroup]) -> str:
    return ", ".join(f"{group.instance_count} x {group.instance_type}" for group in training)


def _remedy(asked: Distribution, total: int) -> str:
    data, rest = divmod(total, asked.per_replica)
    if rest:
        name = "pipeline" if asked.pipeline > 1 else "data"
        return f"Write {name}={total}{PER_HOST_REMEDY}."
    others = _factors(asked, with_data=False)
    return f"Write data={data}{', ' if others else ''}{others}{PER_HOST_REMEDY}."
