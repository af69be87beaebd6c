from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.views.figures.launches import (
    Launch,
    cpu_fractions,
    gpu_fractions,
    launches_of,
    measured_step_times,
    rolling_mean,
    time_edges,
)
from tests.kit.comparisons import example_comparison

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.comparison import ClusterResult
    from smtc_lab.metrics.records.records import RunRecords


@pytest.fixture
def cluster_and_runs() -> tuple[ClusterResult, list[RunRecords]]:
    comparison, runs = example_comparison()
    return comparison.clusters[1], runs


@pytest.fixture
def launches(cluster_and_runs: tuple[ClusterResult, list[RunRecords]]) -> list[Launch]:
    return launches_of(*cluster_and_runs)


def test_launches_come_in_the_clusters_order_with_their_own_warm_up(
    cluster_and_runs: tuple[ClusterResult, list[RunRecords]],
) -> None:
    cluster, runs = cluster_and_runs
    changed = cluster.model_copy(update={"warm_up_steps": (1, 2, 3)})

    found = launches_of(changed, runs[::-1])

    assert [launch.run.job.job_name for launch in found] == list(cluster.runs)
    assert [(launch.number, launch.warm_up_steps) for launch in found] == [
        (1, 1),
        (2, 2),
        (3, 3),
    ]


def test_a_launch_without_records_is_left_out_and_the_others_keep_their_numbers(
    cluster_and_runs: tuple[ClusterResult, list[RunRecords]],
) -> None:
    cluster, runs = cluster_and_runs

    found = launches_of(cluster, [run for run in runs if run.job.job_name != cluster.runs[0]])

    assert [launch.number for launch in found] == [2, 3]


def test_measured_step_times_leave_out_the_warm_up(launches: list[Launch]) -> None:
    assert measured_step_times(launches).size == 3 * (120 - 8)


def test_a_step_of_the_job_is_as_long_as_that_of_its_slowest_rank(
    launches: list[Launch],
) -> None:
    run = launches[0].run
    (steps,) = run.steps.values()
    slower = [dataclasses.replace(step, step_time_s=3 * step.step_time_s) for step in steps]
    both = dataclasses.replace(
        launches[0], run=dataclasses.replace(run, steps={"a": steps, "b": slower})
    )

    assert both.step_time_s == pytest.approx(3 * launches[0].step_time_s)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=50), st.integers(1, 60))
def test_a_rolling_mean_stays_within_its_values(values: list[float], window: int) -> None:
    means = rolling_mean(np.array(values), window)

    assert means.shape == (len(values),)
    assert means.min() >= min(values) - 1e-9
    assert means.max() <= max(values) + 1e-9


def test_a_rolling_mean_over_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"window=0 is below 1.*number of values"):
        rolling_mean(np.ones(3), 0)


def test_time_begins_with_start_up_and_has_an_edge_at_the_first_step(
    launches: list[Launch],
) -> None:
    edges = time_edges(launches)

    assert edges[0] <= -1.6
    assert 0.0 in edges
    assert edges[-1] >= sum(step.step_time_s for step in launches[0].run.steps["algo-1-rank0"])


def test_cpu_fractions_are_used_over_quota(launches: list[Launch]) -> None:
    edges = time_edges(launches)

    fractions = cpu_fractions(launches, ["algo-2"], edges, 36 * 0.031)

    assert np.nanmean(fractions[edges[:-1] >= 0]) == pytest.approx(0.91, abs=0.02)


def test_a_sample_without_a_quota_uses_the_groups(launches: list[Launch]) -> None:
    edges = time_edges(launches)

    known = cpu_fractions(launches, ["algo-1"], edges, 8 * 0.031)
    unknown = cpu_fractions(launches, ["algo-1"], edges, None)

    assert np.isfinite(known[0])
    assert np.isnan(unknown[0])


def test_device_fractions_are_device_time_over_step_time(launches: list[Launch]) -> None:
    edges = time_edges(launches)

    fractions = gpu_fractions(launches, edges)

    assert np.isnan(fractions[edges[:-1] < 0]).all()
    assert np.nanmean(fractions) == pytest.approx(0.04 / 0.105, abs=0.05)


def test_device_fractions_come_from_nvml_where_there_is_a_gpu(launches: list[Launch]) -> None:
    run = launches[0].run
    system = {
        host: [dataclasses.replace(sample, gpu_utilization_fraction=0.5) for sample in samples]
        for host, samples in run.system.items()
    }
    seen = dataclasses.replace(launches[0], run=dataclasses.replace(run, system=system))

    fractions = gpu_fractions([seen], time_edges([seen]))

    assert fractions[np.isfinite(fractions)] == pytest.approx(0.5)


def test_a_launch_without_steps_gives_empty_series(launches: list[Launch]) -> None:
    bare = dataclasses.replace(
        launches[0], run=dataclasses.replace(launches[0].run, steps={}, system={})
    )

    assert bare.num_steps == 0
    assert bare.step_time_s.size == 0
    assert time_edges([bare]).size == 0
    assert gpu_fractions([bare], time_edges([bare])).size == 0
    assert cpu_fractions([bare], ["algo-1"], time_edges([bare]), 1.0).size == 0
