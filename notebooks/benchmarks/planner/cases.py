"""What is really run: workloads, and set-ups of this machine that no calibration measured."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from smtc_lab.planner.model.setup import Setup

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHARE_FOR_INSTANCES = 0.88
"""Share of the machine that set-ups may fill, as in an emulation."""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A script's dataset and device, as it is calibrated."""

    name: str
    """What it is called."""

    work: int
    """Blurs of each sample: how heavy the transforms are."""

    batch_size: int
    """Samples of a step."""

    device_s: float
    """Declared time of the emulated device for a step, in seconds."""

    is_device_bound: bool = False
    """Whether the device is declared so slow that it is the bottleneck of any cluster."""

    @property
    def hyperparameters(self) -> dict[str, int]:
        """Values for the script."""
        return {"work": self.work, "batch_size": self.batch_size, "epochs": 1_000_000}


@dataclass(frozen=True, kw_only=True)
class Place:
    """Processes and CPU quotas on this machine."""

    name: str
    """What it is called."""

    trainer_cores: float
    """CPU quota of the trainer, in cores."""

    loader_workers: int = 0
    """Data workers of the trainer."""

    data_cores: float = 0.0
    """CPU quota of the data instance, in cores; 0: there is none."""

    data_workers: int = 0
    """Data workers of the data instance."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One configuration: a workload, perhaps with another batch or device, at a place."""

    workload: Workload
    """What is run; its batch size and device time are those of this case."""

    place: Place
    """Where it runs."""

    @property
    def label(self) -> str:
        """What tables call it."""
        work = self.workload
        return f"{work.name}, {work.batch_size}, {1e3 * work.device_s:g} ms, {self.place.name}"

    @property
    def setup(self) -> Setup:
        """What is predicted."""
        return Setup(
            trainer_cores=self.place.trainer_cores,
            loader_workers=float(self.place.loader_workers),
            data_instances=float(self.place.data_cores > 0),
            data_cores=self.place.data_cores,
            data_workers=float(self.place.data_workers),
            batch_size=self.workload.batch_size,
            device_s=self.workload.device_s,
        )


WORKLOADS = (
    Workload(name="light", work=1, batch_size=32, device_s=0.1, is_device_bound=True),
    Workload(name="heavy", work=6, batch_size=16, device_s=0.03),
)
"""Light transforms before a slow device, and heavy ones before a fast one."""

DEVICES_S = (0.006, 0.02, 0.08)
"""Declared device times from fast to slow, none of them calibrated."""


def places(cores: float) -> tuple[Place, ...]:
    """Return set-ups of a machine: a trainer that prepares its own data, or is fed.

    Args:
        cores: Cores of the machine.
    """
    room = _SHARE_FOR_INSTANCES * cores
    small, large = 0.4 * room, 0.85 * room
    fed = 0.28 * room
    little, much = 0.28 * room, 0.68 * room
    return (
        Place(name="small", trainer_cores=small, loader_workers=1),
        Place(name="large", trainer_cores=large, loader_workers=_workers(large)),
        _fed("fed a little", trainer_cores=fed, data_cores=little),
        _fed("fed much", trainer_cores=fed, data_cores=much),
    )


def all_cases(cores: float, workload: Workload) -> list[Case]:
    """Return the configurations of a workload, none of which its calibration measures.

    Each device time at each place, and two other batch sizes.

    Args:
        cores: Cores of the machine.
        workload: What is run.
    """
    spots = places(cores)
    cases = [
        Case(workload=replace(workload, device_s=device_s), place=place)
        for device_s in DEVICES_S
        for place in spots
    ]
    for factor, place in ((0.25, spots[1]), (2.0, spots[3])):
        batch_size = int(factor * workload.batch_size)
        cases.append(Case(workload=replace(workload, batch_size=batch_size), place=place))
    return cases


def chosen_cases(cores: float, workloads: Sequence[Workload], *, most: int = 0) -> list[Case]:
    """Return the configurations of some workloads, interleaved; at most so many of each.

    Args:
        cores: Cores of the machine.
        workloads: What is run.
        most: Most configurations of a workload; 0: all.
    """
    of_each = [all_cases(cores, workload)[: most or None] for workload in workloads]
    return [case for cases in zip(*of_each, strict=True) for case in cases]


def _fed(name: str, *, trainer_cores: float, data_cores: float) -> Place:
    return Place(
        name=name,
        trainer_cores=trainer_cores,
        data_cores=data_cores,
        data_workers=_workers(data_cores),
    )


def _workers(cores: float) -> int:
    return max(1, math.ceil(cores))
