"""What a sample costs in CPU time, by how many prepare samples at once and under what quota."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.planner.calibration.parts import WorkerPoint
    from smtc_lab.planner.model.draws import Draws, LaunchDraws
    from smtc_lab.planner.model.setup import Numbers

_PATHS = ("in_process", "service")


@dataclass(frozen=True, slots=True)
class CpuCost:
    """CPU-seconds that one sample takes, by how many data workers run beside each other.

    Workers that share caches and physical cores slow each other down, and a quota that holds
    them back lets their caches go cold for as long as they are held.
    """

    workers: NDArray[np.float64]
    """Data workers at which it was measured, rising, each with a core of its own."""

    core_s: NDArray[np.float64]
    """CPU-seconds per sample there, with their draws, shape (points, D)."""

    cooling: NDArray[np.float64]
    """CPU-seconds lost to cold caches for each second that a worker was held back, with its
    draws, shape (D,)."""

    def at(self, workers: Numbers, quota: Numbers) -> NDArray[np.float64]:
        """Return CPU-seconds per sample, with its draws behind.

        Args:
            workers: Data workers that run beside each other.
            quota: Cores that they are held to; infinite: they are not held back.
        """
        # Beyond the measured points it stays: there every core was busy.
        core_s = sum(
            np.interp(workers, self.workers, share) * draws
            for share, draws in zip(np.eye(len(self.workers)), self.core_s, strict=True)
        )
        return np.asarray(core_s * (1 + self.cooling * held_back(workers, quota)))


def held_back(workers: Numbers, quota: Numbers) -> NDArray[np.float64]:
    """Return the seconds that workers are held back for each CPU-second of theirs.

    A quota lets them run until its share of a period is used up. From one core on the period
    is twice as long, so that they are interrupted half as often.
    """
    interruptions = np.where(np.asarray(quota) < 1, 1.0, 0.5)
    held = np.maximum(workers - np.minimum(quota, workers), 0.0)
    return np.asarray(held / np.maximum(quota, 1e-9) * interruptions)


def cpu_costs(
    points: Sequence[WorkerPoint], draws: Draws, launches: LaunchDraws
) -> tuple[CpuCost | None, CpuCost | None]:
    """Return what a sample costs in process and through the service; None: not measured.

    Args:
        points: What was measured.
        draws: Of each within its own interval.
        launches: Of how slow the launches were that measured it.
    """
    free = [_free_points(points, path) for path in _PATHS]
    core_s = [
        {
            workers: draws.of(each.cpu_s_per_sample) * launches.slowness(each.launches)
            for workers, each in sorted(found.items())
        }
        for found in free
    ]
    by_path = dict(zip(_PATHS, core_s, strict=True))
    cooling = _cooling(points, by_path, draws, launches)
    local, remote = (
        CpuCost(
            workers=np.array(list(found), dtype=np.float64),
            core_s=np.array(list(found.values())),
            cooling=cooling,
        )
        if found
        else None
        for found in core_s
    )
    return local, remote


def _free_points(points: Sequence[WorkerPoint], path: str) -> dict[int, WorkerPoint]:
    """Return points by their data workers, which had a core each, or came nearest."""
    known = [
        point for point in points if point.path == path and point.cpu_s_per_sample.mean > 0
    ]
    most = max((point.cores / point.num_data_workers for point in known), default=1.0)
    return {
        point.num_data_workers: point
        for point in known
        if point.cores >= min(1.0, most) * point.num_data_workers
    }


def _cooling(
    points: Sequence[WorkerPoint],
    free: dict[str, dict[int, NDArray[np.float64]]],
    draws: Draws,
    launches: LaunchDraws,
) -> NDArray[np.float64]:
    """Return what being held back costs, from points that were, against those that were not."""
    found = []
    for point in points:
        free_s = free[point.path].get(point.num_data_workers)
        held = float(held_back(point.num_data_workers, point.cores))
        if held > 0 and free_s is not None and free_s[0] > 0:
            held_s = draws.of(point.cpu_s_per_sample) * launches.slowness(point.launches)
            found.append((held_s / np.maximum(free_s, 1e-12) - 1) / held)
    return np.maximum(np.mean(found, axis=0), 0.0) if found else np.zeros(draws.count + 1)
