"""From what the launches of a calibration showed to its fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from smtc_lab.planner.calibration.parts import (
    MOST_QUANTILES,
    DevicePoint,
    LaunchSpread,
    RunPoint,
    WorkerPoint,
)
from smtc_lab.planner.calibration.spread import launch_spread, mean_of, next_launch
from smtc_lab.planner.calibration.trial import DATA, TRAINER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtc_lab.metrics.result import Interval
    from smtc_lab.planner.calibration.plan import Findings
    from smtc_lab.planner.calibration.trial import Seen


def measured_fields(found: Findings, *, cores: int) -> dict[str, Any]:
    """Return the measured fields of a calibration.

    Args:
        found: What the launches showed.
        cores: Whole cores of this machine.
    """
    problems = list(found.problems)
    of_wire = _wire(found.service, problems)
    compile_s = [time_s for seen in found.all_seen if (time_s := seen.compile_s()) is not None]
    notes: dict[str, float] = {}
    for seen in found.all_seen:
        notes |= seen.notes
    return {
        "batch_size": found.resident[0].batch_size,
        "device_points": tuple(_device_point(seen) for seen in found.resident),
        "worker_points": tuple(_worker_points(found, cores, problems)),
        "bytes_per_sample": of_wire.get("bytes_per_sample"),
        "send_cpu_s_per_byte": of_wire.get("send_cpu_s_per_byte"),
        "receive_cpu_s_per_byte": of_wire.get("receive_cpu_s_per_byte"),
        "serial_s_per_step": _serial(found.service, problems),
        "script_num_workers": _count(notes.get("script_num_workers")),
        "gradient_bytes": notes.get("gradient_bytes"),
        "gradients": found.resident[0].gradients,
        "startup_s": _startup(found),
        "end_s": _end(found),
        "compile_s": next_launch(compile_s) if compile_s else None,
        "launch_spread": _launch_spread(found),
        "run_points": tuple(_run_point(seen, cores) for seen in found.runs),
        "problems": tuple(problems),
    }


def _count(value: float | None) -> int | None:
    return None if value is None else round(value)


def _device_point(seen: Seen) -> DevicePoint:
    return DevicePoint(
        batch_size=seen.batch_size,
        step_s=seen.step(),
        cpu_s_per_step=seen.cpu_s_per_step(TRAINER),
        step_quantiles=_quantiles(seen.step_time_s),
    )


def _quantiles(step_time_s: NDArray[np.float64]) -> tuple[float, ...]:
    """Return how steps spread, by no more quantiles than there are steps."""
    count = min(MOST_QUANTILES, len(step_time_s))
    return tuple(np.quantile(step_time_s, np.linspace(0, 1, count)).tolist())


def _worker_points(found: Findings, cores: int, problems: list[str]) -> list[WorkerPoint]:
    points = []
    for seen in (*found.in_process, *found.service):
        trial = seen.trial
        host = DATA if trial.num_data_workers else TRAINER
        launches = found.launches_of(seen)
        costs = [cpu for each in launches if (cpu := each.cpu_s_per_step(host)) is not None]
        if not costs:
            problems.append(f"The CPU time of a launch was not seen ({trial.label}).")
            continue
        count = trial.num_data_workers or trial.num_loader_workers
        point = WorkerPoint(
            num_data_workers=count,
            cores=min(count, trial.quotas.get(host, cores)),
            samples_per_s=mean_of([each.samples_per_s() for each in launches]),
            cpu_s_per_sample=mean_of(costs).scaled(1 / seen.batch_size),
            launches=len(costs),
            path="service" if trial.num_data_workers else "in_process",
        )
        points.append(point)
    return points


def _launch_spread(found: Findings) -> LaunchSpread:
    """Return how far launches of one set-up lie apart, in the time that a batch takes."""
    first = (*found.in_process, *found.service)
    return launch_spread(
        [[each.step().mean for each in found.launches_of(seen)] for seen in first]
    )


def _run_point(seen: Seen, cores: int) -> RunPoint:
    trial = seen.trial
    return RunPoint(
        batch_size=seen.batch_size,
        num_data_workers=trial.num_data_workers or trial.num_loader_workers,
        trainer_cores=trial.quotas.get(TRAINER, float(cores)),
        data_cores=trial.quotas.get(DATA, float(cores)) if trial.num_data_workers else 0.0,
        step_time_s=seen.step(),
    )


def _wire(service: list[Seen], problems: list[str]) -> dict[str, float]:
    """Return what the data service costs for each byte.

    From one data worker, which has a core to itself, so that the time it is busy is CPU time.
    """
    received = service[0].received() if service else None
    if received is None:
        problems.append("No batch came through the data service, so its costs are not known.")
        return {}
    batch_bytes, busy_s = received
    found = {"bytes_per_sample": batch_bytes / service[0].batch_size}
    if not batch_bytes:
        return found
    receive_s, data_s = (service[0].cpu_s_per_step(host) for host in (TRAINER, DATA))
    if receive_s is not None:
        found["receive_cpu_s_per_byte"] = receive_s.mean / batch_bytes
    if data_s is not None and data_s.mean >= busy_s:
        found["send_cpu_s_per_byte"] = (data_s.mean - busy_s) / batch_bytes
    else:
        problems.append(
            "What a data instance spends on sending is too little to be told from the rest."
        )
    return found


def _serial(service: list[Seen], problems: list[str]) -> Interval | None:
    """Return the CPU time of the trainer's thread for taking one batch from the service.

    That of its host has threads beside it, too, which receive while a step is computed, and
    the more idle time the longer a batch takes.
    """
    found = service[-1].cpu_s_per_step(TRAINER) if service else None
    thread_s = service[-1].notes.get("thread_s_per_step") if service else None
    if found is not None and thread_s is not None and 0 < thread_s < found.mean:
        return found.scaled(thread_s / found.mean)
    if found is None:
        problems.append("The serial host work of a step was not measured.")
    return found


def _startup(found: Findings) -> Interval | None:
    """Return the start-up, during which no quota applies, less what compiling took."""
    known = [
        max(0.0, startup_s - (seen.compile_s() or 0.0))
        for seen in (*found.resident, *found.runs)
        if (startup_s := seen.launch.startup_s()) is not None
    ]
    return next_launch(known) if known else None


def _end(found: Findings) -> Interval | None:
    """Return the time behind the last step, in which no quota applies."""
    known = [
        end_s
        for seen in (*found.resident, *found.runs)
        if (end_s := seen.launch.bill(usd_per_hour=None).end_s) is not None
    ]
    return next_launch(known) if known else None
