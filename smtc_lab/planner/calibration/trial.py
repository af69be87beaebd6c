"""One launch of a calibration, and what was seen in it."""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

import numpy as np

from smtc_lab.errors import PlannerError, StoreError
from smtc_lab.instance.description import GRADIENTS_FILE, MEASURED_FILE
from smtc_lab.launchers.special_launch import as_measuring_launch, with_cpu_quotas
from smtc_lab.metrics.columns import SYSTEM
from smtc_lab.metrics.intervals import mean_interval
from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.metrics.records.records import OWN_WORKERS, TORCHS_OWN
from smtc_lab.metrics.utilization import samples_between
from smtc_lab.planner.calibration.parts import GradientOrder
from smtc_lab.planner.intervals import measured
from smtc_lab.spec.cluster import LOCAL, Cluster, InstanceGroup
from smtc_lab.spec.emulation import Emulation
from smtc_lab.study.launch_name import launch_name
from smtc_lab.study.watched_run import run_watched

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from smtc_lab.launchers.launcher import Launcher
    from smtc_lab.launchers.run import Run
    from smtc_lab.metrics.measured_launch import MeasuredLaunch
    from smtc_lab.metrics.records.records import LoaderRecord
    from smtc_lab.metrics.result import Interval
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.watched_run import LaunchWatch

TRAINER, DATA = "algo-1", "algo-2"
"""Hosts of a trial."""

_OF_95 = 1.281552 / 1.959964  # the half of an 80 % interval beside that of a 95 % interval
_FINEST_S = 20e-6
_CLOCK_JUMP_S = 0.25
_STARTUP_LIMIT_S = 600.0
_MEASURE_LIMIT = 6.0


@dataclass(frozen=True, kw_only=True)
class CalibrationLaunch:
    """What one launch of a calibration does."""

    what: Literal["resident", "loader", "run"]
    """As ``launch.special_launch.as_measuring_launch``."""

    num_loader_workers: int = 0
    """Data workers of the trainer; 0: it prepares batches itself."""

    num_data_workers: int = 0
    """Data workers of a data instance beside it; 0: there is none."""

    batch_size: int | None = None
    """Samples of a batch; None: as the script says."""

    quotas: Mapping[str, float] = field(default_factory=dict)
    """CPU quota by host, in cores; a host that is not named has none."""

    @property
    def label(self) -> str:
        """What people call it."""
        if self.what == "resident":
            size = "" if self.batch_size is None else f", batch {self.batch_size}"
            return f"resident data{size}"
        place = "data service" if self.num_data_workers else "in process"
        count = self.num_data_workers or self.num_loader_workers
        return f"{self.what}, {place}, {count} data workers"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What one trial showed, warm-up left out."""

    trial: CalibrationLaunch
    """What was launched."""

    launch: MeasuredLaunch
    """Its records."""

    notes: Mapping[str, float]
    """What only the trainer's process could tell."""

    gradients: GradientOrder | None = None
    """Which gradients were ready when; None: it was not seen."""

    @property
    def step_time_s(self) -> NDArray[np.float64]:
        """Seconds of each step; of each batch, where the loader ran alone."""
        return self.launch.step_time_s

    @property
    def batch_size(self) -> int:
        """Samples of one step."""
        num_samples = self.launch.num_samples()
        if num_samples is None:
            raise PlannerError(
                f"{self.launch.run.job.entry_point}: the samples of a batch cannot be counted "
                "(num_samples=None): it holds no tensor, or has several optimizer steps. "
                "Let the dataset return tensors, and one optimizer step once on each."
            )
        return max(1, round(num_samples / len(self.launch.run.steps) / len(self.step_time_s)))

    def step(self) -> Interval:
        """Return the seconds per step."""
        return measured_mean(self.step_time_s)

    def samples_per_s(self) -> Interval:
        """Return the samples in a second."""
        step, size = self.step(), self.batch_size
        return step.at(size / step.mean, size / step.high, size / max(step.low, 1e-12))

    def cpu_s_per_step(self, host: str) -> Interval | None:
        """Return the CPU-seconds of a host's processes per step; None: nobody looked."""
        samples = self._samples(host)
        if not samples.shape[1]:
            return None
        cores = samples[SYSTEM["cpu_used_s"]] / samples[SYSTEM["interval_s"]]
        return product(measured_mean(cores), self.step())

    def delivered_fraction(self) -> float | None:
        """Return the CPU time that all processes got over what they asked for."""
        samples = np.concatenate([self._samples(host) for host in (TRAINER, DATA)], axis=1)
        asked_s = float(samples[SYSTEM["cpu_asked_s"]].sum())
        return float(samples[SYSTEM["cpu_used_s"]].sum()) / asked_s if asked_s > 0 else None

    def received(self) -> tuple[float, float] | None:
        """Return bytes per batch, and seconds that a data worker was busy with one.

        None: no batch came from a data instance.
        """
        records: Sequence[LoaderRecord] = [
            record
            for of_rank in self.launch.run.loader.values()
            for record in of_rank
            if record.server not in {OWN_WORKERS, TORCHS_OWN}
            and record.time_s >= self.launch.begin_s
        ]
        batches = sum(record.batches for record in records)
        if not batches:
            return None
        total_bytes = sum(record.received_bytes for record in records)
        return total_bytes / batches, sum(record.worker_busy_s for record in records) / batches

    def compile_s(self) -> float | None:
        """Return the seconds that the launch spent on compiling; None: it did not compile."""
        times = [report.compile_time for report in self.launch.run.compiler.values()]
        return max((time.total_s for time in times if time is not None), default=None)

    def _samples(self, host: str) -> NDArray[np.float64]:
        """Return the looks at a host that lie wholly in the measured time, shape (9, N).

        Part of a look would bring in what the script did before: its imports, say.
        """
        samples = self.launch.samples.get(host, np.empty((len(SYSTEM), 0)))
        begin_s, end_s = self.launch.begin_s, self.launch.end_s
        time_s, interval_s = samples[SYSTEM["time_s"]], samples[SYSTEM["interval_s"]]
        whole = samples[:, (begin_s <= time_s - interval_s) & (time_s <= end_s)]
        if whole.shape[1]:
            return whole
        return samples_between(samples, begin_s=begin_s, end_s=end_s)


@dataclass(kw_only=True)
class Trials:
    """Launches one trial after another."""

    launcher: Launcher
    """Where they run."""

    job: TrainingJob
    """What they run, but for what a trial varies."""

    seconds: float
    """How long each one measures, in seconds."""

    watch: LaunchWatch
    """Who is told how far they are."""

    _stamp: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __call__(self, trial: CalibrationLaunch) -> Seen:
        """Return what a trial shows.

        Raises:
            PlannerError: It showed nothing that can be used; says why.
        """
        plan = self.launcher.plan(self._job(trial))
        plan = as_measuring_launch(
            plan, what=trial.what, seconds=self.seconds, batch_size=trial.batch_size
        )
        plan = with_cpu_quotas(plan, trial.quotas)
        offset_s = time.time() - time.monotonic()
        run = run_watched(self.launcher, plan, self.watch, name=trial.label)
        _refuse_clock_jump(time.time() - time.monotonic() - offset_s)
        return _seen(trial, run)

    def _job(self, trial: CalibrationLaunch) -> TrainingJob:
        groups = [InstanceGroup("here", LOCAL, 1, role="train")]
        if trial.num_data_workers:
            groups.append(InstanceGroup("data", LOCAL, 1, role="data"))
        device_s = self.job.emulation.device_step_time_s if self.job.emulation else None
        emulation = Emulation(device_step_time_s=device_s) if trial.what != "loader" else None
        number = f"c{self.watch.begun + 1}"
        name = launch_name(self.job.entry_point, trial.label, number, stamp=self._stamp)
        return self.job.model_copy(
            update={
                "cluster": Cluster(instance_groups=tuple(groups), name=trial.label[:40]),
                "job_name": name,
                "emulation": emulation,
                "num_loader_workers": trial.num_loader_workers,
                "num_data_workers": trial.num_data_workers or None,
                "max_steps": None,
                "max_runtime_s": _STARTUP_LIMIT_S + _MEASURE_LIMIT * self.seconds,
            }
        )


def measured_mean(values: NDArray[np.float64]) -> Interval:
    """Return the mean of one launch's values with its 80 % interval.

    It is the 95 % interval of blocks of values, narrowed as that of a normal distribution.
    """
    wide = mean_interval([values])
    return measured(
        wide.mean,
        max(0.0, wide.mean - _OF_95 * (wide.mean - wide.low)),
        wide.mean + _OF_95 * (wide.high - wide.mean),
    )


def product(one: Interval, other: Interval) -> Interval:
    """Return the product of two numbers whose errors do not depend on each other."""
    mean = one.mean * other.mean
    if mean == 0:
        return one.at(0.0, 0.0, one.high * other.high)
    low = math.hypot(1 - one.low / one.mean, 1 - other.low / other.mean)
    high = math.hypot(one.high / one.mean - 1, other.high / other.mean - 1)
    return one.at(mean, mean * max(0.0, 1 - low), mean * (1 + high))


def _seen(trial: CalibrationLaunch, run: Run) -> Seen:
    script = run.job.entry_point
    if run.status != "Completed":
        raise PlannerError(
            f"{script} ended as {run.status} ({trial.label}). {run.state.reason} Its logs: "
            f"{run.folder.logs}"
        )
    try:
        launch = measured_launch(run.records())
    except StoreError as error:
        raise PlannerError(f"Nothing can be read of {run.job_name}: {error}") from error
    if launch is None or len(launch.step_time_s) < 2:
        made = 0 if launch is None else len(launch.step_time_s) + launch.warm_up_steps
        raise PlannerError(
            f"{script} made {made} training steps ({trial.label}), but at least 4 are needed. "
            "Let it iterate over a torch DataLoader and step a torch optimizer, for more steps."
        )
    if launch.step_time_s.mean() < _FINEST_S:
        raise PlannerError(
            f"A step of {script} took {launch.step_time_s.mean() * 1e6:.1f} µs "
            f"({trial.label}), but less than {_FINEST_S * 1e6:.0f} µs cannot be timed. Raise "
            "the batch size."
        )
    return Seen(trial=trial, launch=launch, notes=_notes(run), gradients=_gradients(run))


def _notes(run: Run) -> dict[str, float]:
    try:
        text = (run.folder.opt_ml(TRAINER) / MEASURED_FILE).read_text(encoding="utf-8")
        return {name: float(value) for name, value in json.loads(text).items()}
    except (OSError, ValueError):
        return {}


def _gradients(run: Run) -> GradientOrder | None:
    try:
        text = (run.folder.opt_ml(TRAINER) / GRADIENTS_FILE).read_text(encoding="utf-8")
        return GradientOrder.model_validate_json(text)
    except (OSError, ValueError):
        return None


def _refuse_clock_jump(jump_s: float) -> None:
    if abs(jump_s) > _CLOCK_JUMP_S:
        raise PlannerError(
            f"The machine's clock jumped by {jump_s:+.2f} s during a launch, so its records "
            "cannot be placed in time. Let the clock settle, and calibrate again."
        )
