from __future__ import annotations

import json

import pytest

from smtc_lab.cli.run_lines import summary_lines
from smtc_lab.metrics.run_summary import summarize
from tests.kit.records import run_records


def test_a_run_is_summarized_over_its_measured_steps() -> None:
    summary = summarize(
        run_records([3.0, *[0.2] * 39], device_time_s=0.05, cpu_delivered_fraction=0.9)
    )

    assert summary.steps == 39
    assert summary.warm_up_steps == 1
    assert summary.mean_step_time_s == pytest.approx(0.2)
    assert summary.data_wait_fraction == pytest.approx(0.5)
    assert summary.device_utilization == pytest.approx(0.25)
    assert summary.cpu_delivered_fraction == pytest.approx(0.9)


def test_time_between_steps_is_told_where_it_is_long() -> None:
    short, long = (
        summarize(run_records([0.2] * 40, between_s=between_s)) for between_s in (0.001, 0.05)
    )

    assert short.between_steps_s == pytest.approx(0.001, rel=0.01)
    assert long.between_steps_s == pytest.approx(0.05, rel=0.01)
    assert long.mean_step_time_s == pytest.approx(0.2)
    (told,) = [line for line in summary_lines(long) if line.startswith("between")]
    assert told.startswith("between    0.0500 s mean")
    assert not any(line.startswith("between") for line in summary_lines(short))


def test_a_run_that_goes_on_is_summarized_so_far() -> None:
    assert summarize(run_records([0.2] * 5, state="InProgress")).steps == 4


def test_a_run_without_a_step_has_unknown_numbers_and_no_zeros() -> None:
    values = json.loads(json.dumps(summarize(run_records([], state="Failed")).as_dict()))

    assert values.pop("steps") == 0
    assert values.pop("warm_up_steps") == 0
    bill = values.pop("bill")
    assert bill.pop("evidence") == "measured"
    assert bill.pop("billed_s") == pytest.approx(2.5)
    assert set(bill.values()) == set(values.values()) == {None}


def test_a_run_is_summarized_with_where_its_time_went() -> None:
    bill = summarize(run_records([1.0] * 7, startup_s=2.0), usd_per_hour=3600.0).bill

    assert (bill.startup_s, bill.steps_s, bill.end_s) == pytest.approx((2.0, 7.0, 0.5))
    assert bill.billed_usd == pytest.approx(9.5)
