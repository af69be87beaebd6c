from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.follow.ring import Ring


@given(
    capacity=st.integers(1, 3000),
    lengths=st.lists(st.integers(0, 2000), max_size=12),
)
def test_a_ring_keeps_the_last_rows(capacity: int, lengths: list[int]) -> None:
    ring = Ring(2, capacity)
    rows = np.empty((2, 0))
    for length in lengths:
        added = np.arange(rows.shape[1], rows.shape[1] + length, dtype=float)
        block = np.stack([added, -added])
        ring.append(block)
        rows = np.concatenate([rows, block], axis=1)

        np.testing.assert_array_equal(ring.rows, rows[:, -capacity:])


def test_memory_does_not_grow_with_the_rows() -> None:
    ring = Ring(1, 100)
    for _ in range(50):
        ring.append(np.zeros((1, 70)))

    assert ring._memory.shape[1] <= 1024
