"""Calibrates, and then really runs every configuration."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import smtc_lab.examples
from notebooks.benchmarks.planner.cases import Case, Place, Workload
from smtc_lab.errors import PlannerError
from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.planner.calibration.calibrate import calibrate
from smtc_lab.planner.calibration.calibration import Calibration
from smtc_lab.planner.calibration.trial import DATA, TRAINER, CalibrationLaunch, Trials
from smtc_lab.planner.intervals import Measured  # noqa: TC001  pydantic reads it
from smtc_lab.planner.workload_hash import workload_hash
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.compare_compilers import this_machine
from smtc_lab.study.watched_run import LaunchWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from smtc_lab.metrics.result import Interval


SCRIPT = Path(smtc_lab.examples.__file__).with_name("digits.py")
"""What all workloads run."""

What = Literal["resident", "loader", "run"]


@dataclass(frozen=True, kw_only=True)
class CaseRun:
    """What one configuration really took."""

    case: Case
    """The configuration."""

    rounds: tuple[Measured, ...]
    """Seconds per step of each of its real runs, each with its 80 % interval."""

    resident_s: float
    """Seconds per step with the batch already there: what the trainer alone takes."""

    loader_s: float
    """Seconds per batch with no step: what its data alone take."""

    delivered_fraction: float | None = None
    """CPU time that the processes of its runs got over what they asked for, the least of all
    rounds; None: nobody looked."""

    load: tuple[float, ...] = ()
    """Processes that wanted a CPU of the machine in the minute before each round, on average;
    its own ones come on top. Empty: nobody looked."""

    @property
    def step_s(self) -> float:
        """Mean of the rounds, in seconds."""
        return sum(one.mean for one in self.rounds) / len(self.rounds)


class _Step(NamedTuple):
    """What one launch took."""

    step_s: Interval
    """Seconds per step."""

    delivered: float | None
    """CPU time that its processes got over what they asked for; None: nobody looked."""

    load: float
    """Processes that wanted a CPU in the minute before it, on average."""


@dataclass(kw_only=True)
class Bench:
    """Launches everything, one after the other."""

    root: Path
    """Folder of the runs."""

    seconds: float
    """How long each launch measures, in seconds."""

    budget_s: float
    """Seconds after which no further launch begins."""

    least_delivered: float = 0.9
    """A launch whose processes got a smaller share of the CPU time that they asked for is left
    out: the machine was busy with other work."""

    say: Callable[[str], None] = print
    """Gets a sentence for whatever is left out."""

    _launcher: LocalLauncher = field(init=False)
    _ends_s: float = field(init=False)
    _alone: dict[object, float | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._launcher = LocalLauncher(root=self.root)
        self._ends_s = time.monotonic() + self.budget_s

    def calibrations(
        self, workloads: Sequence[Workload], *, seconds: float
    ) -> dict[str, Calibration]:
        """Return the calibration of each workload, by its name.

        One that lies in the folder of the runs as ``NAME.json`` is used again.

        Args:
            workloads: What is calibrated.
            seconds: How long each launch of a calibration measures.

        Raises:
            PlannerError: One cannot be calibrated, or is of another workload.
        """
        return {workload.name: self._calibration(workload, seconds) for workload in workloads}

    def _calibration(self, workload: Workload, seconds: float) -> Calibration:
        job, kept = _job(workload), self.root / f"{workload.name}.json"
        if kept.is_file():
            asked = workload_hash(job.entry_point, job.hyperparameters)
            return Calibration.load(kept, workload=asked)
        found = calibrate(job, seconds_per_point=seconds, root=self.root)
        found.save(kept)
        return found

    def runs(self, cases: Sequence[Case], *, rounds: int) -> Iterator[CaseRun]:
        """Yield what every configuration took; those without a single run are left out.

        The rounds are interleaved: all configurations once, then all again. What trainer and
        data take alone, the differential method's two halves, is measured once for all
        configurations that share it.
        """
        measured: dict[Case, list[_Step]] = {case: [] for case in cases}
        for _ in range(rounds):
            for case in cases:
                step = self._step(case.workload, case.place, "run")
                if step is not None:
                    measured[case].append(step)
        for case, steps in measured.items():
            resident_s, loader_s = self._trainer_s(case), self._data_s(case)
            if steps and resident_s is not None and loader_s is not None:
                known = [each.delivered for each in steps if each.delivered is not None]
                yield CaseRun(
                    case=case,
                    rounds=tuple(each.step_s for each in steps),
                    resident_s=resident_s,
                    loader_s=loader_s,
                    delivered_fraction=min(known, default=None),
                    load=tuple(each.load for each in steps),
                )

    def _trainer_s(self, case: Case) -> float | None:
        """Return seconds per step with resident data, which any transform would give."""
        workload, cores = case.workload, case.place.trainer_cores
        alone = Place(name="alone", trainer_cores=cores)
        key = (workload.batch_size, workload.device_s, cores)
        return self._once(key, workload, alone, "resident")

    def _data_s(self, case: Case) -> float | None:
        """Return seconds per batch with no step, which any device would give."""
        workload = case.workload
        key = (workload.work, workload.batch_size, case.place)
        return self._once(key, workload, case.place, "loader")

    def _once(self, key: object, workload: Workload, place: Place, what: What) -> float | None:
        if key not in self._alone:
            step = self._step(workload, place, what)
            self._alone[key] = None if step is None else step.step_s.mean
        return self._alone[key]

    def _step(self, workload: Workload, place: Place, what: What) -> _Step | None:
        """Return seconds per step of one launch; None: there was no time, or it failed."""
        label = Case(workload=workload, place=place).label
        if time.monotonic() > self._ends_s:
            self.say(f"{label}, {what}: left out, the time is over.")
            return None
        quotas = {TRAINER: place.trainer_cores}
        if place.data_workers:
            quotas[DATA] = place.data_cores
        trial = CalibrationLaunch(
            what=what,
            num_loader_workers=place.loader_workers,
            num_data_workers=place.data_workers,
            quotas=quotas,
        )
        trials = Trials(
            launcher=self._launcher,
            job=_job(workload),
            seconds=self.seconds,
            watch=LaunchWatch(launches=1, progress=None),
        )
        load = os.getloadavg()[0]
        try:
            seen = trials(trial)
        except PlannerError as error:
            self.say(f"{label}, {what}: {error}")
            return None
        delivered = seen.delivered_fraction()
        if delivered is not None and delivered < self.least_delivered:
            self.say(f"{label}, {what}: left out, it got {delivered:.0%} of its CPU time.")
            return None
        return _Step(seen.step(), delivered, load)


def _job(workload: Workload) -> TrainingJob:
    return TrainingJob(
        entry_point=str(SCRIPT),
        cluster=this_machine(),
        hyperparameters=dict(workload.hyperparameters),
        # More threads than its quota has cores wait for each other by spinning.
        environment={"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        emulation=Emulation(device_step_time_s=workload.device_s),
    )
