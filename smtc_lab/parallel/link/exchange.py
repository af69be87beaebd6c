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

from smtc_lab.metrics.records.records import ALL_REDUCE
from smtc_lab.parallel.link.board import ReadyBoard, shared_board
from smtc_lab.parallel.link.pace import sleep_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.parallel.link.pace import Pace

_LONGEST_WAIT_S = 5.0
"""A step is not held up longer by the times of its buckets; they are unknown then."""


@dataclass(frozen=True, slots=True)
class FollowedWire:
    """What ranks exchange over."""

    token_group: Any
    """A process group of its own, in which they tell each other that they are there; None: the
    board does."""

    pace: Pace | None
    """The declared network; None: nothing is held back."""

    ranks: int
    """How many they are."""

    board: ReadyBoard | None = None
    """Where they write down that they are there; None: a message goes round."""

    def takes_s(self, bucket: FollowedBucket) -> float:
        """Return how long the declared network takes for a bucket, in seconds."""
        if self.pace is None:
            return 0.0
        is_averaged = bucket.collective == ALL_REDUCE
        takes_s = self.pace.all_reduce_s if is_averaged else self.pace.gather_s
        return takes_s(bucket.num_bytes)


@dataclass(kw_only=True, slots=True)
class FollowedBucket:
    """Values that are exchanged together."""

    model: int
    """Tells models apart."""

    num_bytes: int
    """Size of the gradients or parameters, of all ranks together where they have shards."""

    is_last: bool
    """Whether it is the last of its backward pass; of a sharded model none is."""

    backward_s: float
    """When its backward pass began; times are those of ``time.perf_counter``."""

    ready_s: float
    """When it was ready on this rank: on an emulated device when that would have it."""

    here_s: float = 0.0
    """When it was ready on every rank; 0: not known."""

    end_s: float = 0.0
    """When it was averaged."""

    local_norm2: float | None = None
    """Squared norm of this rank's own gradients in it; None: not measured."""

    mean_norm2: float | None = None
    """Squared norm of the averaged gradients in it; None: not measured."""

    number: int = 0
    """Of all buckets that were followed, from 1; the same on every rank."""

    collective: str = ALL_REDUCE
    """What is done, as a ``BucketRecord`` has it."""

    ranks: int | None = None
    """Ranks that take part; None: all of the job."""

    blocked_s: float | None = None
    """From when its rank waited for it and computed nothing; infinite: never. None: it waits
    for all buckets of its backward pass, once the last one is ready."""

    is_counted: bool = True
    """Whether it belongs to a step; no evaluation does."""


class FollowedExchange:
    """Follows the buckets of one trainer, one after the other, in a thread of its own.

    Ranks of one machine write down when a bucket is ready. Else it is ready on every rank when
    a message of four bytes has gone round, in a process group of its own. Where a network is
    declared a bucket's future is completed when that network would have brought it, and never
    before the values are there.

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
        self.keeps = True
        """Whether ``take`` will be called; else nothing is kept for it."""
        self._on_overrun = on_overrun
        self._told_overrun = False
        self._wire: FollowedWire | None = None
        self._number = 0
        self._token = torch.zeros(1)
        self._waiting: deque[tuple[FollowedBucket, Any, Any, FollowedWire]] = deque()
        self._done: list[tuple[FollowedBucket, Any]] = []
        self._changed = threading.Condition()
        self._pending = 0
        self._thread: threading.Thread | None = None

    @property
    def has_joined(self) -> bool:
        """Whether ranks have agreed how they tell each other that a bucket is ready."""
        return self._wire is not None

    def join(self) -> None:
        """Agree how ranks tell each other that a bucket is ready; all ranks do."""
        if self._wire is None:
            board = shared_board()
            group = None if board is not None else dist.new_group(backend="gloo")
            self._wire = FollowedWire(group, self.pace, dist.get_world_size(), board)

    def announce(self, bucket: FollowedBucket) -> None:
        """Say that a bucket is ready here, before it is given to be averaged by all."""
        bucket.number = self._number = self._number + 1
        if self._wire is not None and self._wire.board is not None:
            self._wire.board.write(bucket.number, bucket.ready_s)

    def follow(
        self,
        bucket: FollowedBucket,
        averaged: Any,  # noqa: ANN401  torch's futures are generic
        wire: FollowedWire | None = None,
    ) -> Any:  # noqa: ANN401  as above
        """Follow a bucket; return the future that its trainer waits for.

        Args:
            bucket: What is exchanged.
            averaged: Future of the exchanged values, or work that has none.
            wire: Who exchanges it; None: all trainers, which have joined.
        """
        wire = wire or self._wire
        assert wire is not None  # noqa: S101  they have joined
        is_held = wire.pace is not None or not hasattr(averaged, "then")
        held: Any = torch.futures.Future() if is_held else None
        if held is None:
            averaged = averaged.then(lambda done: self._stamped(bucket, wire, done))
            if wire.board is not None:  # then its end says all
                if self.keeps:
                    with self._changed:
                        self._done.append((bucket, averaged))
                return averaged
        with self._changed:
            self._waiting.append((bucket, averaged, held, wire))
            self._pending += 1
            self._changed.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="smtc-exchange", daemon=True
                )
                self._thread.start()
        return averaged if held is None else held

    def passed(self, bucket: FollowedBucket, wire: FollowedWire) -> None:
        """Hold a bucket back whose exchange is over, and keep it."""
        self._hold(bucket, wire)
        if self.keeps:
            with self._changed:
                self._done.append((bucket, None))

    def take(self) -> list[FollowedBucket]:
        """Return the buckets that were exchanged since the last call, in order."""
        with self._changed:
            self._changed.wait_for(lambda: self._pending == 0, timeout=_LONGEST_WAIT_S)
            taken, self._done = self._done, []
        return [
            bucket
            for bucket, averaged in taken
            if bucket.is_counted and _has_come(averaged) and bucket.here_s > 0
        ]

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                bucket, averaged, held, wire = self._waiting.popleft()
            is_known = self._observe(bucket, averaged, held, wire)
            with self._changed:
                if is_known and self.keeps:
                    self._done.append((bucket, averaged if held is None else held))
                self._pending -= 1
                self._changed.notify_all()

    def _observe(
        self,
        bucket: FollowedBucket,
        averaged: Any,  # noqa: ANN401  as above
        held: Any,  # noqa: ANN401  as above
        wire: FollowedWire,
    ) -> bool:
        """Follow a bucket, to its end where it is held; return whether all ranks were there."""
        is_here = wire.board is not None or self._goes_round(bucket, wire)
        if held is None:
            return is_here
        try:
            value = averaged.wait()
        except Exception as error:  # noqa: BLE001  whatever it is belongs to who waits
            held.set_exception(error)
            return False
        if wire.board is not None:
            here_s = wire.board.here_s(bucket.number)
            is_here, bucket.here_s = here_s is not None, here_s or bucket.ready_s
        if bucket.local_norm2 is not None:
            bucket.mean_norm2 = squared_norm(value)
        self._hold(bucket, wire)
        held.set_result(value)
        return is_here

    def _goes_round(self, bucket: FollowedBucket, wire: FollowedWire) -> bool:
        """Let a message go round; return whether all ranks were there."""
        sleep_until(bucket.ready_s)
        is_here = False
        with suppress(RuntimeError):  # another rank is gone: the values' own future says so
            dist.all_reduce(self._token, group=wire.token_group)
            is_here = True
        bucket.here_s = time.perf_counter()
        return is_here

    def _stamped(self, bucket: FollowedBucket, wire: FollowedWire, done: Any) -> Any:  # noqa: ANN401  as above
        bucket.end_s = time.perf_counter()
        value = done.value()
        if wire.board is not None:
            bucket.here_s = wire.board.here_s(bucket.number) or 0.0
        if bucket.local_norm2 is not None:
            bucket.mean_norm2 = squared_norm(value)
        return value

    def _hold(self, bucket: FollowedBucket, wire: FollowedWire) -> None:
        """Return when the declared network would have brought a bucket."""
        there_s = bucket.end_s = time.perf_counter()
        if wire.pace is None:
            return
        takes_s = wire.takes_s(bucket)
        end_s = wire.pace.reserve(bucket.here_s, takes_s)
        if there_s > end_s and takes_s and not self._told_overrun:
            self._told_overrun = True
            self._on_overrun(takes_s, takes_s + there_s - end_s)
        sleep_until(end_s)
        bucket.end_s = max(end_s, there_s)


def squared_norm(tensor: torch.Tensor) -> float:
    """Return the sum of squares of a tensor."""
    return float(torch.linalg.vector_norm(tensor.detach(), dtype=torch.float32)) ** 2


def _has_come(averaged: Any) -> bool:  # noqa: ANN401  as above
    """Return whether values have come well; a step ends only after they have come at all."""
    if averaged is None:  # it has been waited for
        return True
    try:
        averaged.wait()
    except Exception:  # noqa: BLE001  the script was told by DDP
        return False
    return True
