"""What could be better in how a job grows, with this job's numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from smtc_lab.catalog.roles import training_groups
from smtc_lab.metrics.batch.learning_rate import scaled_learning_rate
from smtc_lab.metrics.finding import Cost, Finding
from smtc_lab.metrics.scaling.verdict import devices_words, largest_loss
from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.catalog.instance_types import InstanceType
    from smtc_lab.metrics.scaling.scaling import Cause, Scaling, ScalingPoint
    from smtc_lab.spec.job import TrainingJob

_FIX: dict[Cause, str] = {
    "data_wait": "Add a data group, or more vCPUs to the one there is: smtc_lab's dataloader "
    "prepares batches on it.",
    "stragglers": "Look at each rank's steps in the slowest launch, and give ranks samples of "
    "like size.",
    "communication": "Smaller gradient buckets, gradients in half precision or several "
    "microbatches for each exchange hide or shrink it.",
    "compute": "Keep the batch of each device where the step's batch may grow: small batches "
    "fill a device badly.",
    "other": "",
}
_SAME = 0.05
"""Difference of samples per step below which it is rounding."""

_MEASURES = "MEASURE_COMMUNICATION"  # as smtc_lab.instance.variables has it
_RATES = ("learning_rate", "learning-rate", "lr")
_OPTIMIZERS = ("SGD", "AdamW")


def advice(
    scaling: Scaling, jobs: Mapping[str, TrainingJob], catalog: Catalog
) -> tuple[Finding, ...]:
    """Return what could be better, the gravest first.

    Args:
        scaling: Points of all curves.
        jobs: A job of each set-up, by the set-up's name.
        catalog: Types and prices.
    """
    most = [curve.points[-1] for curve in scaling.curves if len(curve.points) > 1]
    return (
        *(each for curve in scaling.curves for each in _kept_batch(scaling, curve.points)),
        *(each for point in most for each in _lost(point)),
        *_untold(scaling, jobs),
        *(
            each
            for curve in scaling.curves
            for point in curve.points[1:]
            for each in _bigger_instance(point, jobs[point.set_up], catalog)
        ),
        *(each for curve in scaling.curves for each in _idle(curve.points)),
        *_learning_rate(scaling, jobs),
    )


def _kept_batch(scaling: Scaling, points: tuple[ScalingPoint, ...]) -> Iterator[Finding]:
    """Yield that a batch was divided where it was to be kept, or the other way round."""
    fewest = points[0]
    for point in points[1:]:
        if not fewest.samples_per_step or point.samples_per_step is None:
            continue
        grew = point.samples_per_step / fewest.samples_per_step
        wanted = point.devices / fewest.devices if scaling.mode == "weak" else 1.0
        if abs(grew / wanted - 1) <= _SAME:
            continue
        yield Finding(
            kind="batch_of_step",
            sentence=f"A step of {devices_words(point.devices)} trained {grew:.3g} times as "
            f"many samples as one of {fewest.devices}, where {scaling.mode} scaling means "
            f"{wanted:.3g} times: efficiencies are of samples per second, not of this mode.",
            fix="Let the script take its batch size as that of each device.",
        )
        return


def _lost(point: ScalingPoint) -> Iterator[Finding]:
    """Yield what most of the loss at the largest point goes to."""
    found = largest_loss(point)
    if found is None:
        return
    words, part = found
    cause = next(each.cause for each in point.lost if each.s_per_step is part)
    yield Finding(
        kind=f"scaling_{cause}",
        sentence=f"On {devices_words(point.devices)} each step loses {1e3 * part.mean:.1f} ms "
        f"to {words}, {100 * part.mean / point.step_time_s.mean:.0f} % of it.",
        fix=_FIX[cause],
        cost=Cost(
            fraction=min(1.0, part.mean / point.step_time_s.mean),
            s_per_step=part,
            usd_per_1000_steps=None
            if point.usd_per_hour is None
            else part.scaled(1000 * point.usd_per_hour / 3600),
            evidence="emulated" if part.evidence == "emulated" else "measured",
        ),
    )


def _untold(scaling: Scaling, jobs: Mapping[str, TrainingJob]) -> Iterator[Finding]:
    """Yield why communication is not told apart from all else, and what would tell it."""
    shared = [
        point
        for curve in scaling.curves
        for point in curve.points
        if point.devices > 1 and point.lost
    ]
    untold = [
        point for point in shared if all(part.cause != "communication" for part in point.lost)
    ]
    if not untold:
        return
    jobs_of_them = [jobs[point.set_up] for point in untold]
    if any(job.environment.get(_MEASURES) == "0" for job in jobs_of_them):
        why = f"{_MEASURES}=0 in the job's environment turns its record off."
        fix = f"Leave {_MEASURES} out of the job's environment."
    elif any(point.exposed_comm_s is not None for point in untold):
        why = "not each of the launches recorded it in every step."
        fix = "Look into the logs of the launches for why, and launch them again."
    else:
        why = (
            "no trainer recorded an exchange of gradients. It is recorded where "
            "DistributedDataParallel or fully_shard exchanges them between CPUs, or between "
            "emulated devices."
        )
        fix = (
            "Let the script average its gradients so, as smtc_lab.Session().prepare(model, "
            "optimizer) does. On real accelerators a profiler tells it."
        )
    names = ", ".join(point.set_up for point in untold)
    yield Finding(
        kind="communication_untold",
        severity="note",
        sentence=f"Communication is not told apart from all else on {names}: {why}",
        fix=fix,
    )


def _bigger_instance(
    point: ScalingPoint, job: TrainingJob, catalog: Catalog
) -> Iterator[Finding]:
    """Yield what one bigger instance would have to win to be cheaper than several."""
    trains = training_groups(job.cluster, catalog)
    if len(trains) != 1 or trains[0].instance_type == LOCAL or point.instances < 2:
        return
    own = catalog.get(trains[0].instance_type)
    bigger = _bigger(own, point.devices, catalog)
    if bigger is None or bigger.price is None or own.price is None or not point.usd_per_hour:
        return
    several = point.instances * own.price.usd_per_hour
    whole = point.usd_per_hour - several + bigger.price.usd_per_hour
    needed = whole / point.usd_per_hour
    lost_s = sum(
        max(0.0, part.s_per_step.mean)
        for part in point.lost
        if part.cause in {"stragglers", "communication", "other"}
    )
    most = point.step_time_s.mean / max(point.step_time_s.mean - lost_s, 1e-9)
    sentence = (
        f"{devices_words(point.devices)} as {point.instances} x {own.name} cost "
        f"{point.usd_per_hour:.4g} USD/h; one {bigger.name} has as many, for {whole:.4g} USD/h "
        "and with no network between them."
    )
    if needed <= 1:
        fix = "Take the bigger instance before more instances: it is cheaper at equal speed."
    elif needed < most:
        fix = (
            f"It is cheaper per sample if its steps are at least {needed:.3g} times as fast; "
            f"at most {most:.3g} times can be won of what is lost here. Measure it."
        )
    else:
        fix = (
            f"It would have to be {needed:.3g} times as fast to be cheaper per sample, and at "
            f"most {most:.3g} times can be won of what is lost here. Stay with more instances."
        )
    yield Finding(
        kind="bigger_instance",
        severity="warning" if needed <= 1 else "note",
        sentence=sentence,
        fix=fix,
        action="" if needed > most else "lab.scale(job, devices=…, bigger_instances=True)",
    )


def _bigger(own: InstanceType, devices: int, catalog: Catalog) -> InstanceType | None:
    """Return the cheapest type of the same family with so many of the same accelerators."""
    found = [
        each
        for each in catalog.instance_types.values()
        if each.family == own.family
        and each.accelerator == own.accelerator
        and each.accelerator_count == devices
        and each.price is not None
    ]
    return min(
        found, key=lambda each: each.price.usd_per_hour if each.price else 0.0, default=None
    )


def _idle(points: tuple[ScalingPoint, ...]) -> Iterator[Finding]:
    """Yield that accelerators without a trainer are billed."""
    idle = [point for point in points if point.idle_devices]
    if idle:
        counts = ", ".join(
            f"{point.idle_devices} of {point.idle_devices + point.devices} at {point.devices}"
            for point in idle
        )
        yield Finding(
            kind="idle_devices",
            severity="note",
            sentence=f"Devices that no trainer uses are billed: {counts}. Prices per sample "
            "are of the whole instances.",
            fix="Compare prices at the points where all devices train.",
        )


def _learning_rate(scaling: Scaling, jobs: Mapping[str, TrainingJob]) -> Iterator[Finding]:
    """Yield how the learning rate may follow a batch that grows with the devices."""
    if not scaling.curves:
        return
    fewest, most = scaling.curves[0].points[0], scaling.curves[0].points[-1]
    if not fewest.samples_per_step or not most.samples_per_step:
        return
    batch, new_batch = round(fewest.samples_per_step), round(most.samples_per_step)
    if batch < 1 or new_batch <= batch:
        return
    job = jobs[most.set_up]
    given = next(
        (
            value
            for name in _RATES
            if isinstance(value := job.hyperparameters.get(name), int | float) and value > 0
        ),
        None,
    )
    words = []
    for optimizer in _optimizers(job):
        rate = scaled_learning_rate(
            1.0 if given is None else float(given),
            batch_size=batch,
            new_batch_size=new_batch,
            optimizer=optimizer,
            job_steps=job.max_steps,
        )
        factor = "times " if given is None else ""
        words.append(
            f"{factor}{rate.learning_rate:.4g} with {optimizer} "
            f"({'in proportion' if rate.rule == 'linear' else 'with the square root'}, "
            f"warm-up of {rate.warm_up_steps:,})"
        )
    yield Finding(
        kind="learning_rate",
        severity="note",
        sentence=f"On {devices_words(most.devices)} a step's batch is {new_batch:,} samples "
        f"instead of {batch:,}, so it is another training.",
        fix=f"Begin the search for a learning rate at {' or at '.join(words)}, warm-up in "
        "steps; above the critical batch leave it as it is.",
    )


def _optimizers(job: TrainingJob) -> tuple[str, ...]:
    """Return the optimizer that the job names, where its rule is known; else one of each."""
    given = job.hyperparameters.get("optimizer")
    known = isinstance(given, str) and re.search(r"sgd|adam|rmsprop", given.lower())
    return (str(given),) if known else _OPTIMIZERS
