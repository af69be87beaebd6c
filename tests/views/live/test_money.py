"""Where the money goes, as a view is told of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.metrics.spent import LAUNCH_CAUSES, STEPS_CAUSES, LaunchCause, StepsCause
from smtc_lab.spec.emulation import Emulation
from smtc_lab.views.comparison.described import described
from tests.kit.records import HETEROGENEOUS, HOMOGENEOUS, interleaved_runs, run_records

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.records.records import RunRecords

FIXTURE = Path(__file__).parents[2] / "fixtures" / "causes.json"
"""The page's table of causes is held to it, too."""

SHARES = st.floats(0, 1)


def compared(*runs: RunRecords) -> Comparison:
    created = "2026-11-24T00:00:00+00:00"
    return compare_runs(list(runs), catalog=Catalog.load(), created=created, machine={})


def test_the_page_knows_each_cause_and_which_of_them_is_waiting() -> None:
    known = json.loads(FIXTURE.read_text(encoding="utf-8"))

    assert known == {**STEPS_CAUSES, **LAUNCH_CAUSES}
    assert list(STEPS_CAUSES) == list(get_args(StepsCause))
    assert set(LAUNCH_CAUSES) == set(get_args(LaunchCause))


@given(
    step_time_s=st.lists(st.floats(0.01, 2), min_size=4, max_size=30),
    data_wait=SHARES,
    cpu=SHARES,
    cluster=st.sampled_from([HOMOGENEOUS, HETEROGENEOUS]),
)
def test_of_any_records_they_add_up_to_what_the_table_says(
    step_time_s: list[float], data_wait: float, cpu: float, cluster: str
) -> None:
    run = run_records(
        step_time_s,
        cluster=cluster,
        data_wait_fraction=data_wait,
        cpu_used_fraction=cpu,
        device_time_s=min(step_time_s) / 2,
    )
    other = run_records([0.1] * 10, cluster="other@here=ml.p3.2xlarge:1", job_name="other")
    comparison = compared(run, other)

    told = described(comparison, ())

    assert {part.set_up for part in told.steps_cost} == {0, 1}
    for place, each in enumerate(comparison.clusters):
        assert each.usd_per_1000_steps is not None
        parts = [part for part in told.steps_cost if part.set_up == place]
        assert sum(part.usd_per_1000_steps for part in parts) == pytest.approx(
            each.usd_per_1000_steps.mean, rel=1e-9
        )


def test_an_emulated_launch_is_on_two_scales_and_not_added_up() -> None:
    emulation = Emulation(cores_per_vcpu=0.045, device_step_time_s=0.04)
    real = described(compared(*interleaved_runs(rounds=2)), ())
    emulated = described(compared(*interleaved_runs(rounds=2, emulation=emulation)), ())

    assert {part.cause for part in real.launch_cost} == {"startup", "all_steps", "end"}
    assert {part.set_up for part in real.launch_cost} == {0, 1}
    assert emulated.launch_cost == ()
    assert emulated.steps_cost != ()
