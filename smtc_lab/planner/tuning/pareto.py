"""The trials of a search on other clusters: hyperparameters are searched once, money is not."""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SmtcLabError, SpecError
from smtc_lab.metrics.tuning.pareto import LEAST_GAIN, PARETO, PricedTrial, TuningPareto
from smtc_lab.neutral_text import neutral
from smtc_lab.planner.tuning.priced import TrialPricing
from smtc_lab.spec.cluster import Cluster
from smtc_lab.store.state import replace_file
from smtc_lab.study.tuning.tuning_run import TuningRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from _typeshed import StrPath

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.metrics.tuning.found import Trial
    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.spec.job import TrainingJob

_MOST_TRIALS = 200
"""Trials that are priced, the best ones."""


def tuning_pareto(
    study: TuningRun | str,
    clusters: Sequence[Cluster | str] | None = None,
    *,
    calibration: Calibration | None = None,
    catalog: Catalog | None = None,
    root: StrPath | None = None,
) -> TuningPareto:
    """Return what the trials of a search would cost on clusters, and which of them are best.

    Nothing is launched, and views of the search show it from then on. A trial's own run
    tells what it costs where it was searched; elsewhere the planner predicts it from a
    calibration: the trial's own, else any of the search. Where the trial's own step time is
    not within what that predicts of it, its model is another one: its prices move with it,
    and their intervals hold both. Times of trials that ran side by side are those of a
    crowded machine and do not count: only calibrations do. Of an emulation prices and times
    are of the steps, in cluster time.

    Args:
        study: The search, or its name.
        clusters: Clusters, or texts as ``Cluster.parse`` takes them; None: where it was
            searched, and up to four of those that a plan finds worth their money.
        calibration: Of one of its trials; None: the newest that ``calibrate`` kept.
        catalog: Types and prices; None: those that the search had.
        root: Folder of runs; None: the default one.

    Raises:
        StoreError: There is no such search, or a file of it is damaged.
        SpecError: A text names no legal cluster.
    """
    run = TuningRun.open(study, root=root) if isinstance(study, str) else study
    asked = [Cluster.parse(one) if isinstance(one, str) else one for one in clusters or ()]
    found, sign = run.found, 1.0 if run.found.is_minimized else -1.0
    whole = [one for one in found.trials if one.state == "Completed" and one.counts]
    whole.sort(key=lambda trial: sign * _value(trial))
    pricing = TrialPricing(run, catalog=catalog, calibration=calibration)
    left_out = list(pricing.said)
    if others := len(found.trials) - len(whole):
        left_out.append(f"{others} of {len(found.trials)} trials: not trained to their end.")
    if more := whole[_MOST_TRIALS:]:
        left_out.append(f"{len(more)} trials: only the {_MOST_TRIALS} best are priced.")
    chosen = asked or [run.request.jobs[0].cluster]
    if whole and not asked:
        try:
            chosen = pricing.worth_while(whole[0])
        except (SmtcLabError, ArithmeticError, ValueError) as error:
            left_out.append(f"Other clusters: {str(error)[:500]}")
    points, reasons = _priced(pricing, whole[:_MOST_TRIALS], chosen)
    points.sort(key=lambda point: (sign * point.value, point.usd.mean))
    least_usd = math.inf
    for place, point in enumerate(points):
        if point.usd.mean < (1 - LEAST_GAIN) * least_usd:
            points[place] = point.model_copy(update={"is_best": True})
            least_usd = point.usd.mean
    made = TuningPareto(
        points=tuple(points),
        left_out=tuple(neutral(one) for one in (*left_out, *reasons)),
        study=run.name,
        objective=found.objective,
    )
    with suppress(OSError):  # a folder that cannot be written can still be read
        replace_file(run.folder.path / PARETO, made.model_dump_json())
    return made


def _priced(
    pricing: TrialPricing, trials: Sequence[Trial], clusters: Sequence[Cluster]
) -> tuple[list[PricedTrial], list[str]]:
    """Return trials on clusters, and which are not among them, and why."""
    points, reasons = [], dict[str, list[str]]()
    for trial, cluster in product(trials, clusters):
        try:
            usd, time_s = pricing.of(trial, cluster)
        except (SmtcLabError, ArithmeticError, LookupError, ValueError) as error:
            reasons.setdefault(str(error)[:500], []).append(f"{trial.number} on {cluster}")
            continue
        points.append(
            PricedTrial(
                trial=trial.number,
                cluster=str(cluster),
                value=_value(trial),
                usd=usd,
                time_s=time_s,
                is_best=False,
            )
        )
    return points, [
        f"Trial {them[0]}{f' and {len(them) - 1} more' if len(them) > 1 else ''}: {reason}"
        for reason, them in reasons.items()
    ]


def tuning_job(
    study: TuningRun | str,
    trial: PricedTrial | int | None = None,
    cluster: Cluster | str | None = None,
    *,
    root: StrPath | None = None,
    **fields: Any,  # noqa: ANN401  TrainingJob checks them
) -> TrainingJob:
    """Return the job that trains a trial of a search, there or on another cluster.

    Args:
        study: The search, or its name.
        trial: A point of ``tuning_pareto``, on whose cluster it is; or the number of a trial;
            None: the best one so far.
        cluster: A cluster, or the text that ``Cluster.parse`` takes; None: that of the point,
            or where it was searched.
        root: Folder of runs; None: the default one.
        **fields: Fields of ``TrainingJob`` that win, such as ``job_name``.

    Raises:
        SpecError: There is no such trial, or a field is illegal.
        StoreError: There is no such search, or a file of it is damaged.
    """
    run = TuningRun.open(study, root=root) if isinstance(study, str) else study
    found = run.found
    if isinstance(trial, PricedTrial):
        cluster = trial.cluster if cluster is None else cluster
        trial = trial.trial
    chosen = (
        found.best
        if trial is None
        else next((one for one in found.trials if one.number == trial), None)
    )
    if chosen is None:
        which = "with an objective" if trial is None else str(trial)
        raise SpecError(
            f"Search {run.name!r} has no trial {which}, of {len(found.trials)}. Choose another."
        )
    cluster = Cluster.parse(cluster) if isinstance(cluster, str) else cluster
    return TrialPricing(run).job(chosen, cluster or run.request.jobs[0].cluster, **fields)


def _value(trial: Trial) -> float:
    return float("nan") if trial.value is None else trial.value
