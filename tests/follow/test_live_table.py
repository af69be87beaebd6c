from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.follow.table import LiveTable
from smtc_lab.store.steps.bins import Bins

if TYPE_CHECKING:
    from smtc_lab.follow.frames import Frame


def frame_of(table: LiveTable) -> Frame:
    frame = table.cut()
    assert frame is not None
    return frame


def test_rows_are_cut_once_and_in_order() -> None:
    table = LiveTable("t", ["x", "y"])
    table.push(0, 1)
    table.extend([[1, 2], [3, 4]])
    first = frame_of(table)
    table.push(3, 5)
    second = frame_of(table)

    assert first.rows.tolist() == [[0, 1, 2], [1, 3, 4]]
    assert (second.first, second.rows.tolist()) == (3, [[3], [5]])
    assert table.cut() is None


def test_a_row_of_another_length_is_refused() -> None:
    table = LiveTable("t", ["x", "y"])

    with pytest.raises(ValueError, match=r"'t' got 1 columns, but has 2: x, y\. Give one"):
        table.push(1)
    with pytest.raises(ValueError, match=r"Their shapes are \[\(1,\), \(2,\)\]"):
        table.extend([[1], [1, 2]])
    assert table.num_rows == 0


def test_a_snapshot_of_few_rows_has_them_all() -> None:
    table = LiveTable("t", ["x"])
    table.extend([[1, 2]])
    table.cut()

    frame = table.snapshot()

    assert (frame.type, frame.first, frame.bins) == ("reset", 0, None)
    assert frame.rows.tolist() == [[1, 2]]


@given(capacity=st.integers(1, 20), lengths=st.lists(st.integers(0, 4000), max_size=6))
def test_a_snapshot_has_each_row_once(capacity: int, lengths: list[int]) -> None:
    table = LiveTable("t", ["x"], capacity=capacity)
    for length in lengths:
        table.extend([np.arange(table.num_rows, table.num_rows + length, dtype=float)])
        table.cut()

    frame = table.snapshot()

    end = table.num_rows
    assert frame.rows.tolist() == [list(range(frame.first, end))]
    if frame.bins is not None:
        held = np.minimum(
            frame.bins.width, frame.first - np.arange(0, frame.first, frame.bins.width)
        )
        assert frame.bins.low.shape[1] == len(held)
        assert (frame.bins.mean * held).sum() == pytest.approx(sum(range(frame.first)))
    else:
        assert frame.first == 0


def test_a_snapshot_is_not_overwritten_by_later_rows() -> None:
    table = LiveTable("t", ["x"], capacity=2)
    table.extend([[1, 2]])
    table.cut()
    frame = table.snapshot()
    for row in range(2000):
        table.push(row)
        table.cut()

    assert frame.rows.tolist() == [[1, 2]]


def test_a_table_that_was_loaded_goes_on_behind_what_it_was_given() -> None:
    table = LiveTable("t", ["x"], capacity=4)
    values = np.array([[0.5, 2.5]])
    older = Bins(first=0, width=2, low=values - 0.5, high=values + 0.5, mean=values)
    table.load(older, np.array([[4.0, 5.0]]))
    table.push(6)

    frame = frame_of(table)

    assert (frame.first, table.num_rows) == (6, 7)
    assert table.snapshot().rows.tolist() == [[4, 5, 6]]


def test_threads_may_push_at_once() -> None:
    table = LiveTable("t", ["x", "y"])
    threads = [
        threading.Thread(target=lambda: [table.push(row, -row) for row in range(2000)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    frames = []
    while any(thread.is_alive() for thread in threads):
        frames.append(table.cut())
    frames.append(table.cut())

    rows = np.concatenate([frame.rows for frame in frames if frame], axis=1)
    assert rows.shape == (2, 8000)
    np.testing.assert_array_equal(rows[0], -rows[1])
