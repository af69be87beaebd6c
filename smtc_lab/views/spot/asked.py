"""From what a form asks of a job on spot instances to what it is told. Heavy."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import PlannerError, SmtcLabError
from smtc_lab.machine.cores import available_cores
from smtc_lab.planner.forecast.forecast import Foreseen, forecast
from smtc_lab.planner.spot.forecast import spot_forecast
from smtc_lab.planner.spot.lifetimes import market_with
from smtc_lab.planner.spot.measured import scale_of
from smtc_lab.planner.spot.numbers import TAKEN_BY_JOBS
from smtc_lab.planner.spot.of_run import newest_run_of
from smtc_lab.planner.spot.words import about, advice
from smtc_lab.spec.base import Strict
from smtc_lab.views.code.typed_job import typed_job
from smtc_lab.views.forecast.typed import TypedSetUp, read_set_up
from smtc_lab.views.spot.info import AnsweredPolicy, SpotAnswer

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.launchers.run import Run
    from smtc_lab.planner.spot.numbers import PolicyForecast
    from smtc_lab.planner.spot.result import SpotForecast
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.spec.spot import Market

_MOST_TYPES = 20
_LONGEST_NAME = 80
_Prices = Annotated[dict[str, float], Field(default_factory=dict, max_length=_MOST_TYPES)]


class SpotQuestion(Strict):
    """What a form asks of a job on spot instances. None: not entered."""

    asked: Annotated[str, Field(max_length=_LONGEST_NAME)]
    """What the browser calls the question."""

    job: dict[str, Any]
    """A ``TrainingJob`` as JSON, legal or not."""

    mean_time_between_s: float | None = None
    """For how long instances last in the mean, in seconds; None: as the job's market says."""

    variation: float | None = None
    """Standard deviation of that over its mean; None: as the market says, or 1."""

    mean_wait_s: float | None = None
    """Mean time without any, in seconds; None: as the market says, or 0."""

    deadline_s: float | None = None
    """When the job must have ended, in seconds from its begin."""

    work_s: float | None = None
    """Time of its steps, in seconds; None: as its newest completed run measured it, or as it
    is predicted."""

    save_s: float | None = None
    """For how long a save holds it up, in seconds; None: as the run measured it."""

    restart_s: float | None = None
    """From a new instance to the next step, in seconds; None: as above."""

    spot_usd_per_hour: _Prices
    """Spot prices of one instance in USD per hour, by instance type."""

    on_demand_usd_per_hour: _Prices
    """On-demand prices, likewise; of types that are not there the catalog's."""


def spot_answer(
    question: object,
    *,
    catalog: Catalog | None = None,
    folder: Path | None = None,
    root: Path | None = None,
) -> SpotAnswer:
    """Return what a form is told of its job on spot instances. Nothing is launched.

    Args:
        question: A ``SpotQuestion`` as JSON, legal or not.
        catalog: On-demand prices; None: those that are kept.
        folder: Folder from which relative paths count; None: that of this process.
        root: Folder of runs; None: the default one.
    """
    called = question.get("asked") if isinstance(question, dict) else None
    asked = called[:_LONGEST_NAME] if isinstance(called, str) else ""
    try:
        read = SpotQuestion.model_validate(question)
        source, made = _predicted(read, catalog or Catalog.load(), folder, root)
    except (SmtcLabError, OSError) as error:
        return SpotAnswer(asked=asked, problem=str(error))
    return SpotAnswer(
        asked=asked,
        about=(source, *about(made)),
        policies=tuple(_answered(each) for each in made.policies),
        best=made.best.policy if made.best.chance else "",
        advice=tuple(advice(made)),
    )


def _predicted(
    question: SpotQuestion, catalog: Catalog, folder: Path | None, root: Path | None
) -> tuple[str, SpotForecast]:
    """Return where the times of the job are from, and what is predicted."""
    typed = read_set_up(question.job, folder)
    if typed.asked is None:
        raise PlannerError(typed.problem)
    job = typed.asked.job
    work: Run | TrainingJob = job
    work_s, restart_s = question.work_s, question.restart_s
    source = "Times of the job as they were entered."
    if work_s is None:
        try:
            work = _newest_run(question, job, root)
            source = f"Times of the job as run {work.job_name} measured them."
        except PlannerError:
            known = _foreseen_times(typed, catalog)
            if known is None:
                raise
            work_s = known[0]
            restart_s = known[1] if restart_s is None else restart_s
            source = "Times of the job as they are predicted from its calibration."
    made = spot_forecast(
        work,
        work_s=work_s,
        save_s=question.save_s,
        restart_s=restart_s,
        lifetimes=_lifetimes(question, job.market),
        deadline_s=question.deadline_s,
        spot_usd_per_hour=question.spot_usd_per_hour,
        on_demand_usd_per_hour=question.on_demand_usd_per_hour,
        catalog=catalog,
        root=root,
    )
    return source, made


def _newest_run(question: SpotQuestion, job: TrainingJob, root: Path | None) -> Run:
    """Return the newest run of a job, whose path may be kept as it was typed."""
    typed = typed_job(question.job).entry_point
    if typed != job.entry_point:
        with suppress(PlannerError):
            return newest_run_of(job, root=root)
    return newest_run_of(job.model_copy(update={"entry_point": typed}), root=root)


def _foreseen_times(typed: TypedSetUp, catalog: Catalog) -> tuple[float, float | None] | None:
    """Return steps and start-up as a form predicts them, in seconds of the job's market.

    None: it was not calibrated, or nobody knows how many steps it takes.
    """
    if typed.asked is None or typed.model is None or typed.asked.job.max_steps is None:
        return None
    job = typed.asked.job
    (found,) = forecast([typed.asked], [typed.model], catalog, cores=available_cores())
    if not isinstance(found, Foreseen):
        return None
    startup, compiling = typed.model.calibration.startup_s, typed.model.calibration.compile_s
    restart_s = None if startup is None else startup.mean
    if restart_s is not None and compiling is not None:
        restart_s += compiling.mean
    scale = scale_of(job.market)
    work_s = scale * (job.max_steps or math.nan) * found.prediction.step_time_s.mean
    return work_s, None if restart_s is None else scale * restart_s


def _lifetimes(question: SpotQuestion, market: Market | None) -> Any:  # noqa: ANN401  a market, or numbers
    """Return the market of a job with what was entered, or that alone.

    Raises:
        SpecError: A number is out of its range.
        PlannerError: There is no market, and no mean time was entered.
    """
    given = {
        name: value
        for name in ("mean_time_between_s", "variation", "mean_wait_s")
        if (value := getattr(question, name)) is not None
    }
    if market is not None:
        return market_with(market, given)
    if "mean_time_between_s" not in given:
        raise PlannerError(
            "mean_time_between_s is not entered, and the job has no market. Enter for how long "
            "spot instances last in the mean."
        )
    return given


def _answered(one: PolicyForecast) -> AnsweredPolicy:
    return AnsweredPolicy(
        policy=one.policy,
        usd=one.usd,
        finish_s=one.finish_s,
        deadline_probability=one.deadline_probability,
        ended_fraction=one.ended_fraction,
        save_every_s=one.best_save_every_s if one.curve else None,
        use_spot_instances=TAKEN_BY_JOBS.get(one.policy),
    )
