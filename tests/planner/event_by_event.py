"""A pipeline of data, event by event: what the closed form of a step is compared with.

Data workers take requests, prepare batches, and send them; each trainer holds a bounded number
of requests and takes batches in the sampler's order, so one slow batch holds up those behind
it; all trainers wait for each other in every step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import simpy

from smtc_lab.planner.model.model import Model
from smtc_lab.planner.model.stages import stages_of

if TYPE_CHECKING:
    from collections.abc import Generator

    from smtc_lab.planner.calibration.calibration import Calibration
    from smtc_lab.planner.model.setup import Setup

    Process = Generator[simpy.Event, Any, None]

DEVICE_VARIATION = 0.02
"""Standard deviation of a device's step time over its mean. Assumed."""

_WARM_UP = 0.25
_PREFETCH = 2
_SEED = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Pipeline:
    """What is played: all times in seconds."""

    ranks: int
    """Trainer processes."""

    batch_size: int
    """Samples of one batch."""

    workers: tuple[tuple[float, float], ...]
    """Each data worker: seconds for one sample, and seconds to send one batch (0: it is the
    trainer's own)."""

    host_s: float
    """What a trainer's thread does with a batch before the device begins."""

    device_s: float
    """Device and all-reduce for one step."""

    sample_variation: float
    """Standard deviation of a sample's CPU time over its mean."""


def played_step_s(calibration: Calibration, setup: Setup, *, steps: int) -> float:
    """Return the mean step time in seconds of a set-up with data workers, behind the warm-up.

    A job's step ends with that of its slowest rank.
    """
    played = _Play(pipeline_of(calibration, setup), steps=steps)
    slowest = np.max(played.step_s, axis=0)
    return float(slowest[int(_WARM_UP * steps) :].mean())


def pipeline_of(calibration: Calibration, setup: Setup) -> Pipeline:
    """Return what a set-up is made of, as the closed form sees it.

    Raises:
        PlannerError: The calibration lacks what the set-up needs.
    """
    model = Model(calibration, 0)
    inputs, columns = model.inputs, setup.columns()
    batch_size = setup.batch_size or inputs.batch_size
    stages = stages_of(inputs, columns, np.zeros(1))
    at = {name: _number(value) for name, value in _fields(columns).items()}
    step_s = float(model.times(setup).step_s[0, 0])
    host_cores = at["devices"] * float(inputs.host_at(batch_size)[0])
    spare = max(0.0, at["trainer_cores"] * at["trainer_speed"] - host_cores / step_s)
    local = min(at["loader_workers"], at["trainer_cores"])
    workers: list[tuple[float, float]] = []
    if local > 0 and inputs.local is not None:
        speed = min(local * at["trainer_speed"], spare)
        workers += _workers(
            at["trainers"], local, speed, float(inputs.local.at(local, math.inf)[0]), 0.0
        )
    if at["data_instances"] > 0 and inputs.remote is not None:
        remote = min(at["data_workers"], at["data_cores"])
        gbps = min(at["trainers"] * at["trainer_gbps"], at["data_instances"] * at["data_gbps"])
        send_s = 8e-9 * (inputs.bytes_per_sample or 0.0) * batch_size / gbps
        workers += _workers(
            at["data_instances"],
            remote,
            remote * at["data_speed"],
            float(inputs.remote.at(remote, math.inf)[0]),
            0.0 if math.isnan(send_s) else send_s,
        )
    serial_s, device_s = float(stages.serial[0, 0]), float(stages.device[0, 0])
    is_chain = inputs.is_synchronous
    return Pipeline(
        ranks=int(at["trainers"] * at["devices"]),
        batch_size=batch_size,
        workers=tuple(workers),
        host_s=serial_s if is_chain else max(0.0, serial_s - device_s),
        device_s=device_s,
        sample_variation=1.0,
    )


def _workers(
    instances: float, cores: float, speed: float, core_s: float, send_s: float
) -> list[tuple[float, float]]:
    """Return the data workers of a group; a part of a core is a slower worker."""
    each = max(1, math.ceil(cores))
    if speed <= 0:
        return []
    return [(core_s * each / speed, send_s)] * (each * round(instances))


def _fields(setup: Setup) -> dict[str, Any]:
    return {name: getattr(setup, name) for name in setup.__dataclass_fields__}


def _number(value: Any) -> float:
    return float(value[0, 0]) if isinstance(value, np.ndarray) else math.nan


class _Play:
    """One simulation: its processes share what is in here."""

    def __init__(self, pipeline: Pipeline, *, steps: int) -> None:
        self._pipeline = pipeline
        self._random = np.random.default_rng(_SEED)
        self._env = simpy.Environment()
        self._link = simpy.Resource(self._env)
        self._requests = simpy.Store(self._env)
        self._steps = steps
        self._arrived: list[dict[int, simpy.Event]] = [{} for _ in range(pipeline.ranks)]
        self._at_barrier = 0
        self._barrier = self._env.event()
        credit = math.ceil(_PREFETCH * max(1, len(pipeline.workers)) / pipeline.ranks)
        self.step_s: list[list[float]] = [[] for _ in range(pipeline.ranks)]
        trainers = [
            self._env.process(self._trainer(rank, credit)) for rank in range(pipeline.ranks)
        ]
        for sample_s, send_s in pipeline.workers:
            self._env.process(self._data_worker(sample_s, send_s))
        self._env.run(until=simpy.AllOf(self._env, trainers))

    def _data_worker(self, sample_s: float, send_s: float) -> Process:
        mean_s = sample_s * self._pipeline.batch_size
        while True:
            rank, number = yield self._requests.get()
            yield self._env.timeout(self._batch_s(mean_s))
            if send_s > 0:
                with self._link.request() as turn:
                    yield turn
                    yield self._env.timeout(send_s)
            self._arrived[rank][number].succeed()

    def _batch_s(self, mean_s: float) -> float:
        # A sum of independent positive times, whatever their distribution, is nearly a gamma.
        variation = self._pipeline.sample_variation
        if variation == 0:
            return mean_s
        shape = self._pipeline.batch_size / variation**2
        return float(self._random.gamma(shape, mean_s / shape))

    def _trainer(self, rank: int, credit: int) -> Process:
        for number in range(min(credit, self._steps)):
            self._ask(rank, number)
        for number in range(self._steps):
            begin_s = self._env.now
            yield self._arrived[rank][number]
            del self._arrived[rank][number]
            if number + credit < self._steps:
                self._ask(rank, number + credit)
            yield self._env.timeout(self._pipeline.host_s)
            jitter = 1 + DEVICE_VARIATION * self._random.standard_normal()
            yield self._env.timeout(self._pipeline.device_s * max(0.1, jitter))
            yield self._arrive_at_barrier()
            self.step_s[rank].append(self._env.now - begin_s)

    def _ask(self, rank: int, number: int) -> None:
        self._arrived[rank][number] = self._env.event()
        self._requests.put((rank, number))

    def _arrive_at_barrier(self) -> simpy.Event:
        barrier = self._barrier
        self._at_barrier += 1
        if self._at_barrier == self._pipeline.ranks:
            self._at_barrier = 0
            self._barrier = self._env.event()
            barrier.succeed()
        return barrier
