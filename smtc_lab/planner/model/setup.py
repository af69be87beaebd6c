"""Where a step runs, as the model sees it: cores, their speed, devices, network."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = float | NDArray[np.float64]
"""A number, or an array with one value for each of several set-ups."""

_SINGLE = frozenset({"batch_size", "has_quotas"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    """One set-up, or several at once: every number may be an array with one value for each.

    Speeds are relative to one core of the calibrated machine, so that a set-up on that machine
    needs no more than its cores (or CPU quotas) and its data workers.
    """

    trainer_cores: Numbers
    """Cores, vCPUs or CPU quota of one training instance."""

    loader_workers: Numbers = math.inf
    """Data workers on each training instance; 0: none. More than cores count as the cores."""

    trainers: Numbers = 1.0
    """Training instances."""

    devices: Numbers = 1.0
    """Accelerators, and so trainer processes, on each training instance."""

    trainer_speed: Numbers = 1.0
    """Speed of a core of a training instance."""

    data_instances: Numbers = 0.0
    """Data instances; 0: there is no data group."""

    data_cores: Numbers = 0.0
    """Cores, vCPUs or CPU quota of one data instance."""

    data_workers: Numbers = math.inf
    """Data workers on each data instance. More than cores count as the cores."""

    data_speed: Numbers = 1.0
    """Speed of a core of a data instance."""

    trainer_threads: Numbers = 1.0
    """Of the cores of a training instance, how many are threads of one physical core; 1: they
    are cores, or what fewer busy ones bring was calibrated."""

    data_threads: Numbers = 1.0
    """The same of a data instance."""

    trainer_gbps: Numbers = math.inf
    """Bandwidth of one training instance for batches in Gbit/s; NaN: unknown."""

    data_gbps: Numbers = math.inf
    """Bandwidth of one data instance in Gbit/s; NaN: unknown."""

    inside_gbps: Numbers = math.inf
    """Bandwidth between the accelerators of one instance in Gbit/s; NaN: unknown. Infinite:
    that of the calibrated machine, here and below."""

    inside_alpha_s: Numbers | None = None
    """Declared latency of a message inside an instance in seconds; None, NaN: as calibrated."""

    between_gbps: Numbers = math.inf
    """Bandwidth of one training instance for all-reduce with others in Gbit/s; NaN: unknown."""

    between_alpha_s: Numbers | None = None
    """Declared latency of a message between instances in seconds; None, NaN: as calibrated."""

    batch_size: int | None = None
    """Samples of one step of one trainer process; None: as calibrated."""

    device_s: Numbers | None = None
    """Device time of one step in seconds where the user gives it; NaN: as calibrated, scaled
    where the calibrated device is the CPU. None: so for all."""

    has_quotas: bool = True
    """Whether the cores are CPU quotas on the calibrated machine, where they are fewer than it
    has; False: they are whole instances."""

    trainer_speed_error: Numbers = 0.0
    """Standard deviation of the logarithm of ``trainer_speed``; 0: the calibrated machine."""

    data_speed_error: Numbers = 0.0
    """Standard deviation of the logarithm of ``data_speed``; 0: the calibrated machine."""

    def columns(self) -> Setup:
        """Return the set-ups as columns, shape (K, 1), to be laid beside draws."""
        changed: dict[str, Any] = {
            field.name: np.atleast_1d(np.asarray(value, dtype=np.float64))[:, np.newaxis]
            for field in dataclasses.fields(self)
            if field.name not in _SINGLE and (value := getattr(self, field.name)) is not None
        }
        return dataclasses.replace(self, **changed)
