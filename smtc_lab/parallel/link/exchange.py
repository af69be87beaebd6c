"""Times the buckets of gradients that trainers exchange; holds them back where declared."""

from __future__ import annotations

import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.parallel.link.pace import sleep_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.parallel.link.pace import Pace

_LONGEST_WAIT_S = 5.0
"""A step is not held up longer by the times of its buckets; they are unknown then."""


@dataclass(kw_only=True, slots=True)
class FollowedBucket:
    """Gradients that are averaged together."""

    model: int
    """Tells models apart."""

    num_bytes: int
    """Size of the gradients."""

    is_last: bool
    """Whether it is the last of its backward pass."""

    backward_s: float
    """When its backward pass began; times are those of ``time.perf_counter``."""

    ready_s: float
    """When it was ready on this rank: on an emulated device when that would have it."""

    here_s: float = 0.0
    """When it was ready on every rank."""

    end_s: float = 0.0
    """When it was averaged."""

    local_norm2: float | None = None
    """Squared norm of this rank's own gradients in it; None: not measured."""

    mean_norm2: float | None = None
    """Squared norm of the averaged gradients in it; None: not measured."""


class FollowedExchange:
    """Follows the buckets of one trainer, one after the other, in a thread of its own.

    A bucket is ready on every rank when a message of four bytes has gone round, in a process
    group of its own. Where a network is declared a bucket's future is completed when that
    network would have brought it, and never before the values are there.

    Args:
        pace: The declared network; None: nothing is held back.
        measures_noise: Whether norms of gradients are taken.
        on_overrun: Called once, with seconds, when this machine was slower than the network.
    """

    def __init__(
        self,
        pace: Pace | None,
        *,
        measures_noise: bool = False,
        on_overrun: Callable[[float, float], None] = lambda *_: None,
    ) -> None:
        self.pace = pace
        self.measures_noise = measures_noise
        self._on_overrun = on_overrun
        self._told_overrun = False
        self._group: Any = None
        self._token = torch.zeros(1)
        self._waiting: deque[tuple[FollowedBucket, Any, Any]] = deque()
        self._done: list[tuple[FollowedBucket, Any]] = []
        self._changed = threading.Condition()
        self._pending = 0
        self._thread: threading.Thread | None = None

    def join(self) -> None:
        """Make the group in which ranks tell each other that they are there; all ranks do."""
        if self._group is None:
            self._group = dist.new_group(backend="gloo")

    def follow(self, bucket: FollowedBucket, averaged: Any) -> Any:  # noqa: ANN401  torch's futures are generic
        """Follow a bucket; return the future that its trainer waits for.

        Args:
            bucket: What is exchanged.
            averaged: Future of the averaged values.
        """
        held: Any = torch.futures.Future() if self.pace is not None else None
        if held is None:
            averaged = averaged.then(lambda done: self._stamped(bucket, done))
        with self._changed:
            self._waiting.append((bucket, averaged, held))
            self._pending += 1
            self._changed.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="smtc-exchange", daemon=True
                )
                self._thread.start()
        return averaged if held is None else held

    def take(self) -> list[FollowedBucket]:
        """Return the buckets that were exchanged since the last call, in order."""
        with self._changed:
            self._changed.wait_for(lambda: self._pending == 0, timeout=_LONGEST_WAIT_S)
            taken, self._done = self._done, []
        return [bucket for bucket, averaged in taken if _has_come(averaged)]

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                bucket, averaged, held = self._waiting.popleft()
            is_known = self._observe(bucket, averaged, held)
            with self._changed:
                if is_known:
                    self._done.append((bucket, averaged))
                self._pending -= 1
                self._changed.notify_all()

    def _observe(self, bucket: FollowedBucket, averaged: Any, held: Any) -> bool:  # noqa: ANN401  as above
        """Follow a bucket, to its end where it is held; return whether all ranks were there."""
        sleep_until(bucket.ready_s)
        is_here = False
        with suppress(RuntimeError):  # another rank is gone: the values' own future says so
            dist.all_reduce(self._token, group=self._group)
            is_here = True
        bucket.here_s = time.perf_counter()
        if held is None:
            return is_here
        try:
            value = averaged.wait()
        except Exception as error:  # noqa: BLE001  whatever it is belongs to who waits
            held.set_exception(error)
            return False
        if self.measures_noise:
            bucket.mean_norm2 = squared_norm(value)
        self._hold(bucket)
        held.set_result(value)
        return is_here

    def _stamped(self, bucket: FollowedBucket, done: Any) -> Any:  # noqa: ANN401  as above
        bucket.end_s = time.perf_counter()
        value = done.value()
        if self.measures_noise:
            bucket.mean_norm2 = squared_norm(value)
        return value

    def _hold(self, bucket: FollowedBucket) -> None:
        """Return when the declared network would have brought a bucket."""
        assert self.pace is not None  # noqa: S101  the caller has looked
        there_s = time.perf_counter()
        takes_s = self.pace.all_reduce_s(bucket.num_bytes)
        end_s = self.pace.reserve(bucket.here_s, takes_s)
        if there_s > end_s and takes_s and not self._told_overrun:
            self._told_overrun = True
            self._on_overrun(takes_s, takes_s + there_s - end_s)
        sleep_until(end_s)
        bucket.end_s = max(end_s, there_s)


def squared_norm(tensor: torch.Tensor) -> float:
    """Return the sum of squares of a tensor."""
    return float(tensor.detach().float().square().sum())


def _has_come(averaged: Any) -> bool:  # noqa: ANN401  as above
    """Return whether values have come well; a step ends only after they have come at all."""
    try:
        averaged.wait()
    except Exception:  # noqa: BLE001  the script was told by DDP
        return False
    return True
