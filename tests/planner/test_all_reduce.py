"""Gradients on their way: rings, buckets, and the slowest of several ranks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import distributed

from smtc_lab.planner.calibration.link import SIZES, measure_links
from smtc_lab.planner.calibration.parts import GradientOrder, LinkPoint
from smtc_lab.planner.model.all_reduce import (
    RingLink,
    link_of,
    ring_s,
    slowest_share,
)
from smtc_lab.planner.model.buckets import (
    BUCKET_BYTES,
    FIRST_BUCKET_BYTES,
    MIB,
    Gradients,
    buckets_of,
    estimated_gradients,
    exchange,
    gradients_of,
)
from smtc_lab.planner.model.draws import new_draws
from tests.kit.calibrations import calibration, measured

SIZES_OF_PARAMETERS = st.lists(st.integers(1, 40 * MIB), min_size=1, max_size=40)
LINK = RingLink(1e-4, 1e-8)


def gradients(sizes: list[int], *, begin: float = 0.0) -> Gradients:
    ready = begin + (1 - begin) * np.arange(1, len(sizes) + 1) / len(sizes)
    return Gradients(tuple(sizes), tuple(ready.tolist()), is_estimated=False)


def test_a_ring_of_two_sends_each_byte_once() -> None:
    assert ring_s(1e6, 2, LINK) == pytest.approx(2 * 1e-4 + 1e6 * 1e-8)
    assert ring_s(1e6, 4, LINK) == pytest.approx(6 * 1e-4 + 1.5 * 1e6 * 1e-8)
    assert ring_s(1e6, 1, LINK) == 0


@given(SIZES_OF_PARAMETERS)
def test_buckets_hold_each_gradient_once_and_split_none(sizes: list[int]) -> None:
    made = buckets_of(gradients(sizes))

    ends = {float(each) for each in np.cumsum(sizes)}
    assert {float(each) for each in np.cumsum([bucket.nbytes for bucket in made])} <= ends
    assert sum(bucket.nbytes for bucket in made) == sum(sizes)
    assert [bucket.ready for bucket in made] == sorted(bucket.ready for bucket in made)


@given(SIZES_OF_PARAMETERS)
def test_buckets_are_those_of_torch(sizes: list[int]) -> None:
    tensors = [torch.empty(size, dtype=torch.uint8, device="meta") for size in sizes]

    theirs, _ = distributed._compute_bucket_assignment_by_size(  # type: ignore[attr-defined]  # torch has no public name for it
        tensors, [FIRST_BUCKET_BYTES, BUCKET_BYTES]
    )

    assert [sum(sizes[place] for place in each) for each in theirs] == [
        bucket.nbytes for bucket in buckets_of(gradients(sizes))
    ]


@given(SIZES_OF_PARAMETERS, st.floats(0.001, 10), st.integers(2, 16))
def test_a_step_waits_for_no_more_than_the_whole_exchange_and_no_less_than_its_last_bucket(
    sizes: list[int], device_s: float, ranks: int
) -> None:
    made = buckets_of(gradients(sizes))
    found = exchange(made, np.array(device_s), lambda nbytes: ring_s(nbytes, ranks, LINK))

    last_s = ring_s(made[-1].nbytes, ranks, LINK)
    whole_s = sum(ring_s(bucket.nbytes, ranks, LINK) for bucket in made)
    assert found.all_reduce_s == pytest.approx(whole_s)
    assert last_s * (1 - 1e-9) <= found.exposed_s <= whole_s * (1 + 1e-9)


@given(st.floats(1, 1e12))
def test_gradients_of_which_only_the_bytes_are_known_are_marked_so(nbytes: float) -> None:
    made = estimated_gradients(nbytes)

    assert made.is_estimated
    assert made.total_bytes == pytest.approx(nbytes)
    assert made.ready[-1] == pytest.approx(1)


@given(
    st.lists(st.floats(0.001, 100), min_size=2, max_size=41).map(sorted), st.integers(1, 512)
)
def test_the_slowest_of_more_ranks_is_slower_up_to_the_slowest_step(
    quantiles: list[float], ranks: int
) -> None:
    share = slowest_share(quantiles, ranks)

    assert slowest_share(quantiles, 1) == pytest.approx(1)
    assert share <= slowest_share(quantiles, ranks + 1) + 1e-9
    assert share * np.mean([*quantiles[1:], *quantiles[:-1]]) <= quantiles[-1] * (1 + 1e-9)


def test_the_slowest_of_even_draws_is_the_expected_one() -> None:
    assert slowest_share([1.0, 3.0], 4) == pytest.approx((1 + 2 * 4 / 5) / 2)
    assert slowest_share([], 4) == 1


def test_two_sizes_tell_latency_and_bandwidth() -> None:
    points = tuple(
        LinkPoint(nbytes=size, all_reduce_s=measured(float(ring_s(size, 2, LINK))))
        for size in SIZES
    )

    link = link_of(calibration(links=points), new_draws(4))

    assert link is not None
    assert np.asarray(link.alpha_s)[0] == pytest.approx(1e-4)
    assert np.asarray(link.beta_s)[0] == pytest.approx(1e-8)


def test_the_order_that_was_seen_is_laid_over_the_step_of_a_declared_device() -> None:
    seen = GradientOrder(nbytes=(4, 8), ready_fraction=(0.2, 0.3), begin_fraction=0.1)

    own = gradients_of(calibration(gradients=seen, emulated_device_s=None))
    declared = gradients_of(calibration(gradients=seen, emulated_device_s=0.01))

    assert own is not None
    assert declared is not None
    assert (own.ready, own.is_estimated) == ((0.2, 0.3), False)
    assert declared.ready == pytest.approx((2 / 3, 1))
    assert declared.is_estimated


def test_two_processes_of_this_machine_add_up_gradients() -> None:
    small, large = measure_links(seconds=0.05)

    assert 0 < small.all_reduce_s.mean < large.all_reduce_s.mean
    assert (small.nbytes, large.nbytes) == SIZES
