"""Settles while a loader runs how many data workers its trainer should have."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from smtc_lab.dataservice.client.sharing import INTERVAL_S, Sharing, next_sharing
from smtc_lab.dataservice.client.spare_cpu import CpuWatch

if TYPE_CHECKING:
    from collections.abc import Sequence


class AutoWorkers:
    """The number of a trainer's own data workers, from what it is seen to lose.

    Belongs to the thread that iterates. The watch begins with the first batch, so that the
    start-up is not taken for starvation.
    """

    def __init__(self, first: int) -> None:
        self._sharing = Sharing(num_local_workers=first)
        self._watch: CpuWatch | None = None
        self._due_s = 0.0
        self._waited_s = 0.0
        self._busy_s = 0.0

    @property
    def has_begun(self) -> bool:
        """Whether there was a first batch."""
        return self._watch is not None

    def note_wait(self, waited_s: float) -> None:
        """Count time in which the trainer was blocked on a batch, in seconds."""
        self._waited_s += waited_s

    def note_batch(self, busy_s: float) -> None:
        """Count time that one of its data workers spent on a batch, in seconds."""
        self._busy_s += busy_s

    def is_due(self) -> bool:
        """Return whether it is time to settle anew."""
        return time.monotonic() >= self._due_s

    def settle(self, local_pids: Sequence[int], num_remote_workers: int) -> int:
        """Return how many data workers there should be.

        Args:
            local_pids: Process ids of the data workers that there are.
            num_remote_workers: Data workers of data servers that are connected.
        """
        self._due_s = time.monotonic() + INTERVAL_S
        if self._watch is None:
            self._watch = CpuWatch(local_pids)
        else:
            seen = self._watch.observe(
                local_pids=local_pids,
                get_wait_s=self._waited_s,
                local_busy_s=self._busy_s,
                num_remote_workers=num_remote_workers,
            )
            self._sharing = next_sharing(self._sharing, seen)
        self._waited_s = self._busy_s = 0.0
        return self._sharing.num_local_workers
