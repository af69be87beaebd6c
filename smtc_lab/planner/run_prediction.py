"""A real run beside what a calibration predicts of it. Kept in the run's folder."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Literal

from smtc_lab.errors import PlannerError, SmtcLabError, StoreError
from smtc_lab.launchers.engines import runs_here
from smtc_lab.machine.beneath import MIB
from smtc_lab.machine.stored_text import stored_json
from smtc_lab.metrics.intervals import mean_interval
from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.metrics.records.cluster_time import dilation_of_job
from smtc_lab.metrics.result import Evidence, Interval, Result, evidence_of
from smtc_lab.planner.clusters import refuse_scripted
from smtc_lab.planner.forecast.declared_wires import launched_wires
from smtc_lab.planner.forecast.launched import workers_of
from smtc_lab.planner.model.predict import predict
from smtc_lab.planner.model.prediction import Prediction
from smtc_lab.planner.model.setup import Setup
from smtc_lab.planner.workload_hash import workload_hash
from smtc_lab.spec.cluster import Cluster
from smtc_lab.store.reader import read_job, read_run
from smtc_lab.store.run_folder import find_runs
from smtc_lab.store.state import current_state, replace_file

if TYPE_CHECKING:
    from _typeshed import StrPath

    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.store.run_folder import RunFolder

SCHEMA_VERSION: Literal[1] = 1
_PLAN_BYTES = 16 * MIB


class RunPrediction(Result):
    """What is predicted of a run, and what was measured of it so far."""

    schema_version: Literal[1] = SCHEMA_VERSION
    """Version of this schema."""

    workload: str
    """Hash of the script's text and its hyperparameters."""

    job_name: str
    """Name of the run."""

    cluster: Cluster
    """Its instances."""

    evidence: Evidence
    """What its step times are: of the hardware that is named, or emulated. The
    prediction is of the same."""

    prediction: Prediction
    """What was predicted, from the calibration alone."""

    usd_per_hour: float | None
    """Price of all instances in USD per hour; None: unknown."""

    has_ended: bool
    """Whether the run was over when it was measured."""

    step_time_s: Interval | None
    """Measured mean step time behind the warm-up, in seconds; None: no step yet."""

    @property
    def error_fraction(self) -> float | None:
        """(predicted - measured) / measured; None: no step yet."""
        if self.step_time_s is None:
            return None
        return self.prediction.step_time_s.mean / self.step_time_s.mean - 1


def predict_run(calibration: Calibration, folder: RunFolder) -> RunPrediction:
    """Return a run of this machine beside its prediction, and keep that in the run's folder.

    The run's CPU quotas, data workers and declared device time are those of its launch plan,
    and an emulated run is predicted in cluster time.

    Args:
        calibration: Of the same script with the same hyperparameters, on this machine.
        folder: The run, growing or ended.

    Raises:
        PlannerError: The run is of another workload, or of another kind of device.
        StoreError: The run's folder cannot be read or written.
    """
    job, plan, state = read_job(folder), _launch_plan(folder), current_state(folder)
    prediction = predicted_of(calibration, folder)
    launch = measured_launch(read_run(folder))
    evidence = evidence_of(job)
    made = RunPrediction(
        workload=calibration.workload,
        job_name=folder.job_name,
        cluster=job.cluster,
        evidence=evidence,
        prediction=prediction,
        usd_per_hour=plan.get("usd_per_hour"),
        has_ended=state.is_terminal,
        step_time_s=None
        if launch is None
        else mean_interval([launch.step_time_s]).of(evidence),
    )
    replace_file(folder.prediction_file, made.model_dump_json(indent=1))
    return made


def predicted_of(calibration: Calibration, folder: RunFolder) -> Prediction:
    """Return what is predicted of a run of this machine, and keep nothing.

    Args:
        calibration: As for ``predict_run``.
        folder: The run; its launch plan is read, and no step.

    Raises:
        PlannerError: As for ``predict_run``.
        StoreError: The run's folder cannot be read.
    """
    job, plan = read_job(folder), _launch_plan(folder)
    _check(calibration, job, folder.job_name)
    return predict(calibration, _setup(calibration, job, plan), steps=job.max_steps)


def kept_prediction(folder: RunFolder) -> RunPrediction | None:
    """Return what is kept of a run's prediction; None: nothing that can be read."""
    try:
        return RunPrediction.model_validate(
            stored_json(folder.path, folder.prediction_file, newest=SCHEMA_VERSION)
        )
    except (OSError, ValueError, StoreError):
        return None


def compared_runs(
    calibration: Calibration, root: StrPath | None = None
) -> tuple[RunPrediction, ...]:
    """Return the runs that were compared with predictions for this workload, oldest first.

    Those that still ran then are looked at again.

    Args:
        calibration: Its workload counts.
        root: Folder of runs; None: the default one.
    """
    found = []
    for folder in find_runs(root):
        kept = kept_prediction(folder)
        if kept is None or kept.workload != calibration.workload:
            continue
        if not kept.has_ended:
            with contextlib.suppress(SmtcLabError):  # what was kept is still true
                kept = predict_run(calibration, folder)
        found.append(kept)
    return tuple(found)


def _check(calibration: Calibration, job: TrainingJob, name: str) -> None:
    refuse_scripted(job.cluster)
    own = workload_hash(job.entry_point, job.hyperparameters, job.arguments)
    if own != calibration.workload:
        raise PlannerError(
            f"Run {name!r} is of {job.entry_point} with {dict(job.hyperparameters)}, but the "
            f"calibration is of {calibration.entry_point} with {calibration.hyperparameters}: "
            "another workload. Give the calibration of the same script and hyperparameters."
        )
    declared_s = None if job.emulation is None else job.emulation.device_step_time_s
    if (declared_s is None) != (calibration.emulated_device_s is None):
        raise PlannerError(
            f"Run {name!r} has device_step_time_s={declared_s}, but the calibration has "
            f"emulated_device_s={calibration.emulated_device_s}: one of them computed on an "
            "emulated device. Calibrate with the same emulation."
        )


def _setup(calibration: Calibration, job: TrainingJob, plan: dict[str, Any]) -> Setup:
    """Return what a launch plan asks of this machine, in cluster time."""
    instances = plan["instances"]
    trainers = [each for each in instances if each["role"] == "train"]
    feeders = [each for each in instances if each["role"] == "data"]
    device_s = None if job.emulation is None else job.emulation.device_step_time_s
    dilation, on_each = dilation_of_job(job), trainers[0].get("num_trainers", 1)
    asked = job.num_loader_workers
    cores, speed = _cores(trainers[0], dilation)
    data_cores, data_speed = _cores(feeders[0], dilation) if feeders else (0.0, 1.0)
    feeding = workers_of(data_cores, 1.0, 1.0, asked=job.num_data_workers)
    return Setup(
        trainer_cores=cores,
        trainer_speed=speed,
        trainer_threads=_threads_per_core(trainers[0]),
        data_threads=_threads_per_core(feeders[0]) if feeders else 1.0,
        loader_workers=workers_of(
            cores,
            speed,
            float(on_each),
            asked=calibration.script_num_workers if asked is None else asked,
            is_fed=job.cluster.is_heterogeneous and trainers[0]["cpu_quota_cores"] is not None,
        ),
        trainers=float(len(trainers)),
        devices=float(on_each),
        data_instances=float(len(feeders)),
        data_cores=data_cores,
        data_speed=data_speed,
        data_workers=feeding if feeders else 0.0,
        device_s=device_s,
        **launched_wires(plan.get("facts", {}), dilation=dilation),
    )


def _cores(instance: dict[str, Any], dilation: float) -> tuple[float, float]:
    """Return the cores of an instance in cluster time, and the speed of each."""
    quota, vcpus = instance["cpu_quota_cores"], instance.get("vcpus")
    if quota is None:
        return float(instance["num_cpus"]), 1.0
    cores = float(quota) * dilation
    return (cores, 1.0) if vcpus is None else (float(vcpus), cores / vcpus)


def _threads_per_core(instance: dict[str, Any]) -> float:
    """Return how many vCPUs of an emulated instance are threads of one core."""
    is_emulated = instance.get("vcpus") is not None
    return float(instance.get("threads_per_core") or 1) if is_emulated else 1.0


def _launch_plan(folder: RunFolder) -> dict[str, Any]:
    try:
        plan = stored_json(folder.path, folder.plan_file, most_bytes=_PLAN_BYTES)
    except (OSError, ValueError) as error:
        raise StoreError(
            f"The launch plan {str(folder.plan_file)!r} cannot be read ({error}), so nothing "
            "can be predicted of its run. Launch it again."
        ) from error
    if not runs_here(str(plan.get("launcher", ""))):
        raise PlannerError(
            f"Run {folder.job_name!r} is of the launcher {plan.get('launcher')!r}, but only "
            "runs of this machine can be compared. Give a run of the local launcher."
        )
    return plan
