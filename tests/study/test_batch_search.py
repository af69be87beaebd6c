from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.metrics.batch.batch_sizes import BatchTrial, backend_batches
from smtc_lab.study.batch.search import MOST, search_batch_sizes


def trials(limit: int, *, start: int) -> tuple[BatchTrial, ...]:
    """Search with a machine on which batches of at most ``limit`` fit."""

    def probe(batch_size: int) -> BatchTrial:
        return BatchTrial(batch_size=batch_size, fits=batch_size <= limit, run="")

    return search_batch_sizes(probe, start=start)


@given(limit=st.integers(0, 31), start=st.integers(1, 64))
def test_a_small_limit_is_found_exactly(limit: int, start: int) -> None:
    found = backend_batches("eager", trials(limit, start=start))

    assert found.largest == (limit or None)
    assert found.smallest_too_large == limit + 1


@given(limit=st.integers(32, MOST), start=st.integers(1, MOST))
def test_a_large_limit_is_found_within_a_sixteenth(limit: int, start: int) -> None:
    tried = trials(limit, start=start)

    found = backend_batches("eager", tried)
    assert found.largest is not None
    assert limit * 15 / 17 <= found.largest <= limit
    assert len(tried) <= 30
    sizes = [trial.batch_size for trial in tried]
    assert sizes == sorted(set(sizes))


def test_sizes_double_and_are_then_bisected_in_multiples_of_eight() -> None:
    sizes = [trial.batch_size for trial in trials(150, start=16)]

    assert sizes == [16, 32, 64, 128, 144, 152, 160, 192, 256]


def test_no_batch_may_fit_at_all() -> None:
    tried = trials(0, start=8)

    assert [trial.batch_size for trial in tried] == [1, 8]
    assert backend_batches("eager", tried).largest is None


def test_the_search_ends_at_the_largest_size_that_is_tried() -> None:
    found = backend_batches("eager", trials(2 * MOST, start=MOST // 2))

    assert (found.largest, found.smallest_too_large) == (MOST, None)


def test_a_trial_that_finds_nothing_out_ends_the_search() -> None:
    def probe(batch_size: int) -> BatchTrial:
        fits = True if batch_size < 32 else None
        return BatchTrial(batch_size=batch_size, fits=fits, reason="no data", run="")

    found = backend_batches("eager", search_batch_sizes(probe, start=8))

    assert [trial.batch_size for trial in found.trials] == [8, 16, 32]
    assert (found.largest, found.problem) == (16, "no data")


@given(
    samples=st.integers(1, 300), limit=st.integers(1, 300), start=st.sampled_from([4, 64, 512])
)
def test_between_sizes_is_searched_only_where_the_memory_is_the_limit(
    samples: int, limit: int, start: int
) -> None:
    def probe(batch_size: int) -> BatchTrial:
        is_beyond = limit >= batch_size > samples
        fits = batch_size <= min(limit, samples)
        return BatchTrial(batch_size=batch_size, fits=fits, is_beyond_dataset=is_beyond, run="")

    found = backend_batches("eager", tried := search_batch_sizes(probe, start=start))

    largest = found.largest or 0
    if found.ends_with_dataset:
        assert samples < 2 * max(largest, 1)
        assert sum(trial.is_beyond_dataset for trial in tried) <= 4
    elif largest >= 1:
        assert largest >= limit * 15 / 17 - 1


def test_the_fastest_batch_need_not_be_the_largest() -> None:
    speeds = {8: 100.0, 16: 130.0, 24: 120.0, 32: None}
    tried = [
        BatchTrial(batch_size=size, fits=speed is not None, samples_per_s=speed, run="")
        for size, speed in speeds.items()
    ]

    found = backend_batches("eager", tried)

    assert (found.largest, found.fastest, found.most_samples_per_s) == (24, 16, 130.0)


@pytest.mark.parametrize("start", [1, 7, 1000])
def test_a_trial_is_made_once(start: int) -> None:
    made: list[int] = []

    def probe(batch_size: int) -> BatchTrial:
        made.append(batch_size)
        return BatchTrial(batch_size=batch_size, fits=batch_size <= 100, run="")

    search_batch_sizes(probe, start=start)

    assert len(made) == len(set(made))
