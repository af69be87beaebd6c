from __future__ import annotations

import numpy as np
import pytest

from smtc_lab.metrics.compared.break_even import (
    BreakEven,
    break_even,
    cumulative_time_s,
    job_times,
    overhead_interval,
)
from smtc_lab.metrics.compared.measured_cluster import MeasuredCluster, measured_clusters
from smtc_lab.metrics.intervals import ratio_interval
from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.metrics.result import Interval
from tests.kit.compilers import INDUCTOR, PLAIN, compiled_run, compiler_report


def measured(
    name: str, step_time_s: float, overhead_s: float, rounds: int = 3
) -> MeasuredCluster:
    config = PLAIN if name == "eager" else INDUCTOR
    (cluster,) = measured_clusters(
        [
            compiled_run(
                config,
                name=name,
                step_time_s=step_time_s,
                overhead_s=overhead_s,
                number=number,
            )
            for number in range(rounds)
        ]
    )
    return cluster


def earned(baseline: MeasuredCluster, candidate: MeasuredCluster) -> BreakEven:
    speedup = ratio_interval(baseline.step_times_s, candidate.step_times_s)
    return break_even(baseline=baseline, candidate=candidate, speedup=speedup)


def test_overhead_is_what_the_first_steps_take_beyond_steady_ones() -> None:
    interval = overhead_interval(measured("inductor", 0.1, 8.0))

    assert interval.mean == pytest.approx(8.0, abs=0.05)
    assert interval.low <= interval.mean <= interval.high


def test_one_launch_has_an_overhead_without_a_spread() -> None:
    interval = overhead_interval(measured("inductor", 0.1, 8.0, rounds=1))

    assert interval.low == interval.mean == interval.high


def test_break_even_is_extra_overhead_over_the_time_saved() -> None:
    result = earned(measured("eager", 0.2, 0.5), measured("inductor", 0.1, 8.5))

    assert result.steps is not None
    assert result.steps.mean == pytest.approx(8.0 / 0.1, rel=0.03)
    assert result.steps.low < result.steps.mean < result.steps.high


def test_a_slower_compiler_never_breaks_even() -> None:
    result = earned(measured("eager", 0.1, 0.5), measured("inductor", 0.2, 8.0))

    assert result == BreakEven(steps=None, is_slower=True)


def test_a_gain_that_is_not_certain_never_breaks_even() -> None:
    result = earned(measured("eager", 0.1, 0.5), measured("inductor", 0.1, 8.0))

    assert result == BreakEven(steps=None, is_slower=False)


def test_a_compiler_without_extra_overhead_pays_from_the_first_step() -> None:
    result = earned(measured("eager", 0.2, 5.0), measured("inductor", 0.1, 0.5))

    assert result.steps is not None
    assert result.steps.mean == 0


def test_rounds_that_only_one_side_completed_are_no_pairs() -> None:
    result = earned(measured("eager", 0.2, 0.5), measured("inductor", 0.1, 8.5, rounds=2))

    assert result.steps is not None
    assert result.steps.mean == pytest.approx(80, rel=0.05)


def test_times_of_jobs_are_overhead_and_steady_steps() -> None:
    overhead = Interval(mean=8.0, low=7.0, high=9.0)
    step = Interval(mean=0.1, low=0.09, high=0.11)

    times = job_times(overhead_s=overhead, step_time_s=step, job_steps=60)

    assert [time.steps for time in times] == [60, 100, 1000]
    assert times[1].total_s == Interval(mean=18.0, low=16.0, high=20.0, evidence="predicted")


def test_a_cumulative_curve_is_measured_as_far_as_every_launch_went() -> None:
    launches = [np.array([3.0, 1.0, 1.0]), np.array([5.0, 1.0])]

    total_s, seen = cumulative_time_s(launches, steady_s=1.0, steps=4)

    assert seen == 2
    assert total_s.tolist() == [0.0, 4.0, 5.0, 6.0, 7.0]


def test_steps_in_which_auto_was_choosing_are_not_steady() -> None:
    report = compiler_report(probe_steps=30)
    run = compiled_run(INDUCTOR, name="auto", step_time_s=0.1, report=report)

    launch = measured_launch(run)

    assert launch is not None
    assert launch.warm_up_steps > 30
    assert len(launch.step_time_s) + launch.warm_up_steps == 60


def test_a_job_that_ends_while_auto_is_choosing_keeps_a_step() -> None:
    report = compiler_report(probe_steps=500)
    run = compiled_run(INDUCTOR, name="auto", step_time_s=0.1, report=report)

    launch = measured_launch(run)

    assert launch is not None
    assert len(launch.step_time_s) == 1
