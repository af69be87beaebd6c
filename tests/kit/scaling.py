"""Builders of the launches of a scaling study, whose truth is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.metrics.records.records import RunRecords, StepRecord
from smtc_lab.metrics.scaling.scale_runs import (
    ScaledSetUp,
    ScalingQuestion,
    scaling_of,
)
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from smtc_lab.metrics.scaling.scaling import Mode, Scaling
    from smtc_lab.spec.emulation import Emulation

BATCH = 32
"""Samples of a step on each device, or of all in strong scaling."""

BEGIN_S = 1_793_700_900.0
"""When the first run starts, in seconds since the epoch."""


@dataclass(frozen=True, kw_only=True)
class TrueStep:
    """What a step of one number of devices truly takes, in seconds."""

    compute_s: float = 0.08
    data_wait_s: float = 0.01
    straggling_s: float = 0.0
    """How much longer than the mean the slowest rank computes; rank 0 is."""

    rest_s: float = 0.01
    exposed_comm_s: float | None = None
    """What ranks record of communication, a part of ``rest_s``; None: nothing, and no wait."""

    @property
    def step_time_s(self) -> float:
        """The job's step time."""
        return self.compute_s + self.data_wait_s + self.straggling_s + self.rest_s


def scaling_runs(  # noqa: PLR0913  options by name, all with a default
    truth: dict[int, TrueStep],
    *,
    rounds: int = 3,
    steps: int = 30,
    spread: float = 0.02,
    seed: int = 0,
    mode: Mode = "weak",
    emulation: Emulation | None = None,
    cluster: str = "dnn_group=ml.g5.xlarge:{devices}",
) -> tuple[list[RunRecords], tuple[ScaledSetUp, ...]]:
    """Return interleaved launches, the fewest devices first, and what they are.

    Args:
        truth: By devices.
        rounds: Launches of each.
        steps: Steps of each launch.
        spread: By how much launches differ, as a fraction.
        seed: Draws them.
        mode: What stays the same.
        emulation: The scale model; None: the hardware was there.
        cluster: Of so many devices.
    """
    rng = np.random.default_rng(seed)
    set_ups = tuple(
        ScaledSetUp(
            set_up=f"{devices} devices", curve="job", devices=devices, instances=devices
        )
        for devices in truth
    )
    runs = []
    for set_up, true in zip(set_ups, truth.values(), strict=True):
        for number in range(rounds):
            factor = float(np.exp(spread * rng.standard_normal() - spread**2 / 2))
            noise = np.exp(0.01 * rng.standard_normal(steps)) * factor
            job = TrainingJob(
                entry_point="train.py",
                cluster=Cluster.parse(
                    f"{set_up.set_up}@{cluster.format(devices=set_up.devices)}"
                ),
                job_name=f"train-{set_up.devices}-r{number + 1}",
                hyperparameters={"lr": 0.1},
                emulation=emulation,
                max_steps=1000,
            )
            runs.append(_run(job, set_up.devices, true, noise, mode))
    return runs, set_ups


def made_scaling(
    runs: list[RunRecords],
    set_ups: tuple[ScaledSetUp, ...],
    *,
    mode: Mode = "weak",
    bound: float = 0.5,
    samples_per_epoch: int | None = None,
) -> Scaling:
    """Return the result of such launches."""
    catalog = Catalog.load()
    comparison = compare_runs(
        runs, catalog=catalog, created="2026-11-25T00:00:00+00:00", machine={}
    )
    question = ScalingQuestion(
        mode=mode,
        set_ups=set_ups,
        bound=bound,
        samples_per_epoch=samples_per_epoch,
        catalog=catalog,
    )
    return scaling_of(runs, comparison, question)


def _run(
    job: TrainingJob, devices: int, true: TrueStep, noise: np.ndarray, mode: Mode
) -> RunRecords:
    ends_s = BEGIN_S + 2.0 + np.cumsum(true.step_time_s * noise)
    samples = BATCH if mode == "weak" else BATCH // devices
    steps = {}
    for rank in range(devices):
        # the slowest rank computes longer, and the others' mean stays
        beyond = devices * true.straggling_s / max(1, devices - 1)
        own = true.straggling_s if rank == 0 else true.straggling_s - beyond
        comm_s = true.exposed_comm_s if devices > 1 else None
        wait_s = None if comm_s is None else true.straggling_s - own
        steps[f"algo-{rank + 1}-rank{rank}"] = [
            StepRecord(
                step=number,
                end_time_s=float(ends_s[number]),
                step_time_s=float(true.step_time_s * factor),
                data_wait_s=float(true.data_wait_s * factor),
                device_time_s=float((true.compute_s + own) * factor),
                num_samples=samples,
                synchronized=True,
                exposed_comm_s=None if comm_s is None else float(comm_s * factor),
                rank_wait_s=None if wait_s is None else float(wait_s * factor),
            )
            for number, factor in enumerate(noise)
        ]
    return RunRecords(
        job=job,
        state="Completed",
        started_s=BEGIN_S,
        ended_s=float(ends_s[-1]) + 0.5,
        steps=steps,
    )
