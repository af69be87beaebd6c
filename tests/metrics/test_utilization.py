from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtc_lab.metrics.columns import SYSTEM, step_columns, system_columns
from smtc_lab.metrics.utilization import (
    cpu_delivered_fraction,
    cpu_utilization,
    data_wait_fraction,
    delivered_interval,
    delivered_over_s,
    device_utilization,
    samples_between,
)
from tests.kit.records import step_record, system_sample


def test_data_wait_is_weighted_by_step_time() -> None:
    records = [
        step_record(step=0, step_time_s=1.0, data_wait_s=1.0),
        step_record(step=1, step_time_s=3.0, data_wait_s=0.0),
    ]

    assert data_wait_fraction(step_columns([records])) == pytest.approx(0.25)


def test_data_wait_of_no_step_is_unknown() -> None:
    assert data_wait_fraction(step_columns([])) is None


def test_waits_are_shares_of_the_time_of_all_ranks() -> None:
    ranks = [
        [step_record(step_time_s=1.0, data_wait_s=0.0, device_time_s=0.9)],
        [step_record(step_time_s=0.5, data_wait_s=0.25, device_time_s=0.2)],
    ]

    steps = step_columns(ranks)

    assert data_wait_fraction(steps) == pytest.approx(0.25 / 1.5)
    assert device_utilization(steps) == pytest.approx(1.1 / 1.5)


def test_device_utilization_is_weighted_by_step_time() -> None:
    records = [
        step_record(step=0, step_time_s=1.0, device_time_s=1.0),
        step_record(step=1, step_time_s=3.0, device_time_s=0.5),
    ]

    assert device_utilization(step_columns([records])) == pytest.approx(0.375)


def test_device_utilization_is_unknown_when_one_step_does_not_know() -> None:
    records = [step_record(step=0, device_time_s=0.1), step_record(step=1, device_time_s=None)]

    assert device_utilization(step_columns([records])) is None
    assert device_utilization(step_columns([])) is None


def test_a_device_that_never_computes_is_known_to_be_idle() -> None:
    assert device_utilization(step_columns([[step_record(device_time_s=0.0)]])) == 0.0


def test_cpu_utilization_is_used_over_quota_times_time() -> None:
    samples = [
        system_sample(interval_s=1.0, cpu_used_s=0.5, cpu_quota_cores=1.0),
        system_sample(interval_s=3.0, cpu_used_s=3.0, cpu_quota_cores=1.0),
    ]

    assert cpu_utilization(system_columns(samples)) == pytest.approx(3.5 / 4)


def test_the_cores_of_the_machine_stand_in_for_a_quota() -> None:
    samples = [system_sample(interval_s=1.0, cpu_used_s=1.0, cpu_quota_cores=None)]

    assert cpu_utilization(system_columns(samples), num_cores=2) == pytest.approx(0.5)
    assert cpu_utilization(system_columns(samples)) is None


def test_samples_from_before_the_quota_was_applied_are_left_out() -> None:
    samples = [
        system_sample(interval_s=1.0, cpu_used_s=2.0, cpu_quota_cores=None),
        system_sample(interval_s=1.0, cpu_used_s=0.4, cpu_quota_cores=0.5),
    ]

    assert cpu_utilization(system_columns(samples), num_cores=2) == pytest.approx(0.8)


def test_a_period_of_the_quota_beyond_the_window_is_no_more_than_all_of_it() -> None:
    samples = [system_sample(interval_s=0.5, cpu_used_s=0.27, cpu_quota_cores=0.5)]

    assert cpu_utilization(system_columns(samples)) == 1.0


def test_cpu_utilization_of_no_samples_is_unknown() -> None:
    assert cpu_utilization(system_columns([]), num_cores=2) is None


def test_delivered_is_used_over_asked() -> None:
    samples = [
        system_sample(cpu_used_s=0.4, cpu_asked_s=0.5),
        system_sample(cpu_used_s=0.4, cpu_asked_s=0.4),
        system_sample(cpu_used_s=0.1, cpu_asked_s=9.0, cpu_quota_cores=None),
    ]

    assert cpu_delivered_fraction(system_columns(samples)) == pytest.approx(0.8 / 0.9)


def test_delivered_is_unknown_without_a_quota_or_when_nothing_was_asked_for() -> None:
    for sample in (
        system_sample(cpu_quota_cores=None),
        system_sample(cpu_used_s=0.0, cpu_asked_s=0.0),
    ):
        assert cpu_delivered_fraction(system_columns([sample])) is None


@given(st.lists(st.floats(0.3, 0.7), min_size=1, max_size=40))
def test_a_fully_used_quota_is_fully_delivered_over_the_window(used: list[float]) -> None:
    """Older runs asked for the larger of what was used and allowed, sample by sample."""
    rest = 0.5 * (len(used) + 1) - sum(used)
    samples = [
        system_sample(
            interval_s=1.0, cpu_quota_cores=0.5, cpu_used_s=one, cpu_asked_s=max(one, 0.5)
        )
        for one in (*used, rest)
    ]

    assert cpu_delivered_fraction(system_columns(samples)) == pytest.approx(1.0)


@given(
    st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9), st.floats(0.01, 9)), min_size=1),
)
def test_no_more_than_all_is_delivered(looks: list[tuple[float, float, float]]) -> None:
    samples = [
        system_sample(cpu_used_s=used, cpu_asked_s=asked, cpu_quota_cores=quota)
        for used, asked, quota in looks
    ]
    delivered = cpu_delivered_fraction(system_columns(samples))

    assert delivered is None or 0 <= delivered <= 1


def test_a_delivered_share_of_two_seconds_is_too_short_to_tell() -> None:
    short = [system_sample(interval_s=0.5, cpu_used_s=0.2, cpu_asked_s=0.25)] * 4

    assert delivered_over_s([system_columns(short)]) == pytest.approx(2.0)
    assert delivered_interval([system_columns(short)]) is None
    assert delivered_interval([system_columns(short)] * 3) is not None


def test_a_delivered_share_has_an_interval_that_ends_at_all() -> None:
    rng = np.random.default_rng(0)
    launches = [
        system_columns(
            system_sample(
                interval_s=0.5,
                cpu_quota_cores=0.5,
                cpu_used_s=0.25 * (1 - lost),
                cpu_asked_s=0.25,
            )
            for lost in rng.uniform(0, 0.1, size=20)
        )
        for _ in range(3)
    ]

    found = delivered_interval(launches)

    assert found is not None
    assert found.mean == pytest.approx(cpu_delivered_fraction(np.hstack(launches)))
    assert 0.9 < found.low < 0.95 < found.high <= 1


def test_a_sample_over_an_edge_is_cut_there() -> None:
    sample = system_sample(time_s=10.0, interval_s=4.0, cpu_used_s=2.0, cpu_asked_s=4.0)

    cut = samples_between(system_columns([sample]), begin_s=9.0, end_s=20.0)

    names = ("time_s", "interval_s", "cpu_used_s", "cpu_asked_s")
    assert [cut[SYSTEM[name]].tolist() for name in names] == [[10.0], [1.0], [0.5], [1.0]]


def test_samples_outside_the_window_are_left_out() -> None:
    samples = [system_sample(time_s=time_s, interval_s=1.0) for time_s in (1.0, 2.0, 9.0)]

    assert samples_between(system_columns(samples), begin_s=2.0, end_s=8.0).shape == (9, 0)


@given(
    st.lists(st.floats(0.01, 2.0), min_size=1, max_size=20),
    st.floats(0.0, 10.0),
    st.floats(0.0, 10.0),
)
@settings(deadline=None)
def test_cut_samples_cover_the_window_and_no_more(
    intervals_s: list[float], begin_s: float, length_s: float
) -> None:
    time_s, samples = 0.0, []
    for interval_s in intervals_s:
        time_s += interval_s
        samples.append(
            system_sample(time_s=time_s, interval_s=interval_s, cpu_used_s=interval_s)
        )

    inside = samples_between(system_columns(samples), begin_s=begin_s, end_s=begin_s + length_s)

    covered_s = max(0.0, min(begin_s + length_s, time_s) - begin_s)
    assert inside[SYSTEM["interval_s"]].sum() == pytest.approx(covered_s, abs=1e-9)
    assert inside[SYSTEM["cpu_used_s"]].sum() == pytest.approx(covered_s, abs=1e-9)
