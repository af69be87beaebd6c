"""Comparisons whose steps are not as a calibration predicts them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.metrics.cautions.unlike_prediction import UNLIKE_PREDICTION, PredictedSteps
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.metrics.result import Interval
from smtc_lab.spec.emulation import Emulation
from tests.kit.records import HETEROGENEOUS, HOMOGENEOUS, jittered, run_records

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.records.records import RunRecords
    from tests.kit.golden_texts import GoldenTexts

EMULATION = Emulation(time_dilation=20.0, cores_per_vcpu=0.045, device_step_time_s=0.03)


def launches(step_s: float = 0.06, *, rounds: int = 3, **example: Any) -> list[RunRecords]:
    given = {"emulation": EMULATION, "device_time_s": 0.03, "cluster": HOMOGENEOUS} | example
    return [
        run_records(
            jittered(step_s * (1 + 0.01 * number), seed=number),
            **given,
            job_name=f"train-r{number + 1}",
        )
        for number in range(rounds)
    ]


def with_steps(*step_times_s: float) -> list[RunRecords]:
    return [
        run_records(
            [time_s * (1 + 0.01 * number) for time_s in step_times_s],
            emulation=EMULATION,
            device_time_s=0.03,
            job_name=f"train-r{number + 1}",
        )
        for number in range(3)
    ]


def asking(num_loader_workers: int) -> list[RunRecords]:
    asked = {"num_loader_workers": num_loader_workers}
    return [replace(run, job=run.job.model_copy(update=asked)) for run in launches()]


def predicted(
    mean_s: float, *, own: int | None = None, was_busy: bool = False
) -> PredictedSteps:
    interval = Interval(mean=mean_s, low=0.9 * mean_s, high=1.1 * mean_s, level=0.8)
    return PredictedSteps(
        step_time_s=interval,
        script_num_workers=own,
        calibrated="2026-11-28",
        was_busy=was_busy,
    )


def compared(runs: list[RunRecords], **said: PredictedSteps) -> Comparison:
    labels = {"homogeneous": runs[0].label, "fed": runs[-1].label}
    return compare_runs(
        runs,
        catalog=Catalog.load(),
        created="2026-11-28T10:15:00+00:00",
        machine={"cores": 2},
        predicted={labels[name]: each for name, each in said.items()},
    )


def told(comparison: Comparison) -> str:
    """Return the one sentence that a prediction is not met; empty: there is none."""
    found = [each.text for each in comparison.findings if each.kind == UNLIKE_PREDICTION]
    assert all(text in comparison.verdict for text in found)
    return "".join(found)


REASONS: dict[str, tuple[list[RunRecords], PredictedSteps]] = {
    "passes that outlast the device": (
        launches(data_wait_fraction=0.1),
        predicted(0.04),
    ),
    "a busy machine": (launches(cpu_delivered_fraction=0.8), predicted(0.04)),
    "data workers that the script does not take": (asking(8), predicted(0.04, own=2)),
    "steps that become shorter": (
        with_steps(*[0.1] * 20, *[0.08] * 20, *[0.05] * 20),
        predicted(0.05),
    ),
    "few steps": (with_steps(*[0.06] * 8), predicted(0.04)),
    "nothing in the records": (launches(), predicted(0.04)),
    "a machine that was busy at the calibration": (
        launches(),
        predicted(0.08, was_busy=True),
    ),
    "busy at the calibration, and slower all the same": (
        launches(),
        predicted(0.04, was_busy=True),
    ),
    "faster than predicted": (launches(), predicted(0.08)),
    "a busy machine that is faster than predicted": (
        launches(cpu_delivered_fraction=0.8),
        predicted(0.08),
    ),
}


def test_a_prediction_that_is_not_met_is_told_with_what_the_records_show(
    golden_texts: GoldenTexts,
) -> None:
    texts = {
        why: told(compared(runs, homogeneous=said)) for why, (runs, said) in REASONS.items()
    }

    assert all(texts.values())
    golden_texts("verdicts", texts)


def test_of_several_set_ups_the_one_that_is_furthest_off_is_told(
    golden_texts: GoldenTexts,
) -> None:
    runs = [*launches(), *launches(0.03, cluster=HETEROGENEOUS)]

    text = told(compared(runs, homogeneous=predicted(0.05), fed=predicted(0.012)))

    golden_texts("verdicts", {"two set-ups": text})


@pytest.mark.parametrize("mean_s", [0.055, 0.06, 0.065])
def test_nothing_is_told_where_both_intervals_can_be_true(mean_s: float) -> None:
    runs = launches()

    comparison = compared(runs, homogeneous=predicted(mean_s))

    assert comparison == compared(runs)
    assert told(comparison) == ""


def test_one_launch_contradicts_no_prediction() -> None:
    assert told(compared(launches(rounds=1), homogeneous=predicted(0.01))) == ""


def test_data_workers_are_no_reason_where_fewer_would_not_be_slower() -> None:
    text = told(compared(asking(8), homogeneous=predicted(0.08, own=2)))

    assert "data workers" not in text
