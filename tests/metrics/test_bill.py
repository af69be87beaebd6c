from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.metrics.bill import Bill, bill_of, mean_bill
from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.metrics.records.attempts import Attempt
from smtc_lab.metrics.records.interrupted import interrupted
from smtc_lab.metrics.spent import launch_spent
from smtc_lab.spec.emulation import Emulation
from tests.kit.records import STARTED_S, run_records

if TYPE_CHECKING:
    from smtc_lab.metrics.result import Evidence

MOMENTS = st.floats(STARTED_S - 1e4, STARTED_S + 1e5)


def bill(  # noqa: PLR0913  what a bill is made of, by name
    startup_s: float = 3.0,
    steps_s: float = 6.0,
    end_s: float = 1.0,
    *,
    usd_per_hour: float | None = 3600.0,
    evidence: Evidence = "measured",
    has_ended: bool = True,
) -> Bill:
    first_s = STARTED_S + startup_s
    return bill_of(
        started_s=STARTED_S,
        steps=(first_s, first_s + steps_s),
        ended_s=first_s + steps_s + end_s if has_ended else None,
        usd_per_hour=usd_per_hour,
        evidence=evidence,
    )


@given(MOMENTS, MOMENTS, MOMENTS, MOMENTS, st.floats(0, 1e4))
def test_the_parts_add_up_to_what_is_billed(
    started_s: float, first_s: float, last_s: float, ended_s: float, usd_per_hour: float
) -> None:
    found = bill_of(
        started_s=started_s,
        steps=(first_s, last_s),
        ended_s=ended_s,
        usd_per_hour=usd_per_hour,
        evidence="measured",
    )

    assert found.startup_s is not None
    assert found.steps_s is not None
    assert found.end_s is not None
    assert min(found.startup_s, found.steps_s, found.end_s) >= 0
    assert found.startup_s + found.steps_s + found.end_s == found.billed_s
    assert found.billed_s == pytest.approx(max(0.0, ended_s - started_s), abs=1e-5)
    assert found.startup_usd is not None
    assert found.steps_usd is not None
    assert found.end_usd is not None
    assert found.startup_usd + found.steps_usd + found.end_usd == found.billed_usd
    assert found.billed_usd == pytest.approx(found.billed_s * usd_per_hour / 3600, rel=1e-9)


@given(st.lists(st.tuples(*[st.floats(0, 1e4)] * 3), min_size=1, max_size=5))
def test_the_means_over_launches_add_up_too(parts_s: list[tuple[float, float, float]]) -> None:
    mean = mean_bill([bill(*each) for each in parts_s], usd_per_hour=7.2)

    assert mean is not None
    assert mean.startup_s is not None
    assert mean.steps_s is not None
    assert mean.end_s is not None
    told_s = mean.startup_s + mean.steps_s + mean.end_s
    assert told_s == pytest.approx(mean.billed_s, rel=1e-12)
    expected_s = sum(map(sum, parts_s)) / len(parts_s)
    assert mean.billed_s == pytest.approx(expected_s, abs=1e-5)
    assert mean.billed_usd == pytest.approx(expected_s * 0.002, abs=1e-7)


def test_each_part_is_between_its_two_moments() -> None:
    run = run_records([2.0, *[0.5] * 8], startup_s=3.0, shutdown_s=1.5, num_ranks=2)
    launch = measured_launch(run)

    assert launch is not None
    found = launch.bill(usd_per_hour=3600.0)
    parts_s = (found.startup_s, found.steps_s, found.end_s, found.billed_s)
    assert parts_s == pytest.approx((3.0, 6.0, 1.5, 10.5), abs=1e-5)
    assert found.startup_s == launch.startup_s()
    assert found.billed_s == pytest.approx(launch.billed_s(), abs=1e-5)
    assert found.around_fraction == pytest.approx(4.5 / 10.5)


def test_a_launch_of_unknown_start_has_steps_and_an_end_only() -> None:
    found = bill_of(
        started_s=None,
        steps=(STARTED_S, STARTED_S + 5),
        ended_s=STARTED_S + 7,
        usd_per_hour=3600.0,
        evidence="measured",
    )

    assert found.startup_s is found.billed_s is found.startup_usd is found.billed_usd is None
    assert (found.steps_s, found.end_s, found.end_usd) == (5.0, 2.0, 2.0)
    assert found.around_fraction is None


def test_a_launch_that_goes_on_has_no_end_yet() -> None:
    found = bill(has_ended=False)

    assert found.end_s is found.billed_s is found.end_usd is found.billed_usd is None
    assert (found.startup_s, found.steps_s) == (3.0, 6.0)


def test_a_launch_without_a_step_is_billed_and_has_no_parts() -> None:
    found = bill_of(
        started_s=STARTED_S,
        steps=None,
        ended_s=STARTED_S + 7,
        usd_per_hour=3600.0,
        evidence="measured",
    )

    assert found.startup_s is found.steps_s is found.end_s is None
    assert (found.billed_s, found.billed_usd) == (7.0, 7.0)


def test_a_run_that_never_came_to_a_step_lost_what_it_paid_for() -> None:
    starts_s = [STARTED_S + 3.0 * number for number in range(3)]
    attempts = [
        Attempt(started_s=start_s, ended_s=start_s + 1.0, interrupted_by="The market.")
        for start_s in starts_s
    ]
    found = bill_of(
        started_s=STARTED_S,
        steps=None,
        ended_s=STARTED_S + 9.0,
        usd_per_hour=3600.0,
        evidence="measured",
        interrupted=interrupted(attempts, ended_s=STARTED_S + 9.0),
    )

    assert (found.num_interruptions, found.waited_s) == (3, 6.0)
    assert found.billed_s == found.interruptions_s == found.interruptions_usd == 3.0


def test_without_a_price_only_seconds_are_known() -> None:
    found = bill(usd_per_hour=None)

    assert found.billed_s == 10.0
    assert found.startup_usd is found.steps_usd is found.end_usd is found.billed_usd is None


def test_an_emulated_launch_prices_its_steps_only() -> None:
    run = run_records(emulation=Emulation(cores_per_vcpu=0.03))
    launch = measured_launch(run)

    assert launch is not None
    found = launch.bill(usd_per_hour=3600.0)
    assert found.evidence == "emulated"
    assert found.startup_usd is found.end_usd is found.billed_usd is None
    assert found.steps_usd == pytest.approx(found.steps_s)
    assert found.billed_s == pytest.approx(launch.billed_s(), abs=1e-5)


def test_what_is_unknown_of_one_launch_is_unknown_of_the_mean() -> None:
    mean = mean_bill([bill(), bill(has_ended=False)], usd_per_hour=3600.0)

    assert mean is not None
    assert (mean.startup_s, mean.steps_s) == (3.0, 6.0)
    assert mean.end_s is mean.billed_s is mean.end_usd is None
    assert mean_bill([], usd_per_hour=1.0) is None


def test_one_emulated_launch_makes_the_mean_emulated() -> None:
    mean = mean_bill([bill(), bill(evidence="emulated")], usd_per_hour=3600.0)

    assert mean is not None
    assert mean.evidence == "emulated"
    assert mean.billed_usd is None


def test_interruptions_are_billed_but_for_the_wait() -> None:
    times_s = np.array([[12.0, 13.0, 30.0, 31.0], [13.0, 14.0, 31.0, 32.0]])
    attempts = (
        Attempt(started_s=10.0, ended_s=16.0, interrupted_by="A market took it."),
        Attempt(started_s=25.0, ended_s=33.0),
    )
    found = bill_of(
        started_s=10.0,
        steps=(12.0, 32.0),
        ended_s=33.0,
        usd_per_hour=3600.0,
        evidence="measured",
        interrupted=interrupted(attempts, times_s),
    )

    assert (found.startup_s, found.steps_s, found.end_s) == (2.0, 4.0, 1.0)
    assert (found.interruptions_s, found.waited_s, found.num_interruptions) == (7.0, 9.0, 1)
    assert found.billed_s == found.billed_usd == 14.0
    assert launch_spent(found, first_steps_s=None, usd_per_hour=3600.0)["interruptions"] == 7.0


def test_attempts_without_a_step_that_counts_are_billed_as_interruptions() -> None:
    times_s = np.array([[22.0, 23.0, 50.0, 51.0], [23.0, 24.0, 51.0, 52.0]])
    spans_s = [
        (10.0, 12.0),
        (20.0, 26.0),
        (30.0, 33.0),
        (40.0, 41.0),
        (47.0, 53.0),
        (57.0, 60.0),
    ]
    attempts = [
        Attempt(started_s=started_s, ended_s=ended_s, interrupted_by="A market took it.")
        for started_s, ended_s in spans_s
    ]
    found = bill_of(
        started_s=10.0,
        steps=(22.0, 52.0),
        ended_s=60.0,
        usd_per_hour=None,
        evidence="measured",
        interrupted=interrupted(attempts, times_s),
    )

    # 2 s before any step; then the rest of the second attempt, two whole ones, and a start
    assert (found.startup_s, found.steps_s) == (2.0, 4.0)
    assert (found.interruptions_s, found.end_s) == (2.0 + 2.0 + 3.0 + 1.0 + 3.0, 4.0)
    assert (found.billed_s, found.waited_s) == (21.0, 29.0)


def test_an_attempt_without_a_step_is_lost_once() -> None:
    times_s = np.array([[12.0, 40.0], [14.0, 42.0]])
    taken = "A market took it."
    attempts = (
        Attempt(started_s=10.0, ended_s=16.0, interrupted_by=taken),
        Attempt(started_s=20.0, ended_s=25.0, interrupted_by=taken),
        Attempt(started_s=35.0, ended_s=43.0),
    )
    found = bill_of(
        started_s=10.0,
        steps=(12.0, 42.0),
        ended_s=43.0,
        usd_per_hour=None,
        evidence="measured",
        interrupted=interrupted(attempts, times_s, ended_s=43.0),
    )

    assert (found.startup_s, found.steps_s, found.end_s) == (2.0, 4.0, 1.0)
    assert (found.interruptions_s, found.waited_s, found.num_interruptions) == (12.0, 14.0, 2)
    assert found.billed_s == 19.0


def test_a_wait_before_the_first_step_is_no_start_up() -> None:
    attempts = (
        Attempt(started_s=10.0, ended_s=16.0, interrupted_by="A market took it."),
        Attempt(started_s=36.0, ended_s=45.0),
    )
    found = bill_of(
        started_s=10.0,
        steps=(39.0, 44.0),
        ended_s=45.0,
        usd_per_hour=None,
        evidence="measured",
        interrupted=interrupted(attempts, np.array([[39.0], [44.0]]), ended_s=45.0),
    )

    assert (found.startup_s, found.interruptions_s, found.steps_s) == (3.0, 6.0, 5.0)
    assert (found.waited_s, found.end_s, found.billed_s) == (20.0, 1.0, 15.0)


def test_a_run_that_ends_while_it_waits_is_billed_for_nothing_of_that() -> None:
    attempts = (Attempt(started_s=10.0, ended_s=16.0, interrupted_by="A market took it."),)
    found = bill_of(
        started_s=10.0,
        steps=(12.0, 14.0),
        ended_s=60.0,
        usd_per_hour=None,
        evidence="measured",
        interrupted=interrupted(attempts, np.array([[12.0], [14.0]]), ended_s=60.0),
    )

    assert (found.startup_s, found.steps_s, found.interruptions_s) == (2.0, 2.0, 0.0)
    assert (found.waited_s, found.end_s, found.billed_s) == (44.0, 2.0, 6.0)
