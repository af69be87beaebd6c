"""What a search will cost, before it begins: by what a run of its script has cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.errors import PlannerError
from smtc_lab.launchers.run import Run
from smtc_lab.metrics.result import Result
from smtc_lab.planner.spot.of_run import newest_run_of
from smtc_lab.study.tuning.objective_values import ObjectiveValues
from smtc_lab.study.tuning.rungs import REDUCTION, Rungs
from smtc_lab.study.tuning.trial_run import spent_of

if TYPE_CHECKING:
    from _typeshed import StrPath

    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.spec.tuning.question import TuningQuestion


class PricedRung(Result):
    """What trials cost from one rung to the next."""

    values: int
    """Values of the objective at its end."""

    trials: int
    """Trials that are trained to there."""

    usd: float
    """What that costs beyond the rung before, in USD."""


class ExpectedCost(Result):
    """What a search is expected to cost, if its trials take as long as a run of the script."""

    usd: float
    """All trials, in USD; a budget ends the search before."""

    run: str
    """Job name of the run whose cost was taken for that of a trial."""

    usd_of_run: float
    """What that has cost, in USD."""

    rungs: tuple[PricedRung, ...] = ()
    """Of ``Hyperband``: each rung; ``usd`` is their sum."""


def expected_tuning_cost(
    job: TrainingJob,
    question: TuningQuestion,
    *,
    run: str | None = None,
    root: StrPath | None = None,
) -> ExpectedCost:
    """Return what a search will cost, as a run of its script tells.

    Of trials that are stopped early by the median rule nobody knows before how many there are:
    they are counted in full.

    Args:
        job: What each trial trains.
        question: What is searched.
        run: Job name of a completed run of the script; None: the newest one on this cluster.
        root: Folder of runs; None: the default one.

    Raises:
        PlannerError: There is no such run, or it cost an unknown sum.
        StoreError: It cannot be read.
    """
    like = (
        newest_run_of(job, root=root, but=("hyperparameters",))
        if run is None
        else Run.open(run, root=root)
    )
    usd = spent_of(like).usd
    if usd is None:
        raise PlannerError(
            f"The price of {job.cluster.label} is unknown, so what {like.job_name!r} has cost "
            "is unknown, too. Give it a price."
        )
    rungs = _rungs(like, question, usd)
    return ExpectedCost(
        usd=sum(rung.usd for rung in rungs) if rungs else usd * question.num_trials,
        run=like.job_name,
        usd_of_run=usd,
        rungs=rungs,
    )


def _rungs(like: Run, question: TuningQuestion, usd: float) -> tuple[PricedRung, ...]:
    halved, config = Rungs.of(question), question.strategy_config
    if halved is None or config is None:
        return ()
    values = ObjectiveValues(like.folder, question.objective_metric_name).read()
    if not values:
        raise PlannerError(
            f"The run {like.job_name!r} logged no {question.objective_metric_name!r}, so what "
            "a rung costs is unknown. Name a run that did."
        )
    found, trials, before = [], question.num_trials, 0
    for end in (*halved.ends, config.max_resource):
        told = trials * (end - before) * usd / len(values)
        found.append(PricedRung(values=end, trials=trials, usd=told))
        # the best one of those that wait is trained to its end in any case
        trials, before = max(1, trials // REDUCTION), end
    return tuple(found)
