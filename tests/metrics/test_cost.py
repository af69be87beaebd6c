from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtc_lab.catalog.catalog import PUBLISHED_2022_PRICES, Catalog
from smtc_lab.metrics.cost import (
    saving_fraction,
    saving_interval,
    usd_per_1000_steps,
    usd_per_job,
    usd_per_step,
)
from smtc_lab.metrics.result import Interval
from smtc_lab.spec.cluster import Cluster

CATALOG = Catalog.load().with_prices(PUBLISHED_2022_PRICES)


def exactly(value: float) -> Interval:
    return Interval(mean=value, low=value, high=value)


def usd_of_step(step_time_s: float, usd_per_hour: float | None) -> float:
    found = usd_per_step(step_time_s=exactly(step_time_s), usd_per_hour=usd_per_hour)
    assert found is not None
    return found.mean


@pytest.mark.parametrize(
    ("clusters", "step_times_s", "costs_usd", "saving", "speedup"),
    [
        (
            ("a=ml.p4d.24xlarge", "a=ml.p4d.24xlarge,b=ml.c5.18xlarge:2"),
            (0.192, 0.086),
            (2.010, 1.076),
            0.465,
            2.23,
        ),
        (
            ("a=ml.p3.2xlarge", "a=ml.p3.2xlarge,b=ml.c5.9xlarge"),
            (1.193, 0.184),
            (1.268, 0.289),
            0.772,
            6.48,
        ),
    ],
)
def test_the_published_tables_are_reproduced(
    clusters: tuple[str, str],
    step_times_s: tuple[float, float],
    costs_usd: tuple[float, float],
    saving: float,
    speedup: float,
) -> None:
    computed_usd = [
        1000 * usd_of_step(step_time_s, CATALOG.usd_per_hour(Cluster.parse(cluster)))
        for cluster, step_time_s in zip(clusters, step_times_s, strict=True)
    ]

    assert computed_usd == pytest.approx(costs_usd, abs=0.0005)
    baseline_usd, candidate_usd = computed_usd
    assert saving_fraction(
        baseline_usd=baseline_usd, candidate_usd=candidate_usd
    ) == pytest.approx(saving, abs=0.0005)
    assert step_times_s[0] / step_times_s[1] == pytest.approx(speedup, abs=0.005)


def test_the_published_prices_per_hour_are_reproduced() -> None:
    clusters = {
        "a=ml.p4d.24xlarge": 37.688,
        "a=ml.p4d.24xlarge,b=ml.c5.18xlarge:2": 45.032,
        "a=ml.p3.2xlarge": 3.825,
        "a=ml.p3.2xlarge,b=ml.c5.9xlarge": 5.661,
    }

    for text, usd_per_hour in clusters.items():
        assert CATALOG.usd_per_hour(Cluster.parse(text)) == pytest.approx(usd_per_hour)


def test_the_published_jobs_save_less_than_their_steps() -> None:
    homogeneous_usd = usd_per_job(billed_s=1337, usd_per_hour=37.688)
    heterogeneous_usd = usd_per_job(billed_s=866, usd_per_hour=45.032)

    assert homogeneous_usd == pytest.approx(14.00, abs=0.005)
    assert heterogeneous_usd == pytest.approx(10.83, abs=0.005)
    assert saving_fraction(
        baseline_usd=homogeneous_usd, candidate_usd=heterogeneous_usd
    ) == pytest.approx(0.226, abs=0.0005)


def test_a_step_costs_a_thousandth_of_a_thousand_steps() -> None:
    thousand = usd_per_1000_steps(step_time_s=exactly(0.5), usd_per_hour=7.2)

    assert usd_of_step(0.5, 7.2) == pytest.approx(0.001)
    assert thousand is not None
    assert (thousand.low, thousand.mean) == pytest.approx((1.0, 1.0))


def test_an_unknown_price_makes_every_cost_unknown() -> None:
    interval = Interval(mean=1.0, low=0.9, high=1.1)

    assert usd_per_step(step_time_s=interval, usd_per_hour=None) is None
    assert usd_per_1000_steps(step_time_s=interval, usd_per_hour=None) is None
    assert usd_per_job(billed_s=1.0, usd_per_hour=None) is None
    assert saving_fraction(baseline_usd=None, candidate_usd=1.0) is None
    assert saving_fraction(baseline_usd=1.0, candidate_usd=None) is None
    assert (
        saving_interval(
            speedup=interval, baseline_usd_per_hour=None, candidate_usd_per_hour=1.0
        )
        is None
    )


def test_nothing_can_be_saved_of_a_baseline_that_costs_nothing() -> None:
    assert saving_fraction(baseline_usd=0.0, candidate_usd=1.0) is None


def test_a_price_of_zero_costs_nothing() -> None:
    assert usd_of_step(1.0, 0.0) == 0.0
    assert saving_fraction(baseline_usd=1.0, candidate_usd=0.0) == 1.0


def test_a_saving_has_the_interval_of_the_speed_up() -> None:
    saving = saving_interval(
        speedup=Interval(mean=2.0, low=1.0, high=4.0),
        baseline_usd_per_hour=10.0,
        candidate_usd_per_hour=12.0,
    )

    assert saving is not None
    assert (saving.mean, saving.low, saving.high) == pytest.approx((0.4, -0.2, 0.7))


@given(st.floats(0.01, 100), st.floats(0.01, 100), st.floats(0.01, 1000), st.floats(0.01, 1000))
@settings(deadline=None)
def test_a_saving_by_price_and_speed_up_is_the_saving_by_cost(
    baseline_s: float, candidate_s: float, baseline_usd: float, candidate_usd: float
) -> None:
    ratio = baseline_s / candidate_s
    by_speedup = saving_interval(
        speedup=exactly(ratio),
        baseline_usd_per_hour=baseline_usd,
        candidate_usd_per_hour=candidate_usd,
    )
    by_cost = saving_fraction(
        baseline_usd=usd_of_step(baseline_s, baseline_usd),
        candidate_usd=usd_of_step(candidate_s, candidate_usd),
    )

    assert by_speedup is not None
    assert by_speedup.mean == pytest.approx(by_cost, rel=1e-6, abs=1e-9)
