"""Communication, exposed and hidden, apart from who is waited for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.metrics.communication.collectives import ring_sent_bytes, sharded_bytes
from smtc_lab.metrics.communication.times import (
    bucket_times,
    communication_time,
    gradient_noise_scale,
    waited_times,
)


def test_what_goes_on_beside_backward_is_hidden_and_the_rest_exposed() -> None:
    ready, here, end = np.array([1.0, 2.0]), np.array([1.0, 2.0]), np.array([2.5, 4.0])

    found = communication_time(ready, here, end)

    assert (found.exposed_s, found.hidden_s, found.rank_wait_s) == (2.0, 1.0, 0.0)


def test_waiting_for_a_slower_rank_is_no_communication() -> None:
    found = communication_time(np.array([1.0]), np.array([3.0]), np.array([3.5]))

    assert (found.exposed_s, found.hidden_s, found.rank_wait_s) == (0.5, 0.0, 2.0)


def test_a_bucket_goes_behind_the_one_before_it() -> None:
    exposed, hidden = bucket_times(
        np.array([0.0, 0.1, 0.2]), np.array([0.0, 0.1, 0.2]), np.array([1.0, 2.0, 3.0])
    )

    assert exposed == pytest.approx([0.8, 1.0, 1.0])
    assert hidden == pytest.approx([0.2, 0.0, 0.0])


@given(
    st.lists(
        st.tuples(st.floats(0, 10), st.floats(0, 5), st.floats(0, 5)), min_size=1, max_size=8
    )
)
def test_a_steps_rest_is_exposed_or_waited_and_nothing_twice(
    parts: list[tuple[float, float, float]],
) -> None:
    ready = np.cumsum([gap for gap, _, _ in parts])
    here = ready + [late for _, late, _ in parts]
    end = np.maximum.accumulate(here + [takes for _, _, takes in parts])

    found = communication_time(ready, here, end)

    assert found.exposed_s + found.rank_wait_s == pytest.approx(end[-1] - ready[-1])
    assert min(found.exposed_s, found.hidden_s, found.rank_wait_s) >= 0


def test_the_noise_scale_of_known_noise_is_found() -> None:
    draw = np.random.default_rng(0)
    size, ranks, batch = 400, 4, 8
    signal = draw.normal(size=size) / np.sqrt(size)
    local, mean = [], []
    for _ in range(400):
        own = signal + draw.normal(size=(ranks, size)) * np.sqrt(20 / size / batch)
        local.append((own**2).sum(axis=1).mean())
        mean.append((own.mean(axis=0) ** 2).sum())

    scale = gradient_noise_scale(np.array(local), np.array(mean), batch_size=batch, ranks=ranks)

    assert scale == pytest.approx(20 / (signal**2).sum(), rel=0.05)


def test_one_rank_tells_no_noise_scale() -> None:
    one = np.array([1.0])

    assert gradient_noise_scale(one, one, batch_size=8, ranks=1) is None
    assert gradient_noise_scale(one * np.nan, one, batch_size=8, ranks=2) is None


def test_what_a_rank_waits_for_one_by_one_is_exposed_and_the_rest_is_hidden() -> None:
    # gathered while it waits; gathered ahead, beside 2 s of computing; scattered while it waits
    ready_s, here_s, end_s = np.array([[0.0, 4.0, 10.0], [1.0, 4.0, 12.0], [3.0, 8.0, 15.0]])
    blocked_s = np.array([0.0, 6.0, 10.0])

    exposed_s, hidden_s, rank_wait_s = waited_times(blocked_s, ready_s, here_s, end_s)

    np.testing.assert_allclose(exposed_s, [2.0, 2.0, 3.0])
    np.testing.assert_allclose(hidden_s, [0.0, 2.0, 0.0])
    assert rank_wait_s == 3.0  # for the others, before the first and before the last


def test_waiting_for_one_collective_exposes_the_one_that_goes_on_before_it() -> None:
    ready_s, end_s = np.array([0.0, 1.0]), np.array([4.0, 6.0])
    blocked_s = np.array([np.inf, 1.0])

    exposed_s, hidden_s, rank_wait_s = waited_times(blocked_s, ready_s, ready_s, end_s)

    np.testing.assert_allclose(exposed_s, [3.0, 2.0])
    np.testing.assert_allclose(hidden_s, [1.0, 0.0])
    assert rank_wait_s == 0.0


def test_a_sharded_step_sends_parameters_twice_and_gradients_once() -> None:
    assert sharded_bytes(100.0, ranks=4) == 225.0
    assert sharded_bytes(100.0, ranks=4, gathered_once=20.0) == 210.0
    assert ring_sent_bytes(100.0, ranks=4, is_averaged=True) == 150.0
    assert sharded_bytes(100.0, ranks=1) == 0.0
