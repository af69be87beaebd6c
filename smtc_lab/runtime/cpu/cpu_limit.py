"""The CPU quota of one instance, from when its work begins until no further step comes."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from smtc_lab.instance.prepare import loading_counters
from smtc_lab.machine.quota.cpu_quota import MECHANISM_VARIABLE, open_quota
from smtc_lab.machine.wakefulness import AWAKE_VARIABLE, wake_cores
from smtc_lab.runtime.cpu.system_sampler import SystemSampler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.instance.description import InstanceDescription
    from smtc_lab.machine.quota.cpu_quota import CpuQuota
    from smtc_lab.runtime.entry_point import EntryPoint
    from smtc_lab.store.run_folder import RunFolder
    from smtc_lab.store.tables import RecordSink


class CpuLimit:
    """Applies the quota, lifts it, and lets the sampler know.

    Args:
        told: What the instance is told.
        folder: The run's folder.
    """

    def __init__(self, told: InstanceDescription, folder: RunFolder) -> None:
        self._told = told
        self._folder = folder
        self.quota: CpuQuota = open_quota(f"{folder.job_name}-{told.host}", self._outside)
        self.entry_points: Sequence[EntryPoint] = ()
        """Those that were started."""
        self._sampler: SystemSampler | None = None
        self._is_applied = False

    def sample(self, writer: RecordSink) -> None:
        """Write what the instance uses from now on.

        Raises:
            StoreError: It cannot be written.
        """
        self._sampler = SystemSampler(
            self.quota,
            writer,
            outside=self._outside,
            loaded=loading_counters(self._told, self._folder),
        )

    def apply(self) -> str | None:
        """Apply the quota, if there is one; return why that failed, None: it did not."""
        cores = self._told.cpu_quota_cores
        if cores is None:
            return None
        try:
            self.quota.limit(cores)
        except OSError as error:
            return (
                f"The CPU quota of {cores:.3f} cores could not be set on {self._told.host} "
                f"through {self.quota.name}: {error}. "
                f"Set {MECHANISM_VARIABLE}=duty-cycle."
            )
        if awake := os.environ.get(AWAKE_VARIABLE):
            wake_cores(int(awake))
        self._is_applied = True
        if self._sampler is not None:
            self._sampler.quota_applies(cores)
        return None

    def lift(self) -> None:
        """Let the instance use what it can again; safe where nothing is applied."""
        if not self._is_applied:
            return
        self._is_applied = False
        if self._sampler is not None:
            self._sampler.quota_ends()
        with contextlib.suppress(OSError):  # the end takes longer then, and nothing else
            self.quota.lift()

    def close(self) -> None:
        """Take a last sample, and give back what the quota took; the tree has ended."""
        if self._sampler is not None:
            self._sampler.close()
        self.quota.close()

    def _outside(self) -> list[int]:
        """Return the processes that are not under the quota: they stand for devices."""
        if not self._told.passes_outside_quota:
            return []
        return [each.pid for each in self.entry_points if each.pid is not None]
