"""Turns the collectives of a step into what its record says of communication."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.metrics.communication.times import pass_times, total_time, waited_times
from smtc_lab.metrics.records.records import (
    ALL_REDUCE,
    FORWARD_GATHER,
    REDUCE_SCATTER,
    BucketRecord,
)
from smtc_lab.runtime.step_timer import NO_COMMUNICATION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

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
    whole = [each for each in buckets if each.blocked_s is None]
    waited = sorted(
        (each for each in buckets if each.blocked_s is not None), key=lambda each: each.ready_s
    )
    passes = [each for each in _passes(whole) if each[-1].is_last]
    if not passes and not waited:
        return NO_COMMUNICATION
    found = [(one, pass_times(*_columns(one))) for one in passes]
    backward_s = sum(max(0.0, one[-1].ready_s - one[0].backward_s) for one in passes)
    syncs = Counter(one[-1].model for one in passes)
    if waited:
        _place_in_passes(waited)
        found.append((waited, waited_times(_column(waited, "blocked_s"), *_columns(waited))))
        backward_s += _computing_s(waited)
        syncs += _syncs(waited)
    number = 0
    for one, (exposed_s, hidden_s, _) in found:
        for each, *seconds in zip(one, exposed_s.tolist(), hidden_s.tolist(), strict=True):
            record(_record(each, (step, number), *seconds))
            number += 1
    times = [total_time(*each) for _, each in found]
    averaged = [each for one in passes for each in one]
    averaged += _averaged(waited)
    gathered = [each.num_bytes for each in waited if _is_gather(each)]
    return (
        sum(each.exposed_s for each in times),
        sum(each.hidden_s for each in times),
        sum(each.rank_wait_s for each in times),
        backward_s if backward_s > 0 else None,
        sum(each.num_bytes for each in averaged),
        number,
        max(syncs.values(), default=0),
        *_norms(passes if not waited else []),
        sum(gathered) if gathered else None,
    )


def _passes(buckets: Sequence[FollowedBucket]) -> Iterator[list[FollowedBucket]]:
    one: list[FollowedBucket] = []
    for bucket in buckets:
        one.append(bucket)
        if bucket.is_last:
            yield one
            one = []


def _columns(one: Sequence[FollowedBucket]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return _column(one, "ready_s"), _column(one, "here_s"), _column(one, "end_s")


def _column(one: Sequence[FollowedBucket], name: str) -> NDArray[np.float64]:
    return np.array([getattr(each, name) for each in one])


def _record(
    bucket: FollowedBucket, place: tuple[int, int], exposed_s: float, hidden_s: float
) -> BucketRecord:
    step, number = place
    return BucketRecord(
        step=step,
        bucket=number,
        num_bytes=bucket.num_bytes,
        ready_s=bucket.ready_s - bucket.backward_s,
        rank_wait_s=max(0.0, min(bucket.here_s, bucket.end_s) - bucket.ready_s),
        exposed_s=exposed_s,
        hidden_s=hidden_s,
        collective=bucket.collective,
        ranks=bucket.ranks,
    )


def _place_in_passes(waited: Sequence[FollowedBucket]) -> None:
    """Let what is gathered for a forward pass belong to the backward pass that follows it."""
    backward_s = waited[-1].backward_s
    for each in reversed(waited):
        if each.collective == FORWARD_GATHER:
            each.backward_s = backward_s
        backward_s = each.backward_s


def _computing_s(waited: Sequence[FollowedBucket]) -> float:
    """Return how long backward passes computed, without what they waited for in between."""
    total_s = 0.0
    for began_s in {each.backward_s for each in waited if each.collective == REDUCE_SCATTER}:
        own = [
            each
            for each in waited
            if each.backward_s == began_s and each.collective != FORWARD_GATHER
        ]
        last_s = max(each.ready_s for each in own if each.collective == REDUCE_SCATTER)
        waits_s = sum(
            max(0.0, min(each.end_s, last_s) - each.blocked_s)
            for each in own
            if each.blocked_s is not None
        )
        total_s += max(0.0, last_s - began_s - waits_s)
    return total_s


def _averaged(waited: Sequence[FollowedBucket]) -> list[FollowedBucket]:
    """Return what averages gradients; an all-reduce of scattered ones does so once more."""
    scatters = [each for each in waited if each.collective == REDUCE_SCATTER]
    models = {each.model for each in scatters}
    return scatters + [
        each for each in waited if each.collective == ALL_REDUCE and each.model not in models
    ]


def _syncs(waited: Sequence[FollowedBucket]) -> Counter[int]:
    """Return how often the gradients of each model were averaged."""
    syncs: Counter[int] = Counter()
    before: set[tuple[int, float]] = set()
    for each in _averaged(waited):
        is_bucket = each.collective == ALL_REDUCE  # of several that are averaged together
        if not is_bucket or (each.model, each.backward_s) not in before:
            syncs[each.model] += 1
        before.add((each.model, each.backward_s))
    return syncs


def _is_gather(bucket: FollowedBucket) -> bool:
    return bucket.collective not in {ALL_REDUCE, REDUCE_SCATTER}


def _norms(passes: Sequence[Sequence[FollowedBucket]]) -> tuple[float | None, float | None]:
    """Return squared norms of all gradients; of several averagings they tell nothing."""
    if len(passes) != 1:
        return None, None
    own = [each.local_norm2 for each in passes[0]]
    mean = [each.mean_norm2 for each in passes[0]]
    known_own = [each for each in own if each is not None]
    known_mean = [each for each in mean if each is not None]
    if len(known_own) < len(own) or len(known_mean) < len(mean):
        return None, None
    return sum(known_own), sum(known_mean)
