"""What one trial would cost on one cluster, from its own run or from a calibration."""

from __future__ import annotations

import contextlib
import math
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from smtc_lab.errors import PlannerError
from smtc_lab.launchers.engines import THIS_MACHINE, runs_here
from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.planner.calibration.parts import ASSUMED_SPREAD
from smtc_lab.planner.forecast.kept import KeptCalibrations
from smtc_lab.planner.intervals import estimate
from smtc_lab.planner.model.model import MODEL_ERROR
from smtc_lab.planner.outlook import Outlook
from smtc_lab.planner.plan_settings import is_wanted, settings_of
from smtc_lab.planner.run_prediction import predicted_of
from smtc_lab.planner.search import search
from smtc_lab.planner.workload_hash import workload_hash
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.reader import read_run
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.study.tuning.book import question_of
from smtc_lab.study.tuning.tuner import at_once_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.metrics.result import Interval
    from smtc_lab.metrics.tuning.found import Trial
    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.spec.cluster import Cluster
    from smtc_lab.study.tuning.tuning_run import TuningRun

_TAIL = 1.2815516  # standard deviations to the ends of an 80 % interval
_LADDER = 4
_MOST_LOOKED = 200


class TrialPricing:
    """Prices the trials of one search.

    Args:
        run: The search.
        catalog: Types and prices; None: those that it had.
        calibration: Of one of its trials; None: the newest one that is kept.
    """

    def __init__(
        self,
        run: TuningRun,
        *,
        catalog: Catalog | None = None,
        calibration: Calibration | None = None,
    ) -> None:
        self._run, self._given = run, calibration
        self._base = run.request.jobs[0]
        self._catalog = run.request.catalog if catalog is None else catalog
        self._kept = KeptCalibrations(run.request.root)
        on = run.request.options.get("on", THIS_MACHINE)
        at_once, _ = at_once_of(question_of(run.request), self._base, on=on)
        self._is_crowded = at_once > 1 and bool(runs_here(on))
        self._known: dict[int, tuple[Calibration, float]] = {}

    @property
    def said(self) -> Iterator[str]:
        """What a reader must know of all prices, a sentence each."""
        if self._is_crowded:
            yield (
                "Times and costs of the trials do not count, as they ran side by side: prices "
                "are a calibration's, as if no hyperparameter but batch_size changed the step."
            )
        if self._any_calibration is None:
            yield (
                "Other clusters: no calibration of the script is kept. Calibrate the best "
                f"trial: lab.calibrate(lab.tuning_job({self._run.name!r}))."
            )

    def job(self, trial: Trial, cluster: Cluster, **fields: Any) -> TrainingJob:  # noqa: ANN401  TrainingJob checks them
        """Return the job that trains a trial on a cluster.

        Its emulated device takes what the calibration declared of the cluster's accelerator.

        Args:
            trial: A trial.
            cluster: Where.
            **fields: Fields of ``TrainingJob`` that win.

        Raises:
            SpecError: A field is illegal.
        """
        job, emulation = self._base, self._base.emulation
        known = self._any_calibration
        if emulation is not None and known is not None and known.device_times:
            outlook = self._outlook(known, steps=1)
            row = outlook.clusters_of(cluster).trainer
            device_s = float(outlook.offers.told_device_s(row, known.emulated_device_s)[0])
            emulation = emulation.model_copy(update={"device_step_time_s": device_s})
        own = {name: getattr(job, name) for name in type(job).model_fields}
        values = {**job.hyperparameters, **trial.parameters}
        changed = {"hyperparameters": values, "emulation": emulation, "job_name": None}
        return TrainingJob(**(own | changed | {"cluster": cluster} | fields))

    def worth_while(self, trial: Trial) -> list[Cluster]:
        """Return where the search was made, and a few clusters that a plan finds worth it.

        Args:
            trial: Whose job is planned.

        Raises:
            SmtcLabError: Nothing can be planned from its calibration.
        """
        own = self._base.cluster
        if self._any_calibration is None or not trial.steps:
            return [own]
        outlook = self._outlook(self._of(trial)[0], steps=trial.steps, is_like_own=True)
        found = search(outlook)
        places = np.linspace(0, len(found.front) - 1, _LADDER).round().astype(int)
        front = [found.front[place] for place in np.unique(places)] if found.front else []
        made = (found.clusters.spec(place, outlook.offers.types) for place in front)
        return [own, *(one for one in made if _machines(one) != _machines(own))]

    def of(self, trial: Trial, cluster: Cluster) -> tuple[Interval, Interval]:
        """Return what a trial would cost in USD and take in seconds, with 80 % intervals.

        Args:
            trial: One that was trained to its end.
            cluster: Where.

        Raises:
            SmtcLabError: It cannot be told; says why.
        """
        if not self._is_crowded and _machines(cluster) == _machines(self._base.cluster):
            return self._again(trial)
        if not trial.steps:
            raise PlannerError("It has no steps that were timed. Use a session, or its timer.")
        calibration, factor = self._of(trial)
        outlook = self._outlook(calibration, steps=trial.steps)
        rows = outlook.clusters_of(
            cluster,
            num_loader_workers=self._base.num_loader_workers,
            num_data_workers=self._base.num_data_workers,
        )
        said = outlook.candidates(rows)[0].prediction
        parts = said.parts
        if parts is None or parts.steps_usd is None or parts.whole_usd is None:
            raise PlannerError(" ".join(said.unknown) or "Its price is unknown.")
        is_emulated = self._base.emulation is not None  # whose start-up is on another scale
        whole_usd, whole_s = (
            (parts.steps_usd, parts.steps_s)
            if is_emulated
            else (parts.whole_usd, parts.whole_s)
        )
        return (
            _moved(whole_usd, parts.steps_usd, factor),
            _moved(whole_s, parts.steps_s, factor),
        )

    def _again(self, trial: Trial) -> tuple[Interval, Interval]:
        """Return what its run would cost once more, from the one that was."""
        if trial.usd is None:
            raise PlannerError("The price of where it was searched is unknown.")
        known = self._any_calibration
        spread = (known and known.launch_spread) or ASSUMED_SPREAD
        # two launches differ, and by more than their CPU work
        wide = math.exp(_TAIL * math.hypot(MODEL_ERROR, math.sqrt(2) * spread.cpu_sd))
        usd, seconds = trial.usd, trial.seconds
        return (
            estimate(usd, usd / wide, usd * wide),
            estimate(seconds, seconds / wide, seconds * wide),
        )

    def _of(self, trial: Trial) -> tuple[Calibration, float]:
        """Return the calibration of a trial, and how much longer its steps take than that."""
        if trial.number not in self._known:
            self._known[trial.number] = self._calibrated(trial)
        return self._known[trial.number]

    def _calibrated(self, trial: Trial) -> tuple[Calibration, float]:
        job = self.job(trial, self._base.cluster)
        own = None if self._given is not None else self._newest(job)
        found = own or self._any_calibration
        if found is None:
            raise PlannerError("No calibration of the script is kept.")
        declared_s = None if job.emulation is None else job.emulation.device_step_time_s
        declared = {found.emulated_device_s, *found.device_times.values()}
        if declared_s not in declared:
            raise PlannerError(
                f"The search declares device_step_time_s={declared_s}, and its calibration "
                f"{found.emulated_device_s}. Calibrate with the same emulation."
            )
        size = job.hyperparameters.get("batch_size")
        changes: dict[str, Any] = {
            "workload": _hash(job),
            "hyperparameters": dict(job.hyperparameters),
        }
        if isinstance(size, int) and size >= 1:
            changes["batch_size"] = size
        found = found.model_copy(update=changes)
        return found, 1.0 if self._is_crowded else self._factor(found, trial)

    def _factor(self, calibration: Calibration, trial: Trial) -> float:
        """Return its own step time over the predicted one, 1 where that holds it."""
        folder = RunFolder(self._run.request.root / Path(trial.run).name)
        measured = measured_launch(read_run(folder))
        if measured is None:
            return 1.0
        said = predicted_of(calibration, folder).step_time_s
        step_s = float(measured.step_time_s.mean())
        return 1.0 if said.low <= step_s <= said.high else step_s / said.mean

    @cached_property
    def _any_calibration(self) -> Calibration | None:
        """A calibration of any of the trials, the best one's first; None: there is none."""
        if self._given is not None:
            return self._given
        found = self._run.found
        best = [] if found.best is None else [found.best.parameters]
        job, others = self._base, (one.parameters for one in found.trials[:_MOST_LOOKED])
        for values in ({}, *best, *others):
            own = {"hyperparameters": {**job.hyperparameters, **values}}
            if known := self._newest(job.model_copy(update=own)):
                return known
        return None

    def _newest(self, job: TrainingJob) -> Calibration | None:
        emulation = job.emulation
        is_emulated = emulation is not None and emulation.device_step_time_s is not None
        with contextlib.suppress(PlannerError):  # the script is gone
            known = self._kept.newest(_hash(job), is_emulated=is_emulated)
            return None if known is None else known.calibration
        return None

    def _outlook(
        self, calibration: Calibration, *, steps: int, is_like_own: bool = False
    ) -> Outlook:
        emulation = self._base.emulation
        families = self._like_own() if is_like_own and not calibration.device_times else None
        settings = settings_of(
            self._catalog,
            "on-demand",
            steps=steps,
            families=families,
            relative_cpu_speed={} if emulation is None else dict(emulation.relative_cpu_speed),
            link=None if emulation is None else emulation.link,
            **calibration.device_settings(None),
        )
        return Outlook(calibration, settings, self._catalog)

    def _like_own(self) -> tuple[str, ...]:
        """Return the families with the accelerator that was emulated, and those without any."""
        types = self._catalog.instance_types
        own = (types.get(group.instance_type) for group in self._base.cluster.instance_groups)
        names = {None, *(one.accelerator for one in own if one is not None)}
        return tuple(
            sorted(
                {
                    each.family
                    for each in types.values()
                    if is_wanted(each.family, None) and each.accelerator in names
                }
            )
        )


def _moved(whole: Interval, steps: Interval, factor: float) -> Interval:
    """Return a whole whose steps take so many times as long, or may do."""
    mean, low, high = (
        of_whole + of_steps * (factor - 1)
        for of_whole, of_steps in (
            (whole.mean, steps.mean),
            (whole.low, steps.low),
            (whole.high, steps.high),
        )
    )
    if not math.isfinite(high):
        raise PlannerError("Its calibration gives no finite time. Calibrate again.")
    return estimate(mean, min(low, whole.low), max(high, whole.high))


def _machines(cluster: Cluster) -> list[tuple[str, int]]:
    """Return the types of its groups, and how many there are; names do not matter."""
    return [(group.instance_type, group.instance_count) for group in cluster.instance_groups]


def _hash(job: TrainingJob) -> str:
    return workload_hash(job.entry_point, job.hyperparameters, job.arguments)
