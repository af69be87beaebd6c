"""Every cluster that the catalog allows, predicted at once; the best ones kept.

A data group is considered only where the trainers' own CPUs are the bottleneck: nothing else
gets faster by it, so a device-bound workload is never given one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.planner.clusters import Clusters
from smtc_lab.planner.model.model import Model
from smtc_lab.planner.pareto import distinct, excess, pareto
from smtc_lab.planner.plan_settings import is_wanted
from smtc_lab.planner.words.told_advice import seconds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtc_lab.planner.outlook import Outlook

MOST_CANDIDATES = 100
"""Candidates that a plan keeps: those nearest to the front."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found."""

    clusters: Clusters
    """The kept clusters, by rising time and then by cost; where none is within the limits, the
    fastest of all."""

    front: tuple[int, ...]
    """Places of the Pareto set among them, fastest first."""

    num_fitting: int
    """Clusters within the limits, kept or not."""

    refused: dict[str, int] = field(default_factory=dict)
    """How many instance types or clusters were left out, by reason."""


def search(outlook: Outlook) -> Found:
    """Return the clusters within the limits of a plan.

    Raises:
        PlannerError: The calibration lacks what every cluster needs.
    """
    refused: dict[str, int] = {}
    model = Model(outlook.calibration, 0)
    alone = _homogeneous(outlook, refused)
    if len(alone.trainer) == 0:
        return Found(alone, (), 0, refused)
    # data workers cost nothing, so an instance is not bought in their place
    most = replace(alone, loader_workers=outlook.offers.vcpus[alone.trainer])
    stages = outlook.asked(most, lambda setup, _: model.bottlenecks(setup))
    is_fed = np.array(stages) == "cpu"
    clusters = Clusters.joined([alone, _with_data_groups(outlook, alone, is_fed, refused)])
    step_s = _step_s(outlook, model, clusters)
    usd_per_hour = clusters.usd_per_hour(outlook.offers)
    time_s, cost_usd = _job(outlook, clusters, step_s, usd_per_hour)
    fits = _within_limits(outlook, usd_per_hour, time_s, cost_usd, refused)
    if len(fits) == 0 and len(time_s):
        return Found(clusters.pick(np.array([np.argmin(time_s)])), (), 0, refused)
    clusters, time_s, cost_usd = clusters.pick(fits), time_s[fits], cost_usd[fits]
    front = distinct(time_s, pareto(time_s, cost_usd))
    if len(front) == 0 and len(fits):  # no price is known: what is left is speed
        front = np.array([np.argmin(time_s)])
    nearest = np.lexsort((time_s, excess(time_s, cost_usd, front)))[:MOST_CANDIDATES]
    kept = np.union1d(front, nearest)
    kept = kept[np.lexsort((cost_usd[kept], time_s[kept]))]
    places = {int(row): place for place, row in enumerate(kept)}
    return Found(
        clusters.pick(kept), tuple(places[int(row)] for row in front), len(fits), refused
    )


def nearest_to_deadline(outlook: Outlook, found: Found) -> str:
    """Return what comes nearest to a deadline that nothing keeps; empty: none was given.

    It is the fastest cluster, whatever it costs.
    """
    settings = outlook.settings
    if settings.deadline_s is None or not len(found.clusters.trainer):
        return ""
    best = outlook.candidates(found.clusters)[0]
    said = best.prediction
    if said.job_s is None:
        return ""
    moment = settings.ends_before or f"{settings.deadline_s:g} s are over"
    cost = "" if said.usd_per_job is None else f" and costs ${said.usd_per_job.mean:,.2f}"
    return (
        f"The nearest to ending before {moment} is {best.cluster}: the job takes "
        f"{seconds(said.job_s)}{cost}. "
    )


def _homogeneous(outlook: Outlook, refused: dict[str, int]) -> Clusters:
    """Return every type that can train alone, in the number that the plan is for.

    Where that is any number: in 1, 2, 4, … and the most instances.
    """
    offers, settings = outlook.offers, outlook.settings
    wanted, counts = _in_families(outlook), np.ones(len(offers.types))
    usable = wanted & offers.can_train
    _count(refused, "not of the chosen families, or burstable", ~wanted)
    _count(refused, offers.without_time(wanted), wanted & ~offers.can_train)
    if settings.num_devices is not None:
        counts = settings.num_devices / offers.devices
        has_number = (
            (counts == np.floor(counts)) & (counts >= 1) & (counts <= settings.max_trainers)
        )
        _count(refused, f"not {settings.num_devices} accelerators in all", usable & ~has_number)
        usable &= has_number
    knows_speed = ~np.isnan(offers.speed)
    _count(refused, "CPU speed unknown (give relative_cpu_speed)", usable & ~knows_speed)
    rows = np.flatnonzero(usable & knows_speed)
    count, is_known = counts[rows], np.ones(len(rows), dtype=bool)
    if settings.num_devices is None:
        most = settings.max_trainers
        steps = np.unique([*(2.0 ** np.arange(most.bit_length())), most])
        rows, count = (grid.ravel() for grid in np.meshgrid(rows, steps, indexing="ij"))
        is_known = (count == 1) | ~np.isnan(offers.network_gbps[rows])
        _count(refused, "network between instances unknown", ~is_known)
    is_known &= _shares(outlook, count * offers.devices[rows], is_known, refused)
    return Clusters.alone(rows[is_known], count[is_known])


def _shares(
    outlook: Outlook,
    ranks: NDArray[np.float64],
    which: NDArray[np.bool_],
    refused: dict[str, int],
) -> NDArray[np.bool_]:
    """Return which numbers of devices can share the samples of a step, where they are to."""
    if outlook.settings.mode == "weak":
        return np.ones(len(ranks), dtype=bool)
    size = outlook.calibration.batch_size
    can_share = np.asarray(size % np.maximum(ranks, 1.0) == 0)
    reason = f"a batch of {size:,} cannot be shared by their devices alike"
    _count(refused, reason, which & ~can_share)
    return can_share


def _step_s(outlook: Outlook, model: Model, clusters: Clusters) -> NDArray[np.float64]:
    return np.array(outlook.asked(clusters, lambda setup, _: model.times(setup).step_s[:, 0]))


def _with_data_groups(
    outlook: Outlook, alone: Clusters, is_fed: NDArray[np.bool_], refused: dict[str, int]
) -> Clusters:
    """Return CPU-bound clusters with each data group of 1 to the most instances."""
    offers, most = outlook.offers, outlook.settings.max_data_instances
    rows = np.flatnonzero(offers.is_cpu & _in_families(outlook) & ~np.isnan(offers.speed))
    if not any(point.path == "service" for point in outlook.calibration.worker_points):
        _count(refused, "data groups: not calibrated through the data service", is_fed)
        rows = rows[:0]
    _count(
        refused,
        "data groups: the trainers' own CPUs suffice, with enough data workers",
        ~is_fed,
    )
    fed = np.flatnonzero(is_fed)
    trainer, data, count = (
        grid.ravel() for grid in np.meshgrid(fed, rows, np.arange(1, most + 1), indexing="ij")
    )
    return Clusters(
        trainer=alone.trainer[trainer],
        trainers=alone.trainers[trainer],
        data=data,
        data_instances=count.astype(np.float64),
    )


def _job(
    outlook: Outlook,
    clusters: Clusters,
    step_s: NDArray[np.float64],
    usd_per_hour: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return time and cost of the whole job, or of one step where no job is given."""
    settings = outlook.settings
    time_s = step_s
    steps = outlook.steps(clusters)
    if steps is not None:
        spot = settings.interruptions
        useful = 1.0 if spot is None else max(spot.useful_fraction, 1e-9)
        steps_s, once_s = step_s * steps / useful, outlook.calibration.once_s
        waited_s = 0.0 if spot is None else steps_s * (1 - spot.billed_fraction)
        time_s = steps_s + once_s
        return time_s, (time_s - waited_s) * usd_per_hour / 3600
    return time_s, time_s * usd_per_hour / 3600


def _within_limits(
    outlook: Outlook,
    usd_per_hour: NDArray[np.float64],
    time_s: NDArray[np.float64],
    cost_usd: NDArray[np.float64],
    refused: dict[str, int],
) -> NDArray[np.intp]:
    settings = outlook.settings
    fits = np.ones(len(time_s), dtype=bool)
    for name, values in (
        ("budget_usd_per_hour", usd_per_hour),
        ("deadline_s", time_s),
        ("budget_usd", cost_usd),
    ):
        limit = getattr(settings, name)
        if limit is None:
            continue
        _count(refused, f"price unknown, so {name} cannot be kept", fits & np.isnan(values))
        fits &= ~np.isnan(values)
        _count(refused, f"beyond {name}={limit:g}", fits & (values > limit))
        fits &= values <= limit
    return np.flatnonzero(fits)


def _in_families(outlook: Outlook) -> NDArray[np.bool_]:
    families = outlook.settings.families
    return np.array([is_wanted(each.family, families) for each in outlook.offers.types])


def _count(refused: dict[str, int], reason: str, which: NDArray[np.bool_]) -> None:
    if number := int(which.sum()):
        refused[reason] = refused.get(reason, 0) + number
