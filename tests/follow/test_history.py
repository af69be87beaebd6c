from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from smtc_lab.follow.history import History
from smtc_lab.store.steps.bins import Bins

MOST = 8

blocks = st.lists(
    st.integers(0, 20).flatmap(
        lambda rows: arrays(
            np.float64,
            (2, rows),
            elements=st.floats(-1e6, 1e6) | st.just(float("nan")),
        )
    ),
    max_size=12,
)


def brute(rows: np.ndarray, width: int) -> Bins:
    low, high, mean = [], [], []
    for begin in range(0, rows.shape[1], width):
        for column in rows[:, begin : begin + width]:
            known = column[~np.isnan(column)]
            low.append(known.min() if known.size else np.nan)
            high.append(known.max() if known.size else np.nan)
            mean.append(known.mean() if known.size else np.nan)
    low, high, mean = (np.array(v).reshape(-1, rows.shape[0]).T for v in (low, high, mean))
    return Bins(first=0, width=width, low=low, high=high, mean=mean)


def assert_same(one: Bins, other: Bins) -> None:
    assert (one.first, one.width) == (other.first, other.width)
    np.testing.assert_array_equal(one.low, other.low)
    np.testing.assert_array_equal(one.high, other.high)
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-9, atol=1e-6)


@given(blocks)
def test_bins_equal_a_computation_over_all_rows(given_blocks: list[np.ndarray]) -> None:
    history = History(2, most_bins=MOST)
    rows = np.empty((2, 0))
    for block in given_blocks:
        history.append(block)
        rows = np.concatenate([rows, block], axis=1)

        assert history.num_rows == rows.shape[1]
        assert rows.shape[1] <= MOST * history.width
        assert_same(history.before(rows.shape[1]), brute(rows, history.width))


@given(blocks, st.integers(0, 300))
def test_bins_before_a_row_hold_all_rows_before_it(
    given_blocks: list[np.ndarray], row: int
) -> None:
    history = History(2, most_bins=MOST)
    for block in given_blocks:
        history.append(block)

    bins = history.before(row)

    held = bins.low.shape[1] * bins.width
    assert held >= min(row, history.num_rows)
    assert held - bins.width < max(1, row)


@given(blocks)
def test_a_history_that_was_loaded_goes_on_like_the_first(
    given_blocks: list[np.ndarray],
) -> None:
    first = History(2, most_bins=MOST)
    for block in given_blocks:
        first.append(np.nan_to_num(block))
    full = first.num_rows // first.width * first.width
    second = History(2, most_bins=MOST)

    second.load(first.before(full))
    more = np.arange(2.0 * MOST).reshape(2, MOST)
    if first.num_rows == full:
        first.append(more)
        second.append(more)

        assert_same(first.before(first.num_rows), second.before(second.num_rows))
    else:
        assert second.num_rows == full


def test_what_was_returned_is_not_overwritten_by_later_rows() -> None:
    history = History(1, most_bins=2)
    history.append(np.array([[1.0, 5.0]]))
    bins = history.before(2)
    history.append(np.array([[7.0, 9.0]]))

    assert bins.high.tolist() == [[1.0, 5.0]]


def test_too_many_bins_are_refused() -> None:
    values = np.ones((1, 3))

    with pytest.raises(ValueError, match=r"at most 2 bins was given 3 bins.*wider"):
        History(1, most_bins=2).load(
            Bins(first=0, width=1, low=values, high=values, mean=values)
        )
