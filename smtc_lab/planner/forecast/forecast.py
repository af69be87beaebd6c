"""What a local comparison would show of each of its set-ups, from their calibrations."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.catalog.own_cpu_speed import own_cpu_speed
from smtc_lab.catalog.placed import Placed
from smtc_lab.errors import CatalogError, PlannerError, SpecError
from smtc_lab.launchers.dilation import (
    at_one_dilation,
    common_dilation,
    dilation_problems,
    speed_units,
)
from smtc_lab.launchers.planning import ROUNDING
from smtc_lab.metrics.records.cluster_time import dilation_of_job
from smtc_lab.planner.forecast.exchanges import Exchange, exchanges
from smtc_lab.planner.forecast.launched import Surroundings, laid_out, placed_if_known, setup_of
from smtc_lab.planner.model.cpu_use import CpuShares, cpu_use
from smtc_lab.planner.model.predict import Terms, predictions
from smtc_lab.planner.offers import type_table
from smtc_lab.planner.words.limiting_workers import limiting_workers, more_workers_words
from smtc_lab.planner.words.told_advice import told_advice
from smtc_lab.spec.cluster import LOCAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.metrics.result import Interval
    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.planner.forecast.calibrated import CalibratedModel
    from smtc_lab.planner.forecast.launched import AskedSetUp
    from smtc_lab.planner.model.model import Model
    from smtc_lab.planner.model.prediction import Prediction
    from smtc_lab.planner.model.setup import Setup
    from smtc_lab.planner.words.told_advice import Advice
    from smtc_lab.spec.job import TrainingJob


@dataclass(frozen=True, kw_only=True)
class Foreseen:
    """What is predicted of a set-up, as its launch in this comparison will be."""

    prediction: Prediction
    """Step time and cost. Of an emulated set-up it is in cluster time."""

    setup: Setup
    """Its quotas and data workers, as the model has them."""

    cpu: CpuShares
    """How busy the CPUs are, and who prepares the samples."""

    limiting_workers: int | None
    """Data workers of a training instance, where they, and not its vCPUs, bound the step."""

    advice: Advice | None
    """What a plan says to try first, where that is more data workers; None: it is not."""

    job_s: Interval | None
    """The job in seconds: of an emulated one its steps, since start-up and end are on another
    scale. None: the number of steps or the start-up is not known."""

    usd_per_job: Interval | None
    """Cost of that in USD; None: that or a price is unknown."""

    has_data: bool
    """Whether it has data instances."""

    whole_s: float | None
    """A launch from start to end in seconds, by this machine's clock; None: not known."""

    of_groups: tuple[Exchange, ...]
    """For each instance group what every type of the catalog would be there."""

    with_data: Exchange
    """What a data group would bring, shape (1,); NaN: it has one."""


def forecast(
    set_ups: Sequence[AskedSetUp],
    models: Sequence[CalibratedModel | None],
    catalog: Catalog,
    *,
    cores: float,
) -> list[Foreseen | str]:
    """Return what a local comparison would show of each set-up, or why nothing is predicted.

    Args:
        set_ups: The set-ups that would be compared.
        models: For each the model of its workload; None: it has no calibration, and nothing
            is said of it but what is wrong with it.
        catalog: Instance types and prices.
        cores: Cores of this machine.

    Returns:
        For each set-up what is predicted; or a sentence; empty: it has no model, and nothing
        is wrong with it.
    """
    checked = [_checked(each.job, catalog, cores) for each in set_ups]
    problems = ["" if isinstance(each, Placed) else each for each in checked]
    around: dict[str, Surroundings] = {}
    sound = [place for place, problem in enumerate(problems) if not problem]
    found: list[Foreseen | str] = list(problems)
    if not any(models[place] for place in sound):
        return found
    try:
        jobs = _launched([set_ups[place].job for place in sound], catalog, cores)
    except CatalogError as error:
        return [problem or str(error) for problem in problems]
    for place, job in zip(sound, jobs, strict=True):
        known, where = models[place], checked[place]
        if known is None or not isinstance(where, Placed):
            continue
        try:
            with np.errstate(all="ignore"):  # what is no finite number is refused below
                asked, speeds = set_ups[place], str(set_ups[place].emulation.relative_cpu_speed)
                if speeds not in around:
                    around[speeds] = surroundings(asked, catalog, cores)
                dilation = dilation_of_job(job)
                found[place] = _foreseen(asked, known, where, around[speeds], dilation)
        except (PlannerError, CatalogError) as error:
            found[place] = str(error)
        except (ArithmeticError, ValueError) as error:
            found[place] = (
                f"Nothing can be computed from the calibration of {job.entry_point} ({error}): "
                "it holds numbers that no machine measures. Calibrate again."
            )
    return found


def surroundings(asked: AskedSetUp, catalog: Catalog, cores: float) -> Surroundings:
    """Return what a set-up shares with all for which CPUs are as fast.

    Raises:
        CatalogError: The speed of this machine is not known.
    """
    table = type_table(
        catalog,
        asked.emulation.relative_cpu_speed,
        beside=own_cpu_speed().value,
        cores=max(1, math.ceil(cores - ROUNDING)),
    )
    return Surroundings(catalog=catalog, table=table, cores=cores)


def _launched(jobs: Sequence[TrainingJob], catalog: Catalog, cores: float) -> list[TrainingJob]:
    """Return jobs at the time dilation that they would be launched at together."""
    return at_one_dilation(jobs, lambda some: common_dilation(some, catalog, cores=cores))


def _checked(job: TrainingJob, catalog: Catalog, cores: float) -> Placed | str:
    """Return where a set-up is placed, or why it is not launched, or not known to the model."""
    try:
        where = placed_if_known(job, catalog)
        speed_units(job, catalog)  # of a type whose speed nobody knows it says so
        problems = dilation_problems(job, catalog, cores=cores)
    except (SpecError, CatalogError, PlannerError) as error:
        return str(error)
    return "".join(problems) or where


def _foreseen(
    asked: AskedSetUp,
    known: CalibratedModel,
    where: Placed,
    around: Surroundings,
    dilation: float,
) -> Foreseen:
    job, is_emulated = asked.job, asked.job.emulation is not None
    table, model = around.table, known.model
    own = known.calibration.script_num_workers
    laid = laid_out(where, table, is_emulated=is_emulated)
    setup = setup_of(job, laid, table, emulation=job.emulation, own_workers=own)
    is_rented = any(group.instance_type != LOCAL for group in job.cluster.instance_groups)
    terms = Terms(
        usd_per_hour=where.usd_per_hour,
        is_rented=is_rented,
        steps=job.max_steps,
        cautions=_cautions(job, known.calibration, around.cores),
    )
    made = predictions(model, setup, [terms])[0]
    _refuse_endless(made)
    parts = made.parts
    of_script = own if job.num_loader_workers is None else None
    *of_groups, with_data = exchanges(asked, known.of_means, around)
    return Foreseen(
        prediction=made,
        setup=setup,
        cpu=cpu_use(model, setup, step_s=made.step_time_s.mean, bottleneck=made.bottleneck),
        limiting_workers=_limiting_workers(setup, made),
        advice=_advice(model, setup, terms, made, of_script=of_script),
        job_s=parts.steps_s if parts is not None and is_emulated else made.job_s,
        usd_per_job=parts.steps_usd if parts is not None and is_emulated else made.usd_per_job,
        has_data=bool(np.any(setup.data_instances)),
        whole_s=(
            None if parts is None else parts.whole_s.mean + (dilation - 1) * parts.steps_s.mean
        ),
        of_groups=tuple(of_groups),
        with_data=with_data,
    )


def _limiting_workers(setup: Setup, made: Prediction) -> int | None:
    """Return the data workers that bound a step which no data instance feeds; None: others."""
    if made.bottleneck != "cpu" or np.any(setup.data_instances):
        return None
    workers, vcpus = (
        float(np.max(each)) for each in (setup.loader_workers, setup.trainer_cores)
    )
    return limiting_workers(workers, vcpus)


def _advice(
    model: Model, setup: Setup, terms: Terms, made: Prediction, *, of_script: int | None
) -> Advice | None:
    """Return what a plan says first of too few data workers; None: they do not limit."""
    limiting, vcpus = _limiting_workers(setup, made), float(np.max(setup.trainer_cores))
    if limiting is None:
        return None
    devices = float(np.max(setup.devices))
    what = more_workers_words(limiting, vcpus, of_script=of_script, devices=devices)
    all_used = replace(setup, loader_workers=setup.trainer_cores)
    return told_advice("workers", what, made, predictions(model, all_used, [terms])[0])


def _cautions(job: TrainingJob, calibration: Calibration, cores: float) -> tuple[str, ...]:
    """Return what makes a calibration of the same workload another one's."""
    cautions = list(calibration.problems)
    calibrated = calibration.machine.get("cores")
    if isinstance(calibrated, int | float) and calibrated != cores:
        cautions.append(
            f"It was calibrated on {calibrated:g} cores, and this machine has {cores:g}. "
            "Calibrate here."
        )
    config = job.compiler_config
    compiles = config is not None and config.enabled and config.backend != "eager"
    if compiles and calibration.compile_s is None:
        cautions.append(
            "The step is compiled here, and was not when it was calibrated: it may be faster. "
            "Calibrate with this compiler."
        )
    if not compiles and calibration.compile_s is not None:
        cautions.append(
            "The step was compiled when it was calibrated, and is not here: it may be slower. "
            "Calibrate without the compiler."
        )
    return tuple(cautions)


def _refuse_endless(made: Prediction) -> None:
    step = made.step_time_s
    if not (math.isfinite(step.high) and step.low >= 0 and step.mean > 0):
        raise PlannerError(
            f"The calibration gives a step time of {step.mean:g} s ({step.low:g} to "
            f"{step.high:g}), which is none. Calibrate again."
        )
