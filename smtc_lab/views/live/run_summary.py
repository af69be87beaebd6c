"""The steps of a growing run in a few numbers, as ``smtc_lab.metrics`` defines them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.bootstrap import mean_interval
from smtc_lab.metrics.cost import usd_per_step_interval
from smtc_lab.metrics.warm_up import warm_up_steps
from smtc_lab.store.columns import SYSTEM_COLUMNS
from smtc_lab.views.live.growing import Growing
from smtc_lab.views.live.run_info import IntervalInfo, SummaryInfo
from smtc_lab.views.live.step_table import STEP_TABLE_COLUMNS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtc_lab.metrics.result import Interval
    from smtc_lab.views.live.run_follower import RunFollower

_EVERY_S = 1.0
_SHARE = 20
"""A summary that took t seconds is made again after 20 t at the earliest: 5 % of a core."""
_RESAMPLES, _LAST_RESAMPLES = 200, 2000
_STEP = {name: place for place, name in enumerate(STEP_TABLE_COLUMNS)}
_SAMPLE = {name: place for place, name in enumerate(SYSTEM_COLUMNS)}


class RunSummarizer:
    """Sums up the steps that a follower has seen, at most once a second.

    Args:
        follower: Of the run.
    """

    def __init__(self, follower: RunFollower) -> None:
        self._follower = follower
        self._steps = Growing(len(STEP_TABLE_COLUMNS))
        self._next_s = 0.0
        self.latest: SummaryInfo | None = None
        """What was made last; None: no step could be measured yet."""

    def look(self, *, usd_per_hour: float | None, probe_steps: int, last: bool = False) -> bool:
        """Make it anew, if it is time and steps came; False: it stays as it is.

        Args:
            usd_per_hour: Price of all instances; None: unknown.
            probe_steps: Steps at the begin in which a compiler was being chosen.
            last: The run has ended: make it now, with a finer interval.

        Raises:
            StoreError: A file of the run is damaged.
        """
        begin_s = time.monotonic()
        if begin_s < self._next_s and not last:
            return False
        new = self._follower.steps.rows(self._steps.num_rows)
        if new.shape[1] == 0 and not last:
            return False
        self._steps.append(new)
        self.latest = self._summary(
            usd_per_hour, probe_steps, _LAST_RESAMPLES if last else _RESAMPLES
        )
        spent_s = time.monotonic() - begin_s
        self._next_s = begin_s + max(_EVERY_S, _SHARE * spent_s)
        return True

    def _summary(
        self, usd_per_hour: float | None, probe_steps: int, num_resamples: int
    ) -> SummaryInfo | None:
        steps = self._steps.values
        if steps.shape[1] == 0:
            return None
        time_s = steps[_STEP["step_time_s"]]
        # as metrics.measured_launch does: one step at least stays
        probed = int(np.sum(steps[_STEP["step"], :-1] < probe_steps))
        cut = probed + warm_up_steps(time_s[probed:])
        measured = steps[:, cut:]
        total_s = float(measured[_STEP["step_time_s"]].sum())
        interval = mean_interval([time_s[cut:]], num_resamples=num_resamples)
        cost = usd_per_step_interval(step_time_s=interval, usd_per_hour=usd_per_hour)
        window = (
            float(measured[_STEP["time_s"], 0] - measured[_STEP["step_time_s"], 0]),
            float(measured[_STEP["time_s"], -1]),
        )
        return SummaryInfo(
            steps=measured.shape[1],
            warm_up_steps=cut,
            step_time_s=_interval(interval),
            data_wait_fraction=_share(measured[_STEP["data_wait_s"]], total_s),
            device_utilization=_share(measured[_STEP["device_time_s"]], total_s),
            cpu=self._cpu(window),
            usd_per_1000_steps=None if cost is None else _interval(cost.scaled(1000)),
        )

    def _cpu(self, window: tuple[float, float]) -> dict[str, float | None]:
        """Return how busy the CPUs of each group were in a window of seconds, 0 to 1.

        At most 1, for the reason that ``smtc_lab.metrics.utilization.cpu_utilization`` tells.
        """
        follower = self._follower
        begin_s = follower.begin_s or 0.0
        used: dict[str, float] = {}
        at_hand: dict[str, float] = {}
        for host, group in follower.job.cluster.hosts().items():
            name = group.instance_group_name
            samples = follower.hosts[host].samples.values
            quota_cores = follower.quota_cores(host)
            used_s, at_hand_s = _cpu_s(
                samples,
                (begin_s + window[0], begin_s + window[1]),
                follower.fact("num_cores") if quota_cores is None else None,
            )
            used[name] = used.get(name, 0.0) + used_s
            at_hand[name] = at_hand.get(name, 0.0) + at_hand_s
        return {
            name: min(1.0, used[name] / s) if s > 0 else None for name, s in at_hand.items()
        }


def _cpu_s(
    samples: NDArray[np.float64], window: tuple[float, float], num_cores: float | None
) -> tuple[float, float]:
    """Return core-seconds used and at hand in a window; samples on its edges count in part."""
    end_s, interval_s = samples[_SAMPLE["time_s"]], samples[_SAMPLE["interval_s"]]
    inside_s = np.minimum(end_s, window[1]) - np.maximum(end_s - interval_s, window[0])
    cores = samples[_SAMPLE["cpu_quota_cores"]]
    if num_cores is not None:
        cores = np.where(np.isnan(cores), num_cores, cores)
    counts = (inside_s > 0) & (interval_s > 0) & ~np.isnan(cores)
    inside_s, interval_s, cores = inside_s[counts], interval_s[counts], cores[counts]
    used_s = samples[_SAMPLE["cpu_used_s"]][counts]
    return float((used_s * inside_s / interval_s).sum()), float((cores * inside_s).sum())


def _share(part_s: NDArray[np.float64], total_s: float) -> float | None:
    part = float(part_s.sum())  # NaN where one of them is not known
    return part / total_s if total_s > 0 and np.isfinite(part) else None


def _interval(interval: Interval) -> IntervalInfo:
    return IntervalInfo(mean=interval.mean, low=interval.low, high=interval.high)
