"""What one instance uses, as a live table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.follow.growing import Growing
from smtc_lab.follow.table import LiveTable
from smtc_lab.metrics.columns import SYSTEM, SYSTEM_COLUMNS
from smtc_lab.store.samples import read_samples

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

HOST_COLUMNS = ("time_s", "cpu", "memory_bytes", "received_per_s", "sent_per_s", "gpu")
"""Columns of a host's table: seconds since the begin of the run; CPU time used over CPU time
at hand, 0 to 1; resident memory; bytes per second, in cluster time, that its own processes
receive and send; NVML's GPU utilization, 0 to 1. NaN: not known."""

_SHORTEST_S = 0.1
"""CPU time is counted in ticks of 10 ms, and bytes in whole messages, so a shorter interval, as
before the last sample of a run, tells nothing."""


class HostTable:
    """Follows the system samples of one instance.

    Args:
        path: Its record file.
        name: Name of the table.
        dilation: Time dilation of its run.
    """

    def __init__(self, path: Path, name: str, *, dilation: float = 1.0) -> None:
        self.path = path
        self.table = LiveTable(name, HOST_COLUMNS)
        self.samples = Growing(len(SYSTEM_COLUMNS))
        """All samples as they were recorded."""
        self._latest_s = 0.0
        self._dilation = dilation

    def look(
        self, *, begin_s: float, quota_cores: float | None, num_cores: float | None
    ) -> bool:
        """Take in new samples; False: there are none.

        Args:
            begin_s: Begin of the run in seconds since the epoch.
            quota_cores: The instance's CPU quota; samples without one are from before it was
                applied. None: it has none.
            num_cores: Cores of the machine, which stand for a quota that is not there. None:
                not known.

        Raises:
            StoreError: The file is damaged or cannot be read.
        """
        new = read_samples(self.path, self.samples.num_rows)
        if new.shape[1] == 0:
            return False
        # the sample before the new ones, from which bytes are counted
        before = self.samples.values[:, -1:]
        self.samples.append(new)
        time_s = np.maximum.accumulate(np.append(self._latest_s, new[0] - begin_s))[1:]
        self._latest_s = float(time_s[-1])
        cpu = cpu_fraction(new, quota_cores=quota_cores, num_cores=num_cores)
        self.table.extend(
            [
                time_s,
                np.minimum(cpu, 1.0),
                new[SYSTEM["memory_bytes"]],
                self._dilation * _per_s(new, before, "network_received_bytes"),
                self._dilation * _per_s(new, before, "network_sent_bytes"),
                new[SYSTEM["gpu_utilization_fraction"]],
            ]
        )
        return True


def cpu_fraction(
    samples: NDArray[np.float64], *, quota_cores: float | None, num_cores: float | None
) -> NDArray[np.float64]:
    """Return CPU time used over CPU time at hand for each sample, NaN where not known.

    Slightly above 1 where a sample holds one period more of a quota than its time allows; the
    next one holds as much less, so means are taken of these and shown values are cut at 1.
    """
    cores = samples[SYSTEM["cpu_quota_cores"]]
    if quota_cores is None and num_cores is not None:
        cores = np.where(np.isnan(cores), num_cores, cores)
    interval_s = samples[SYSTEM["interval_s"]]
    at_hand_s = np.where(interval_s < _SHORTEST_S, np.nan, cores * interval_s)
    used_s = samples[SYSTEM["cpu_used_s"]]
    fraction = np.full(len(used_s), np.nan)
    np.divide(used_s, at_hand_s, out=fraction, where=at_hand_s > 0)
    return fraction


def _per_s(
    new: NDArray[np.float64], before: NDArray[np.float64], name: str
) -> NDArray[np.float64]:
    """Return bytes per second since the sample before.

    NaN: there is none, its counts restarted, or it is too near.
    """
    place = SYSTEM[name]
    counts = np.concatenate([before[place], new[place]])
    if before.shape[1] == 0:
        counts = np.concatenate([[np.nan], counts])
    grown = np.diff(counts)
    interval_s = new[SYSTEM["interval_s"]]
    valid = (grown >= 0) & (interval_s >= _SHORTEST_S)
    per_s = np.full(len(grown), np.nan)
    np.divide(grown, interval_s, out=per_s, where=valid)
    return per_s
