"""What to try, in the order an engineer would: the free things first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from smtc_lab.errors import PlannerError
from smtc_lab.metrics.finding import Cost
from smtc_lab.planner.clusters import Clusters
from smtc_lab.planner.model.model import Model
from smtc_lab.planner.plan_settings import is_wanted
from smtc_lab.planner.words.limiting_workers import limiting_workers, more_workers_words
from smtc_lab.planner.words.told_advice import Advice, told_advice
from smtc_lab.rules.call_text import call_text

if TYPE_CHECKING:
    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.planner.model.prediction import Candidate
    from smtc_lab.planner.outlook import Outlook
    from smtc_lab.planner.planned_candidate import PlannedCandidate


def start_of(planned: PlannedCandidate) -> Candidate:
    """Return the training group of a cluster alone, from which advice begins."""
    if not planned.candidate.is_heterogeneous:
        return planned.candidate
    row = planned.outlook.clusters_of(planned.candidate.cluster)
    alone = _alone(row, start_workers(planned))
    return planned.outlook.candidates(alone, batch_size=planned.batch_size)[0]


def start_workers(planned: PlannedCandidate) -> int | None:
    """Return the data workers of each training instance where they are alone.

    Trainers that prepare nothing because a data group does would have those of the script.

    Returns:
        None: one for each vCPU.
    """
    asked, outlook = planned.num_loader_workers, planned.outlook
    if asked is not None and not (planned.candidate.is_heterogeneous and asked == 0):
        return asked
    of_script = outlook.calibration.script_num_workers
    if of_script is None:
        return None
    row = outlook.clusters_of(planned.candidate.cluster).trainer[0]
    return of_script * int(outlook.offers.devices[row])


def advice_of(planned: PlannedCandidate) -> tuple[Advice, ...]:
    """Return everything worth trying, the free things first."""
    outlook, start = planned.outlook, start_of(planned)
    row = outlook.clusters_of(start.cluster, num_loader_workers=start_workers(planned))
    if start.prediction.bottleneck == "cpu":
        raised = _more_workers(planned, start, row)
        adds = (
            planned.candidate.is_heterogeneous
            or raised is None
            or (raised.prediction is not None and raised.prediction.bottleneck == "cpu")
        )
        found = [
            raised,
            # what costs nothing may be enough
            *([_larger_size(outlook, start, row)] if adds else []),
            *([_data_group(planned, start, row)] if adds else []),
            _transforms(start),
        ]
    else:
        found = [
            _more_workers(planned, start, row),
            _larger_batch(outlook, start, row),
            _compile(start, outlook.calibration),
        ]
    return tuple(each for each in found if each is not None)


def _more_workers(planned: PlannedCandidate, start: Candidate, row: Clusters) -> Advice | None:
    vcpus = planned.outlook.offers.vcpus[row.trainer[0]]
    workers = limiting_workers(start_workers(planned), vcpus)
    if workers is None:
        return None
    alone = _alone(row, int(vcpus))
    better = planned.outlook.candidates(alone, batch_size=planned.batch_size)[0]
    is_own = planned.num_loader_workers in {None, 0}
    of_script = planned.outlook.calibration.script_num_workers if is_own else None
    devices = planned.outlook.offers.devices[row.trainer[0]]
    what = more_workers_words(workers, vcpus, of_script=of_script, devices=devices)
    return told_advice("workers", what, start.prediction, better.prediction)


def _larger_size(outlook: Outlook, start: Candidate, row: Clusters) -> Advice | None:
    """Return the size of the same family that makes a sample cheapest."""
    offers, own = outlook.offers, int(row.trainer[0])
    larger = [
        index
        for index, each in enumerate(offers.types)
        if each.family == offers.types[own].family
        and each.accelerator_count == offers.types[own].accelerator_count
        and each.vcpus > offers.types[own].vcpus
    ]
    if not larger:
        return None
    clusters = Clusters.alone(np.array(larger), np.full(len(larger), row.trainers[0]))
    best = min(outlook.candidates(clusters), key=_cost_then_time)
    group = best.cluster.instance_groups[0]
    vcpus = offers.vcpus[offers.row_of[group.instance_type]]
    what = f"Use {group.instance_type} ({vcpus:.0f} vCPUs)"
    return told_advice("larger_size", what, start.prediction, best.prediction, best.cluster)


def _data_group(planned: PlannedCandidate, start: Candidate, row: Clusters) -> Advice | None:
    best = planned.candidate
    if not best.is_heterogeneous:
        found = _best_data_group(planned.outlook, row)
        if found is None:
            return None
        best = found
    group = best.cluster.instance_groups[-1]
    what = f"Add {group.instance_count} × {group.instance_type}"  # noqa: RUF001  as AWS writes it
    return told_advice("data_group", what, start.prediction, best.prediction, best.cluster)


def _best_data_group(outlook: Outlook, row: Clusters) -> Candidate | None:
    offers, settings = outlook.offers, outlook.settings
    wanted = np.array([is_wanted(each.family, settings.families) for each in offers.types])
    types = np.flatnonzero(offers.is_cpu & wanted & ~np.isnan(offers.speed))
    counts = np.arange(1, settings.max_data_instances + 1)
    model = Model(outlook.calibration, 0)
    if model.inputs.remote is None or not len(types) or not len(counts):
        return None
    data, count = (grid.ravel() for grid in np.meshgrid(types, counts, indexing="ij"))
    clusters = Clusters(
        trainer=np.full(len(data), row.trainer[0]),
        trainers=np.full(len(data), row.trainers[0]),
        data=data,
        data_instances=count.astype(np.float64),
    )
    step_s = np.array(outlook.asked(clusters, lambda setup, _: model.times(setup).step_s[:, 0]))
    cost = step_s * clusters.usd_per_hour(outlook.offers)
    key = step_s if np.isnan(cost).all() else np.where(np.isnan(cost), math.inf, cost)
    return outlook.candidates(clusters.pick(np.array([np.argmin(key)])))[0]


def _transforms(start: Candidate) -> Advice:
    """Return how much faster a step is without any CPU work, which is the most to be had."""
    said = start.prediction
    rest_s = sum(said.stages_s[stage] or 0.0 for stage in ("serial", "device"))
    speedup = said.step_time_s.mean / rest_s if rest_s > 0 else None
    gain = "" if speedup is None else f", at most {speedup:.3g} times as fast"
    cost = None if speedup is None else Cost(fraction=1 - 1 / speedup, evidence="at most")
    what = "Prepare samples ahead of the job, or move transforms to the device"
    return Advice(
        kind="transforms",
        sentence=(
            f"{what}{gain}; what the device then takes longer is not known before it is "
            "measured."
        ),
        fix=f"{what}.",
        cost=cost,
        speedup=speedup,
        saving_fraction=None if cost is None else cost.fraction,
    )


def _larger_batch(outlook: Outlook, start: Candidate, row: Clusters) -> Advice | None:
    if outlook.calibration.emulated_device_s is not None:
        return None  # declared for a step of any batch
    if outlook.settings.mode == "strong":
        return None  # the samples of a step are to stay
    batch_size = 2 * outlook.calibration.batch_size
    try:
        larger = outlook.candidates(row, batch_size=batch_size)[0].prediction
    except PlannerError:  # the device time is known for one batch size only
        return None
    what = f"Train with batches of {batch_size:,} (fit the learning rate to it)"
    return told_advice("batch_size", what, start.prediction, larger, work=2.0)


def _compile(start: Candidate, of: Calibration) -> Advice | None:
    if start.prediction.bottleneck != "device":
        return None
    share = start.prediction.utilization["device"] or 0.0
    given: dict[str, Any] = {"hyperparameters": of.hyperparameters, "arguments": of.arguments}
    return Advice(
        kind="compile",
        sentence=(
            f"Compile the step: the device works in {100 * share:.0f} % of it. What that "
            "brings is measured by smtc_lab.compare_compilers()."
        ),
        fix="Compile the step.",
        action=call_text("smtc_lab.compare_compilers", of.entry_point, **given),
    )


def _alone(row: Clusters, num_loader_workers: int | None) -> Clusters:
    workers = math.inf if num_loader_workers is None else float(num_loader_workers)
    return Clusters.alone(row.trainer, row.trainers, workers)


def _cost_then_time(candidate: Candidate) -> tuple[float, float]:
    usd, time = candidate.prediction.usd_per_step, candidate.prediction.step_time_s.mean
    return math.inf if usd is None else usd.mean, time
