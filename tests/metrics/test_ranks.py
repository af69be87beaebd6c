from __future__ import annotations

import numpy as np
import pytest

from smtc_lab.metrics.communication.ranks import (
    own_shares,
    own_time_s,
    slowest_first,
    straggler_excess,
)

NAN = np.nan


def means(*ranks: tuple[float, float, float, float]) -> np.ndarray[tuple[int, int], np.dtype]:
    """Return step time, data wait, exposed communication and rank wait of one bin."""
    return np.array(ranks).T


def test_own_time_is_the_step_without_waits_for_others() -> None:
    fast, starved = (0.2, 0.01, 0.02, 0.08), (0.2, 0.1, 0.02, 0.0)

    assert own_time_s(means(fast, starved)) == pytest.approx([0.1, 0.18])


def test_waits_that_were_not_recorded_count_as_own_time() -> None:
    assert own_time_s(means((0.2, 0.1, NAN, NAN), (0.3, 0.1, NAN, NAN))).tolist() == [0.2, 0.3]


def test_a_share_is_of_the_longest_step_in_its_bin() -> None:
    one = means((0.4, 0.0, 0.0, 0.3), (0.4, 0.0, 0.0, 0.0))
    none = means((NAN, NAN, NAN, NAN), (NAN, NAN, NAN, NAN))

    shares = own_shares(np.stack([one, none], axis=2))

    assert shares[:, 0] == pytest.approx([0.25, 1.0])
    assert np.isnan(shares[:, 1]).all()


def test_excess_is_over_the_median_rank() -> None:
    assert straggler_excess(np.array([0.1, 0.129, 0.1])) == pytest.approx([0, 0.29, 0])
    assert np.isnan(straggler_excess(np.array([0.0, 0.0]))).all()


def test_the_ranks_that_work_longest_are_kept_in_order() -> None:
    assert slowest_first(np.array([0.3, 0.1, NAN, 0.4, 0.2]), 3).tolist() == [0, 3, 4]
