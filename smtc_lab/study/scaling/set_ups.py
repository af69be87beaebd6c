"""The set-ups of a scaling study: the same job on several numbers of devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from smtc_lab.catalog.roles import training_groups
from smtc_lab.errors import SpecError
from smtc_lab.metrics.scaling.scale_runs import ScaledSetUp
from smtc_lab.metrics.scaling.verdict import devices_words
from smtc_lab.spec.cluster import LOCAL
from smtc_lab.spec.distribution import Distribution

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.metrics.scaling.scaling import Mode
    from smtc_lab.spec.cluster import InstanceGroup
    from smtc_lab.spec.job import TrainingJob

MOST_POINTS = 16
"""Numbers of devices of one study, at most."""

_LONGEST_CURVE = 40


class _TrainingInstances(NamedTuple):
    """The training instances for a number of devices."""

    instance_type: str
    number: int
    devices_each: int
    trainers_each: int


def scaled_jobs(  # noqa: PLR0913  options by name
    jobs: Sequence[TrainingJob],
    devices: Sequence[int],
    *,
    mode: Mode,
    batch: str,
    bigger_instances: bool,
    catalog: Catalog,
) -> tuple[tuple[TrainingJob, ...], tuple[ScaledSetUp, ...]]:
    """Return each job on each number of devices, and what these set-ups are.

    The training group grows, by instances of its type; a data group stays as it is. One device
    is one process, which is told of ranks as several are: scripts for ``torchrun`` ask for it.

    Args:
        jobs: One for each curve; their clusters' labels differ.
        devices: Numbers of devices.
        mode: ``strong`` divides the batch of each device.
        batch: Hyperparameter that holds it.
        bigger_instances: Take types of the same family with more accelerators, where there are
            such, before more instances.
        catalog: Types and prices.

    Raises:
        SpecError: A number of devices cannot be had; all reasons at once.
        CatalogError: An instance type is not in the catalog.
    """
    counts = sorted(set(devices))
    problems = _problems(jobs, counts)
    if problems:
        raise SpecError(problems)
    made, set_ups = [], []
    for job in jobs:
        for count in counts:
            curve = job.cluster.label[:_LONGEST_CURVE]
            name = devices_words(count)
            label = name if len(jobs) == 1 else f"{curve}, {name}"
            try:
                instances = _instances(job, count, catalog, bigger=bigger_instances)
                made.append(_scaled(job, count, instances, label, catalog))
                if mode == "strong":
                    made[-1] = _divided(made[-1], count, batch)
            except SpecError as error:
                problems += error.problems
                continue
            set_ups.append(
                ScaledSetUp(
                    set_up=label,
                    curve=curve,
                    devices=count,
                    instances=instances.number,
                    idle_devices=instances.number
                    * max(0, instances.devices_each - instances.trainers_each),
                )
            )
    if problems:
        raise SpecError(list(dict.fromkeys(problems)))
    return tuple(made), tuple(set_ups)


def _problems(jobs: Sequence[TrainingJob], counts: Sequence[int]) -> list[str]:
    problems = []
    if not jobs:
        problems.append("There is no job to scale. Give at least one.")
    if not counts or counts[0] < 1 or len(counts) > MOST_POINTS:
        problems.append(
            f"devices={list(counts)[:20]} is not 1 to {MOST_POINTS} numbers of at least 1. "
            "Give for example (1, 2, 4)."
        )
    labels = [job.cluster.label[:_LONGEST_CURVE] for job in jobs]
    if repeated := sorted({label for label in labels if labels.count(label) > 1}):
        problems.append(
            f"Two jobs have a cluster called {repeated[0]!r}, so that their curves could not "
            "be told apart. Give each a name: NAME@GROUP=TYPE:COUNT."
        )
    return problems


def _training_group(job: TrainingJob, catalog: Catalog) -> InstanceGroup:
    trains = training_groups(job.cluster, catalog)
    if len(trains) != 1:
        raise SpecError(
            f"{job.cluster.label}: {len(trains)} groups train, but one can be scaled. Leave "
            "one, and give the others role='data'."
        )
    return trains[0]


def _instances(
    job: TrainingJob, devices: int, catalog: Catalog, *, bigger: bool
) -> _TrainingInstances:
    """Return the instances that so many devices are on."""
    group = _training_group(job, catalog)
    if group.instance_type == LOCAL:  # this machine, which is there once
        return _TrainingInstances(LOCAL, 1, 0, devices)
    own = catalog.get(group.instance_type)
    if not own.has_accelerator:
        return _TrainingInstances(own.name, devices, 0, 1)
    fitting = [own]
    if bigger:
        fitting = [
            each
            for each in catalog.instance_types.values()
            if (each.family, each.accelerator) == (own.family, own.accelerator)
            and each.accelerator_count > own.accelerator_count
            and devices % each.accelerator_count == 0
            and each.price is not None
        ] or [own]
    most = max(each.accelerator_count for each in fitting)
    chosen = min(
        (each for each in fitting if each.accelerator_count == most),
        key=lambda each: each.price.usd_per_hour if each.price else 0.0,
    )
    each = chosen.accelerator_count
    if devices < each:
        return _TrainingInstances(chosen.name, 1, each, devices)
    if devices % each:
        raise SpecError(
            f"{job.cluster.label}: {devices} devices are no whole number of {chosen.name}, "
            f"which have {each} each. Give multiples of {each}."
        )
    return _TrainingInstances(chosen.name, devices // each, each, each)


def _scaled(
    job: TrainingJob, devices: int, instances: _TrainingInstances, label: str, catalog: Catalog
) -> TrainingJob:
    group = _training_group(job, catalog)
    grown = group.model_copy(
        update={
            "instance_type": instances.instance_type,
            "instance_count": instances.number,
            "role": group.role,
        }
    )
    groups = tuple(grown if each is group else each for each in job.cluster.instance_groups)
    cluster = job.cluster.model_copy(update={"instance_groups": groups, "name": label})
    distribution = _distribution(job, devices, instances)
    return job.model_copy(update={"cluster": cluster, "distribution": distribution})


def _distribution(
    job: TrainingJob, devices: int, instances: _TrainingInstances
) -> Distribution:
    given = job.distribution or Distribution()
    if given.pipeline * given.tensor > 1:
        name = "pipeline" if given.pipeline > 1 else "tensor"
        raise SpecError(
            f"The job has {name}={getattr(given, name)}, but a scaling study begins with a "
            f"model on one device. Leave {name} out."
        )
    if devices % given.shard:
        raise SpecError(
            f"{job.cluster.label}: {devices} devices cannot be replicas of "
            f"{given.shard} devices each (distribution shard={given.shard}). Give multiples of "
            f"{given.shard}."
        )
    is_part = 0 < instances.trainers_each < instances.devices_each
    if devices == 1 and not is_part:
        return Distribution(data=1)
    changes = {
        "data": devices // given.shard,
        "processes_per_host": instances.trainers_each if is_part else None,
    }
    return given.model_copy(update=changes)


def _divided(job: TrainingJob, devices: int, batch: str) -> TrainingJob:
    """Return a job whose devices share the batch of one."""
    values = {
        **job.hyperparameters,
        batch: divided_batch(job.hyperparameters, devices, batch),
    }
    return job.model_copy(update={"hyperparameters": values})


def divided_batch(values: Mapping[str, Any], devices: int, batch: str) -> int:
    """Return the batch of one of several devices that share it.

    Args:
        values: Hyperparameters.
        devices: How many share it.
        batch: Name of the hyperparameter that holds it.

    Raises:
        SpecError: There is none, or it cannot be shared alike.
    """
    size = values.get(batch)
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        said = f"is {size!r}, which is no batch size" if batch in values else "is not given"
        raise SpecError(
            f"Strong scaling divides the batch, but hyperparameter {batch!r} {said}. Give the "
            "job one, or name the one that it has (batch=, --batch)."
        )
    if size % devices:
        raise SpecError(
            f"A batch of {size} ({batch}) cannot be shared by {devices} devices alike. Give a "
            f"multiple of {devices}, or leave {devices} out."
        )
    return size // devices
