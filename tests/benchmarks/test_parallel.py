from __future__ import annotations

import pytest

from notebooks.benchmarks.parallel import cuts
from notebooks.benchmarks.parallel.figures import (
    cut_figures,
    gradient_figures,
    huge_figures,
    overhead_figure,
)
from notebooks.benchmarks.parallel.predicted import Planned, batch_of, planned_s, step_figures


def test_the_best_of_all_cuts_is_found_by_trying_them() -> None:
    assert cuts._best([1, 1, 1, 1, 4], 2) == (4, [0, 4])
    assert cuts._best([3, 1, 1, 1], 3) == (3, [0, 1, 2])
    assert cuts._equal(9, 4) == [0, 2, 4, 7]


def test_the_worst_of_all_networks_counts_and_only_ours_has_a_goal() -> None:
    rows = [
        {"unit": unit, "way": way, "excess": excess}
        for unit in ("operations", "seconds")
        for way, excesses in {"by operations": (0.0, 0.03), "parameters": (0.2, 0.4)}.items()
        for excess in excesses
    ]

    ours, parameters, *seconds = cut_figures(rows)

    assert (ours.value, ours.goal, ours.holds) == (pytest.approx(3.0), 2.0, False)
    assert (parameters.value, parameters.goal) == (pytest.approx(40.0), None)
    assert [one.goal for one in seconds] == [None, None]


def test_a_large_model_has_a_time_and_a_size() -> None:
    rows = [{"parameters": 10.1e9, "seconds": 4.0, "peak_bytes": 6e8} for _ in range(6)]

    time, memory = huge_figures(rows)

    assert (time.value, time.unit, time.holds) == (4.0, "s", True)
    assert (memory.value, memory.unit, memory.holds) == (pytest.approx(0.6), "GB", True)


def test_the_worst_rank_counts() -> None:
    rows = [
        {"schedule": "gpipe", "ranks": 2, "off": off, "rank": rank}
        for rank, off in enumerate((1e-7, 2e-6))
    ]

    (figure,) = gradient_figures(rows)

    assert (figure.value, figure.holds) == (2e-6, False)


def test_overhead_is_of_medians_within_a_round() -> None:
    rows = [
        {"round": number, "how": how, "seconds": seconds * (1 + number)}
        for number in range(6)
        for how, seconds in (("torch", 1.0), ("ours", 1.01), ("ours", 1.01), ("torch", 1.0))
    ]

    figure = overhead_figure(rows)

    assert (figure.value, figure.unit, figure.holds) == (pytest.approx(1.0), "%", True)


def test_a_planned_step_is_off_in_percent_of_the_measured_one() -> None:
    rows = [
        {"what": what, "planned_s": planned_s, "measured_s": 1.0}
        for what, all_s in {"one": (0.95, 1.05), "other": (1.2, 1.2)}.items()
        for planned_s in all_s
    ]

    one, other = step_figures(rows)

    assert (one.value, one.unit, one.holds) == (pytest.approx(5.0), "%", True)
    assert (other.value, other.holds) == (pytest.approx(20.0), False)


def test_the_whole_network_takes_what_is_declared_in_equal_stages() -> None:
    set_up = Planned("9 convolutional blocks", 2, 2.0)

    step_s = planned_s(set_up)

    assert 2.0 / 2 < step_s < 2.0
    model, inputs, targets, loss = batch_of(set_up)
    assert loss(model(inputs), targets).isfinite()
