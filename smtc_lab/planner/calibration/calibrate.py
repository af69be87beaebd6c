"""Measures a workload on this machine, for predictions of other ones."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.device_times import DeviceTimes
from smtc_lab.errors import PlannerError, SpecError
from smtc_lab.launchers.engines import THIS_MACHINE
from smtc_lab.launchers.run import launcher_named
from smtc_lab.machine.cores import available_cores, machine_facts, versions
from smtc_lab.planner.calibration.calibration import FOLDER, Calibration
from smtc_lab.planner.calibration.host_speed import BENCHMARK_SECONDS, host_speed
from smtc_lab.planner.calibration.link import measure_links
from smtc_lab.planner.calibration.plan import num_launches, run_all
from smtc_lab.planner.calibration.points import measured_fields
from smtc_lab.planner.calibration.trial import Trials
from smtc_lab.planner.workload_hash import workload_hash
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.run_folder import runs_root
from smtc_lab.study.comparison.compare_compilers import this_machine
from smtc_lab.study.watched_run import LaunchWatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import StrPath

    from smtc_lab.study.watched_run import Progress

DEFAULT_SECONDS = 6.0
"""How long each launch measures, beside about three seconds of start-up."""


def calibrate(  # noqa: PLR0913  options by name, all with a default
    job: TrainingJob | str | Path,
    *,
    hyperparameters: dict[str, Any] | None = None,
    seconds_per_point: float = DEFAULT_SECONDS,
    relative_cpu_speed: float | None = None,
    device_s: str | None = None,
    root: StrPath | None = None,
    progress: Callable[[Progress], None] | None = None,
    **fields: Any,  # noqa: ANN401  TrainingJob checks them
) -> Calibration:
    """Measure a training script on this machine, and save what was found.

    About fifteen launches of the real script with its real dataset: steps whose batch is
    already there at two batch sizes; its dataloader alone with 1, half and all cores, in
    process and through the data service; whole runs at as many worker counts, and one with a
    data instance; and four of the dataloader alone once more, because two launches of one
    set-up differ, and how far is part of every interval. About three minutes on two cores, 40
    seconds of them for the launches that are repeated. In these launches the script's
    dataloaders are the data service's, also where they are torch's own otherwise. The
    calibration is written to ``<root>/calibrations/<script>-<time>.json``; the launches stay
    in ``<root>`` as runs.

    Args:
        job: The script, or a job: all of it counts but its cluster, worker counts and limits.
        hyperparameters: Values for the script; with a job, its own count.
        seconds_per_point: How long each launch measures, in seconds. Fewer give wider
            intervals.
        relative_cpu_speed: Speed of one vCPU of this machine with 1.0 for ml.p3.2xlarge; None:
            estimated with a benchmark of 10 s.
        device_s: Seconds of one step on the real accelerator, which is emulated: ``0.03``, for
            accelerators of all kinds; or ``V100=0.03,A100=0.012``, for these alone. The longest
            is emulated. None: as the job's emulation says, if there is one.
        root: Folder of runs; None: the default one.
        progress: Called about twice a second while steps are made.
        **fields: Further fields of ``TrainingJob``, such as ``emulation`` and ``channels``.

    Raises:
        SpecError: The script cannot be run here, or ``device_s`` is no time or names no
            accelerator; nothing was started.
        PlannerError: It makes no steps, or too little of it can be measured; says why.
    """
    job = _job(job, hyperparameters, fields)
    if not (math.isfinite(seconds_per_point) and seconds_per_point > 0):
        raise PlannerError(
            f"seconds_per_point={seconds_per_point} must be a finite number above 0. Leave it "
            "out, or raise it."
        )
    times = None if device_s is None else DeviceTimes.parse(device_s)
    named = times.by_accelerator(Catalog.load()) if times is not None and times.of_each else {}
    if times is not None:
        emulation = job.emulation or Emulation()
        declared = {"device_step_time_s": times.slowest_s}
        job = job.model_copy(update={"emulation": emulation.model_copy(update=declared)})
    root = runs_root(root)
    launcher = launcher_named(THIS_MACHINE, root=root)
    if problems := launcher.check(job):
        raise SpecError(problems)
    workload = workload_hash(job.entry_point, job.hyperparameters, job.arguments)
    cores = max(1, int(available_cores()))
    declared_s = job.emulation.device_step_time_s if job.emulation else None
    is_emulated = declared_s is not None
    benchmark_s = min(BENCHMARK_SECONDS, 2 * seconds_per_point)
    speed, rate = host_speed(seconds=benchmark_s, user_value=relative_cpu_speed)
    watch = LaunchWatch(
        launches=num_launches(cores, is_emulated=is_emulated), progress=progress
    )
    trials = Trials(launcher=launcher, job=job, seconds=seconds_per_point, watch=watch)
    found = run_all(trials, cores=cores, is_emulated=is_emulated)
    calibration = Calibration(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        workload=workload,
        entry_point=job.entry_point,
        hyperparameters=job.hyperparameters,
        arguments=job.arguments,
        environment=job.environment,
        machine={**machine_facts(), "cpu_rate": rate},
        versions=versions(),
        emulated_device_s=declared_s,
        device_times=named,
        cpu_speed=speed,
        **_with_links(measured_fields(found, cores=cores)),
    )
    return _saved(calibration, kept_at(calibration, root))


def kept_at(calibration: Calibration, root: StrPath | None = None) -> Path:
    """Return the file in which ``calibrate`` kept a calibration.

    Args:
        calibration: What ``calibrate`` returned.
        root: The folder of runs that it was given; None: the default one.
    """
    created = datetime.fromisoformat(calibration.created)
    stem = re.sub(r"[^A-Za-z0-9]+", "-", Path(calibration.entry_point).stem).strip("-") or "job"
    folder = runs_root(root) / FOLDER
    return folder / f"{stem}-{created:%Y%m%d-%H%M%S}.json"


def _with_links(fields: dict[str, Any]) -> dict[str, Any]:
    """Return measured fields with what two processes took to add up gradients."""
    try:
        return {**fields, "links": measure_links()}
    except PlannerError as error:
        return {**fields, "problems": (*fields["problems"], f"Not measured: {error}")}


def _job(
    job: TrainingJob | str | Path,
    hyperparameters: dict[str, Any] | None,
    fields: dict[str, Any],
) -> TrainingJob:
    if not isinstance(job, TrainingJob):
        return TrainingJob(
            entry_point=str(job),
            cluster=this_machine(),
            hyperparameters=hyperparameters or {},
            **fields,
        )
    if hyperparameters is not None or fields:
        given = [*(["hyperparameters"] if hyperparameters is not None else []), *fields]
        raise SpecError(
            f"A job was given and beside it {', '.join(given)}, which the job has itself. Put "
            "them into the job."
        )
    emulation = job.emulation
    if emulation is not None:  # its launches go at this machine's own speed
        emulation = emulation.model_copy(update={"time_dilation": None, "cores_per_vcpu": None})
    own = {"cluster": this_machine(), "num_data_workers": None, "emulation": emulation}
    return job.model_copy(update=own)


def _saved(calibration: Calibration, file: Path) -> Calibration:
    """Write a calibration where it is found again, and return it."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise PlannerError(
            f"The folder {str(file.parent)!r} cannot be made ({error.strerror}). Give "
            "another root."
        ) from error
    calibration.save(file)
    return calibration
