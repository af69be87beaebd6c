"""Spot forecasts, against what is known to be true and against jobs played one by one."""

from __future__ import annotations

import dataclasses
import math
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtc_lab.errors import PlannerError
from smtc_lab.launchers.supervision.market import weibull_shape
from smtc_lab.planner.spot.forecast import spot_forecast
from smtc_lab.planner.spot.policies import POLICIES
from smtc_lab.planner.spot.result import SpotForecast
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.spec.spot import Market
from tests.planner.spot.slow_job import SlowJob, greedy, spot_only, uniform_progress
from tests.planner.spot.traces import heavy_tailed, trace_of, windows_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from smtc_lab.metrics.result import Interval

HOUR = 3600.0
ON_DEMAND, SPOT_ONLY, GREEDY, UNIFORM = POLICIES
SLOW: dict[str, Callable[[SlowJob, Iterator[tuple[float, float]]], SlowJob]] = {
    SPOT_ONLY: spot_only,
    GREEDY: greedy,
    UNIFORM: uniform_progress,
}


def forecast(work_s: float = 48 * HOUR, **values: Any) -> SpotForecast:
    defaults = {
        "save_s": 20.0,
        "restart_s": 300.0,
        "lifetimes": 5 * HOUR,
        "spot_usd_per_hour": 0.3,
        "on_demand_usd_per_hour": 1.0,
    }
    return spot_forecast(work_s, **(defaults | values))


def drawn_windows(
    *, mean_time_between_s: float, variation: float, mean_wait_s: float, seed: int
) -> Iterator[tuple[float, float]]:
    dice = random.Random(seed)  # noqa: S311  it decides nothing secret
    shape = weibull_shape(variation)
    scale_s = mean_time_between_s / math.gamma(1 + 1 / shape)
    now_s = 0.0
    while True:
        end_s = now_s + dice.weibullvariate(scale_s, shape)
        yield now_s, end_s
        now_s = end_s + (dice.expovariate(1 / mean_wait_s) if mean_wait_s else 0.0)


def slow_jobs(made: SpotForecast, policy: str, windows: Callable[[int], Any], jobs: int) -> Any:
    """Return finish, cost and lost time of jobs that are played one by one, shape (3, jobs)."""
    told = []
    for seed in range(jobs):
        job = SlowJob(
            work_s=made.work_s,
            save_s=made.save_s,
            restart_s=made.restart_s,
            every_s=made.policy(policy).save_every_s,
            deadline_s=made.deadline_s or 0.0,
        )
        SLOW[policy](job, windows(seed))
        usd = job.spot_s * made.prices.spot_usd_per_hour
        usd += job.on_demand_s * made.prices.on_demand_usd_per_hour
        told.append((job.now_s, usd / HOUR, job.lost_s))
    return np.array(told).T


def share_within(values: Any, interval: Interval) -> float:
    edge = 1e-9 * interval.high  # sums of many times in another order
    inside = (values >= interval.low - edge) & (values <= interval.high + edge)
    return float(inside.mean())


@pytest.mark.parametrize(
    ("between_h", "save_s", "restart_s"),
    [(6.7, 60.0, 600.0), (5.0, 20.0, 300.0), (1.0, 20.0, 300.0), (0.25, 30.0, 300.0)],
)
def test_lifetimes_without_memory_take_what_the_formula_says(
    between_h: float, save_s: float, restart_s: float
) -> None:
    between_s, pieces = between_h * HOUR, 120
    every_s = 0.1 * between_s
    # Daly's, with restarts that are interrupted, too; the first piece begins with one
    piece_s = every_s + save_s
    each_s = between_s * math.exp(restart_s / between_s) * math.expm1(piece_s / between_s)
    first_s = between_s * math.expm1((restart_s + piece_s) / between_s)

    made = forecast(
        pieces * every_s,
        lifetimes=between_s,
        save_s=save_s,
        restart_s=restart_s,
        save_every_s=every_s,
    ).policy(SPOT_ONLY)

    expected_s = first_s + (pieces - 1) * each_s
    assert made.finish_s.mean == pytest.approx(expected_s, rel=0.005)
    assert made.spot_s == pytest.approx(made.finish_s.mean)
    assert made.interruptions == pytest.approx(expected_s / between_s, rel=0.02)


def test_the_best_interval_without_memory_is_that_of_the_formula() -> None:
    made = forecast(lifetimes=HOUR).policy(SPOT_ONLY)

    young_s = math.sqrt(2 * 20.0 * HOUR)
    assert young_s / 2 < made.best_save_every_s < young_s * 2
    costs = {point.save_every_s / young_s: point.usd for point in made.curve}
    assert min(costs.values()) * 1.05 < min(costs[min(costs)], costs[max(costs)])
    assert made.save_every_s == made.best_save_every_s


@pytest.mark.parametrize("deadline_s", [None, 60 * HOUR])
def test_a_job_under_a_constant_trace_is_never_interrupted(deadline_s: float | None) -> None:
    made = forecast(
        10 * HOUR, lifetimes=trace_of([1] * 50), save_every_s=HOUR, deadline_s=deadline_s
    )

    for one in made.policies[1:]:
        finish_s = 10 * HOUR + 10 * 20 + 300
        assert one.finish_s.low == one.finish_s.high == pytest.approx(finish_s)
        assert one.usd.mean == pytest.approx(0.3 * finish_s / HOUR)
        assert one.interruptions == one.lost_s == one.waiting_s == one.on_demand_s == 0
    assert made.policies[0].finish_s.mean == 10 * HOUR + 20 + 300
    assert made.policies[0].usd.mean == pytest.approx((10 * HOUR + 320) / HOUR)


@pytest.mark.parametrize(
    ("work_h", "deadline_h", "save_s", "restart_s"),
    [(48, 52, 20, 720), (48, 70, 60, 720), (2, 2.3, 5, 60), (10, 10.5, 30, 900)],
)
@pytest.mark.parametrize(
    "lifetimes",
    ["trace", {"mean_time_between_s": 2 * HOUR, "variation": 2.2, "mean_wait_s": HOUR}],
)
def test_the_deadline_is_always_met_where_it_can_be(
    work_h: float, deadline_h: float, save_s: float, restart_s: float, lifetimes: Any
) -> None:
    if lifetimes == "trace":
        lifetimes = heavy_tailed(seed=1, up_h=2.0, down_h=2.0)

    made = forecast(
        work_h * HOUR,
        deadline_s=deadline_h * HOUR,
        save_s=save_s,
        restart_s=restart_s,
        lifetimes=lifetimes,
    )

    for name in (GREEDY, UNIFORM):
        assert made.policy(name).deadline_probability == 1.0
        assert made.policy(name).finish_s.high <= deadline_h * HOUR * (1 + 1e-9)
    assert made.best.deadline_probability == 1.0


def test_uniform_progress_is_cheaper_than_greedy_on_traces_like_published_ones() -> None:
    zones = [
        # mean hours with instances, variation, availability of nine recorded zones
        *[(0.72, 1.49, 0.17), (1.48, 2.12, 0.47), (1.66, 2.14, 0.45)],
        *[(2.26, 2.03, 0.59), (5.68, 2.41, 0.76), (4.26, 1.77, 0.68)],
        *[(6.06, 2.56, 0.88), (10.4, 2.49, 0.90), (6.81, 2.62, 0.89)],
    ]
    traces = [
        heavy_tailed(seed=seed, up_h=up_h, down_h=up_h / share - up_h, cv=variation)
        for seed, (up_h, variation, share) in enumerate(zones)
    ]

    made = [
        forecast(
            deadline_s=52 * HOUR, lifetimes=trace, save_s=5.0, restart_s=720.0, futures=1000
        )
        for trace in traces
    ]

    on_demand, uniform, first_greedy = (
        np.mean([one.policy(name).usd.mean for one in made])
        for name in (ON_DEMAND, UNIFORM, GREEDY)
    )
    assert uniform < 0.7 * on_demand
    assert uniform < first_greedy < 0.8 * on_demand
    assert {one.policy(UNIFORM).deadline_probability for one in made} == {1.0}


@settings(max_examples=40, deadline=None)
@given(
    slack=st.floats(0, 3),
    save_s=st.floats(1e-3, 600),
    restart_s=st.floats(0, 3600),
    mean_time_between_s=st.floats(600, 1e6),
    variation=st.floats(0.1, 5),
    mean_wait_s=st.floats(0, 1e5),
    every_s=st.floats(60, 1e5),
    seed=st.integers(0, 2**32),
)
def test_the_deadline_is_met_whatever_the_numbers(slack: float, **values: Any) -> None:
    work_s = 8 * HOUR
    least_s = work_s + values["save_s"] + values["restart_s"]
    lifetimes = {
        name: values.pop(name) for name in ("mean_time_between_s", "variation", "mean_wait_s")
    }
    values["save_every_s"] = values.pop("every_s")

    made = forecast(
        work_s, deadline_s=least_s * (1 + slack), lifetimes=lifetimes, futures=50, **values
    )

    assert made.policy(GREEDY).deadline_probability == 1.0
    assert made.policy(UNIFORM).deadline_probability == 1.0
    for one in made.policies:
        assert one.usd.low <= one.usd.high
        paid = 0.3 * one.spot_s + one.on_demand_s
        assert one.usd.mean == pytest.approx(paid / HOUR)


@pytest.mark.parametrize("policy", SLOW)
def test_nine_of_ten_independent_jobs_end_within_the_interval(policy: str) -> None:
    lifetimes = {"mean_time_between_s": 2 * HOUR, "variation": 1.8, "mean_wait_s": HOUR}
    made = forecast(12 * HOUR, lifetimes=lifetimes, deadline_s=15 * HOUR)
    told = made.policy(policy)

    finish_s, usd, lost_s = slow_jobs(
        made, policy, lambda seed: drawn_windows(**lifetimes, seed=seed), 4000
    )

    assert share_within(usd, told.usd) == pytest.approx(0.9, abs=0.02)
    if policy == SPOT_ONLY:  # the others often end just in time, and more lie within
        assert share_within(finish_s, told.finish_s) == pytest.approx(0.9, abs=0.02)
    assert told.usd.mean == pytest.approx(usd.mean(), rel=0.02)
    assert told.finish_s.mean == pytest.approx(finish_s.mean(), rel=0.02)
    assert told.lost_s == pytest.approx(lost_s.mean(), rel=0.05)
    in_time = float((finish_s <= 15 * HOUR * (1 + 1e-9)).mean())
    assert told.deadline_probability == pytest.approx(in_time, abs=0.03)


@pytest.mark.parametrize("policy", SLOW)
def test_the_tail_of_a_trace_is_its_own(policy: str) -> None:
    trace = heavy_tailed(seed=7, up_h=2.0, down_h=1.0)
    made = forecast(12 * HOUR, lifetimes=trace, deadline_s=16 * HOUR)
    begins = range(0, len(trace.available), 13)

    finish_s, usd, _ = slow_jobs(
        made, policy, lambda number: windows_from(trace, begins[number]), len(begins)
    )

    told = made.policy(policy)
    assert told.finish_s.high == pytest.approx(np.percentile(finish_s, 95), rel=0.1)
    assert told.usd.mean == pytest.approx(usd.mean(), rel=0.02)
    if policy == SPOT_ONLY:
        exponential = forecast(
            12 * HOUR, lifetimes={"mean_time_between_s": 2 * HOUR, "mean_wait_s": HOUR}
        ).policy(SPOT_ONLY)
        assert exponential.finish_s.high < 0.8 * told.finish_s.high


def test_waiting_is_not_billed_and_restarts_are() -> None:
    calm, waiting, restarting = (
        forecast(
            lifetimes={"mean_time_between_s": HOUR, "mean_wait_s": wait_s}, restart_s=restart_s
        ).policy(SPOT_ONLY)
        for wait_s, restart_s in ((0, 300), (HOUR, 300), (0, 600))
    )

    assert waiting.usd.mean == pytest.approx(calm.usd.mean, rel=0.01)
    assert waiting.finish_s.mean == pytest.approx(
        calm.finish_s.mean + HOUR * calm.interruptions, rel=0.02
    )
    assert waiting.waiting_s == pytest.approx(waiting.finish_s.mean - waiting.billed_s)
    more_s = HOUR * (restarting.usd.mean - calm.usd.mean) / 0.3
    assert more_s > 300 * calm.interruptions


def test_the_same_seed_tells_the_same() -> None:
    first, again, other = (forecast(seed=seed, futures=500) for seed in (1, 1, 2))

    assert first == again
    assert first.policies != other.policies
    with_deadline = forecast(seed=1, futures=500, deadline_s=60 * HOUR)
    assert with_deadline.policy(SPOT_ONLY).usd == first.policy(SPOT_ONLY).usd


def test_a_job_that_never_ends_on_spot_instances_is_told_so() -> None:
    made = forecast(2 * HOUR, lifetimes=60.0, futures=50, deadline_s=4 * HOUR)

    never = made.policy(SPOT_ONLY)
    assert never.ended_fraction == 0
    assert never.deadline_probability == 0
    assert made.best.policy in {ON_DEMAND, GREEDY, UNIFORM}
    assert "With spot only 100 % of the futures never end" in str(made)
    assert forecast(2 * HOUR, lifetimes=60.0, futures=50).best.policy == ON_DEMAND


def test_a_deadline_that_nothing_can_keep_is_kept_by_nothing() -> None:
    made = forecast(
        deadline_s=47 * HOUR, lifetimes={"mean_time_between_s": HOUR, "mean_wait_s": HOUR}
    )

    assert {one.deadline_probability for one in made.policies} == {0.0}
    assert made.best.policy == ON_DEMAND
    assert "Nothing ends within 47 h: on-demand takes" in str(made)
    assert "Take " not in str(made)
    assert made.policy(GREEDY).on_demand_s == made.policy(ON_DEMAND).on_demand_s


def test_what_no_launcher_does_is_told_and_not_recommended() -> None:
    lifetimes = {"mean_time_between_s": 2 * HOUR, "mean_wait_s": 2 * HOUR}
    made = forecast(deadline_s=70 * HOUR, lifetimes=lifetimes, futures=500)

    assert made.policy(UNIFORM).usd.mean < made.policy(ON_DEMAND).usd.mean
    assert made.policy("spot only").deadline_probability < 0.5  # type: ignore[operator]  # it has one
    assert made.best.policy == ON_DEMAND
    assert made.best_of_all.policy == UNIFORM
    assert f"By {UNIFORM} it would be ${made.best_of_all.usd.mean:,.2f}, but no" in str(made)


def test_a_job_that_is_hardly_interrupted_still_saves_what_it_has_to_count_on() -> None:
    made = forecast(10 * HOUR, deadline_s=40_000, lifetimes=1e9, futures=100)

    for name in (GREEDY, UNIFORM):
        one = made.policy(name)
        assert one.usd.mean < 0.5 * made.policy(ON_DEMAND).usd.mean
        assert one.spot_s > 9 * HOUR


def test_small_sums_and_moments_are_told_as_they_are() -> None:
    made = forecast(30.0, save_s=0.1, restart_s=1.0, lifetimes=HOUR, futures=50)

    assert "$0.00," not in str(made)
    assert "e-" not in str(made)


def test_json_is_read_back_unchanged() -> None:
    made = forecast(deadline_s=60 * HOUR, futures=100)

    assert SpotForecast.from_json(made.to_json()) == made
    with pytest.raises(PlannerError, match=r"This is not a spot forecast of schema version 1"):
        SpotForecast.from_json(
            made.to_json().replace('"schema_version": 1', '"schema_version": 9')
        )


def test_the_text_names_policies_and_what_to_take() -> None:
    lifetimes = {"mean_time_between_s": 2 * HOUR, "variation": 2.0, "mean_wait_s": HOUR}
    made = forecast(deadline_s=60 * HOUR, lifetimes=lifetimes, futures=500)

    text = str(made)

    assert all(name in text for name in POLICIES)
    assert f"Take {made.best.policy}: ${made.best.usd.mean:,.2f}" in text
    assert "to end within 60 h" in text
    assert "waiting is not billed, restarts are" in text
    assert "scarce days follow each other" in text
    assert "scarce days" not in str(forecast(lifetimes=trace_of([1, 1, 0]), futures=50))
    assert made.best.policy in repr(made)
    assert max(map(len, text.splitlines())) < 200
    assert "<script" not in made._repr_html_()
    assert made.best.policy in made._repr_html_()
    hostile = dataclasses.replace(trace_of([1, 1, 0]), name="<script>\x1b[2J")
    told = forecast(lifetimes=hostile, futures=50)
    assert "\x1b" not in str(told)
    assert "<script" not in told._repr_html_()
    with pytest.raises(PlannerError, match=r"'fly' was not forecast. Name one of 'on-demand'"):
        made.policy("fly")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"work_s": 0.0}, r"work_s=0\.0 is not a number above 0"),
        ({"work_s": math.nan}, r"work_s=nan"),
        ({"save_s": 0}, r"save_s=0 is not a number above 0"),
        ({"save_s": "20"}, r"save_s='20'"),
        ({"restart_s": -1}, r"restart_s=-1 is not a number at least 0"),
        ({"restart_s": None}, r"restart_s is not given"),
        ({"deadline_s": math.inf}, r"deadline_s=inf"),
        ({"save_every_s": True}, r"save_every_s=True"),
        ({"instances": 0}, r"instances=0"),
        ({"futures": 1}, r"futures=1 "),
        ({"futures": 10**9}, r"futures=1000000000"),
        ({"seed": -1}, r"seed=-1"),
        ({"lifetimes": -1.0}, r"mean_time_between_s=-1\.0 of the lifetimes"),
        ({"lifetimes": {"mean_time_between_s": math.nan}}, r"mean_time_between_s=nan"),
        (
            {"lifetimes": {"mean_time_between_s": 1.0, "variation": 0.05}},
            r"variation=0\.05 of the lifetimes is not 0\.1 to 10",
        ),
        ({"lifetimes": {"mean_time_between_s": 1.0, "variation": "2"}}, r"variation='2'"),
        (
            {"lifetimes": {"mean_time_between_s": 1.0, "mean_wait_s": -1.0}},
            r"mean_wait_s=-1\.0",
        ),
        (
            {"lifetimes": {"mean": 1.0}},
            r"has not mean_time_between_s, variation, mean_wait_s alone",
        ),
        ({"lifetimes": "missing.json"}, r"missing\.json cannot be read"),
    ],
)
def test_numbers_out_of_their_range_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(PlannerError, match=message):
        forecast(**wrong)


def test_the_market_of_a_job_is_what_a_forecast_is_of() -> None:
    market = Market(mean_time_between_s=HOUR, variation=1.8, mean_wait_s=600.0, notice_s=30.0)

    made = forecast(futures=100, lifetimes=market)

    values = {"mean_time_between_s": HOUR, "variation": 1.8, "mean_wait_s": 600.0}
    assert made == forecast(futures=100, lifetimes=values)
    for wrong in (
        Market(),
        Market(interruptions_s=(9.0,)),
        Market(trace="a", interruptions_s=(9.0,)),
    ):
        with pytest.raises(
            PlannerError, match=r"has not either mean_time_between_s or a trace"
        ):
            forecast(lifetimes=wrong)
    with pytest.raises(PlannerError, match=r"The trace none\.json cannot be read"):
        forecast(lifetimes=Market(trace="none.json"))


def test_the_steps_of_a_job_that_nobody_ran_may_be_told() -> None:
    job = TrainingJob(
        entry_point="train.py",
        cluster=Cluster.parse("train=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:2"),
        use_spot_instances=True,
        market=Market(mean_time_between_s=5 * HOUR),
    )

    made = spot_forecast(
        job,
        work_s=48 * HOUR,
        save_s=20.0,
        restart_s=300.0,
        spot_usd_per_hour={"ml.p3.2xlarge": 1.0, "ml.c5.9xlarge": 0.5},
    )

    assert made.instances == (("ml.p3.2xlarge", 1), ("ml.c5.9xlarge", 2))
    assert made.prices.spot_usd_per_hour == 2.0
    assert made.policy(SPOT_ONLY).finish_s == forecast().policy(SPOT_ONLY).finish_s
