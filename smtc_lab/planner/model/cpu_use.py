"""How busy the CPUs of each side are, as far as the model knows who prepares the samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.planner.model.stages import local_core_s, rates, remote_core_s

if TYPE_CHECKING:
    from smtc_lab.planner.model.model import Model
    from smtc_lab.planner.model.prediction import Stage
    from smtc_lab.planner.model.setup import Numbers, Setup


@dataclass(frozen=True, kw_only=True, slots=True)
class CpuShares:
    """What the CPUs do in a step. None: the model does not know."""

    trainer_fraction: float | None = None
    """CPU time of the training instances over the CPU time that they have, 0 to 1."""

    data_fraction: float | None = None
    """The same of the data instances; None also where there are none."""

    data_share: float | None = None
    """Samples that data instances prepare, of 1; None also where there are none."""


def cpu_use(model: Model, setup: Setup, *, step_s: float, bottleneck: Stage) -> CpuShares:
    """Return how busy the CPUs of one set-up are.

    Where trainers and data instances both prepare samples, and something else bounds the step,
    the model does not say who prepares how many: whoever is free takes the next batch.

    Args:
        model: The model.
        setup: One set-up.
        step_s: Its step time in seconds.
        bottleneck: Its longest stage.

    Raises:
        PlannerError: Something that the set-up needs was not calibrated.
    """
    inputs, columns = model.inputs, setup.columns()
    ranks = _first(columns.trainers) * _first(columns.devices)
    samples = ranks * (setup.batch_size or inputs.batch_size)
    local, remote = (_first(each) for each in rates(inputs, columns)[:2])
    share = _data_share(local, remote, samples / step_s, is_supply=bottleneck == "cpu")
    if share is None:
        return CpuShares()
    core_s = _first(local_core_s(inputs, columns))
    receive_s = min(inputs.receive_core_s, core_s)
    host_s = ranks * float(inputs.host_at(setup.batch_size or inputs.batch_size)[0])
    busy_s = host_s + samples * ((1 - share) * core_s + share * receive_s)
    cores = _first(columns.trainers) * _first(columns.trainer_cores)
    trainer = min(1.0, busy_s / (cores * _first(columns.trainer_speed) * step_s))
    if remote == 0:
        return CpuShares(trainer_fraction=trainer)
    busy_s = share * samples * _first(remote_core_s(inputs, columns))
    cores = _first(columns.data_instances) * _first(columns.data_cores)
    data = min(1.0, busy_s / (cores * _first(columns.data_speed) * step_s))
    return CpuShares(trainer_fraction=trainer, data_fraction=data, data_share=share)


def _data_share(local: float, remote: float, needed: float, *, is_supply: bool) -> float | None:
    """Return the share of samples that data instances prepare, 0 to 1; None: not known.

    Args:
        local: Samples that trainers could prepare in a second.
        remote: The same of data instances.
        needed: Samples of a second.
        is_supply: Whether preparing samples bounds the step, so that data instances are busy.
    """
    if remote == 0:
        return 0.0
    if local == 0:
        return 1.0
    return min(1.0, remote / needed) if is_supply else None


def _first(value: Numbers) -> float:
    """Return the number of the first set-up and of the first draw, which is the mean."""
    return float(np.asarray(value).flat[0])
