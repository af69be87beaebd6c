"""Turns the buckets of a step into what its record says of communication."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.communication.times import bucket_times, communication_time
from smtc_lab.metrics.records.records import BucketRecord
from smtc_lab.runtime.step_timer import NO_COMMUNICATION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from smtc_lab.parallel.link.exchange import FollowedBucket


def step_communication(
    buckets: Sequence[FollowedBucket], step: int, record: Callable[[BucketRecord], None]
) -> tuple[float | None, ...]:
    """Return what ``COMMUNICATION_FIELDS`` of a step's record hold, and record its buckets.

    Args:
        buckets: What was exchanged since the step before, in order.
        step: Number of the step.
        record: Keeps a record.
    """
    passes = [each for each in _passes(buckets) if each[-1].is_last]
    if not passes:
        return NO_COMMUNICATION
    number = 0
    for one in passes:
        for each in _records(one, step, number):
            record(each)
        number += len(one)
    times = [communication_time(*_columns(one)) for one in passes]
    syncs = Counter(one[-1].model for one in passes)
    return (
        sum(each.exposed_s for each in times),
        sum(each.hidden_s for each in times),
        sum(each.rank_wait_s for each in times),
        sum(max(0.0, one[-1].ready_s - one[0].backward_s) for one in passes),
        sum(each.num_bytes for one in passes for each in one),
        number,
        max(syncs.values()),
        *_norms(passes),
    )


def _passes(buckets: Sequence[FollowedBucket]) -> Iterator[list[FollowedBucket]]:
    one: list[FollowedBucket] = []
    for bucket in buckets:
        one.append(bucket)
        if bucket.is_last:
            yield one
            one = []


def _columns(one: Sequence[FollowedBucket]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    ready_s, here_s, end_s = (
        np.array([getattr(each, name) for each in one])
        for name in ("ready_s", "here_s", "end_s")
    )
    return ready_s, here_s, end_s


def _records(one: Sequence[FollowedBucket], step: int, first: int) -> Iterator[BucketRecord]:
    exposed_s, hidden_s = bucket_times(*_columns(one))
    for place, bucket in enumerate(one):
        yield BucketRecord(
            step=step,
            bucket=first + place,
            num_bytes=bucket.num_bytes,
            ready_s=bucket.ready_s - bucket.backward_s,
            rank_wait_s=max(0.0, min(bucket.here_s, bucket.end_s) - bucket.ready_s),
            exposed_s=float(exposed_s[place]),
            hidden_s=float(hidden_s[place]),
        )


def _norms(passes: Sequence[Sequence[FollowedBucket]]) -> tuple[float | None, float | None]:
    """Return squared norms of all gradients; of several averagings they tell nothing."""
    own = [each.local_norm2 for each in passes[0]]
    mean = [each.mean_norm2 for each in passes[0]]
    known_own = [each for each in own if each is not None]
    known_mean = [each for each in mean if each is not None]
    if len(passes) > 1 or len(known_own) < len(own) or len(known_mean) < len(mean):
        return None, None
    return sum(known_own), sum(known_mean)
