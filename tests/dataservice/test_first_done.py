"""Requests go where they will be done first, in pretended time."""

from __future__ import annotations

import pytest

from tests.dataservice.simulated import Pass, Worker, own


@pytest.mark.parametrize(
    "workers",
    [
        pytest.param([*own(1, 0.1), *[Worker(0.02)] * 4], id="one of the trainer's is slow"),
        pytest.param([*own(1, 0.3), *[Worker(0.06)] * 16], id="it is slow beside many"),
        pytest.param([*own(7, 0.2), *[Worker(0.2)] * 36], id="all are alike"),
        pytest.param([*own(7, 0.6), *[Worker(0.2)] * 36], id="seven are slow"),
        pytest.param([Worker(0.015)] * 2 + [Worker(0.1)] * 2, id="servers are unlike"),
        pytest.param(
            [*own(1, 0.02), *[Worker(0.02, begins_s=0.2)] * 8], id="servers take time to begin"
        ),
    ],
)
def test_a_fed_cluster_settles_within_ten_steps(workers: list[Worker]) -> None:
    seen = Pass(workers, device_s=0.01, steps=24)

    assert seen.step_times_s(first=10) < 1.02 * 0.01


def test_a_slow_data_worker_never_holds_up_what_others_have_ready() -> None:
    seen = Pass([*own(1, 0.1), *[Worker(0.02)] * 4], device_s=0.01, steps=24)

    assert seen.step_times_s(first=1) < 1.02 * 0.01
    assert len(seen.links[0].sent) == 1


@pytest.mark.parametrize(
    ("workers", "most"),
    [
        pytest.param([*own(2, 0.15), *[Worker(0.1)] * 4], 1.02, id="a little slower"),
        pytest.param([*own(1, 1.6), *[Worker(0.96)] * 2], 1.04, id="one of three is slower"),
        pytest.param([*own(7, 0.6), *[Worker(0.2)] * 8], 1.04, id="three times slower"),
        pytest.param([Worker(0.02)] * 2 + [Worker(0.08)] * 2, 1.08, id="four times slower"),
        pytest.param([*own(1, 1.0), *[Worker(0.1)] * 4], 1.15, id="ten times slower"),
        pytest.param(
            [*own(1, 0.02), Worker(0.02, begins_s=0.2)], 1.06, id="slow only at its first"
        ),
    ],
)
def test_where_data_limits_all_data_workers_are_used(
    workers: list[Worker], most: float
) -> None:
    seen = Pass(workers, device_s=0.001, steps=200)

    assert seen.step_times_s(first=20) < most / sum(1 / each.busy_s for each in workers)
