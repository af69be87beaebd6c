"""Where the money goes: parts that add up, and nothing that is not known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.metrics.bill import bill_of
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.metrics.spent import (
    LAUNCH_CAUSES,
    STEPS_CAUSES,
    LaunchCause,
    PaidGroup,
    StepsCause,
    launch_spent,
    steps_spent,
)
from smtc_lab.spec.emulation import Emulation
from smtc_lab.views.comparison.described import described
from tests.kit.records import HETEROGENEOUS, HOMOGENEOUS, interleaved_runs, run_records

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.spec.cluster import Role

FIXTURE = Path(__file__).parents[2] / "fixtures" / "causes.json"
"""The page's table of causes is held to it, too."""

SHARES = st.floats(0, 1)
USD = st.floats(0.01, 100)
ROLES: tuple[Role, ...] = ("train", "data")


def compared(*runs: RunRecords) -> Comparison:
    created = "2026-11-24T00:00:00+00:00"
    return compare_runs(list(runs), catalog=Catalog.load(), created=created, machine={})


def usd_by_cause(**known: object) -> Mapping[str, float]:
    groups = [
        PaidGroup(role="train", usd_per_hour=3.6, cpu_fraction=0.5),
        PaidGroup(role="data", usd_per_hour=1.8, cpu_fraction=0.75),
    ]
    told = {
        "step_time_s": 0.1,
        "data_wait_fraction": 0.2,
        "device_fraction": 0.5,
        "groups": groups,
        **known,
    }
    parts = steps_spent(**told)  # type: ignore[arg-type]
    return {part.cause: part.usd for part in parts}


def test_the_page_knows_each_cause_and_which_of_them_is_waiting() -> None:
    known = json.loads(FIXTURE.read_text(encoding="utf-8"))

    assert known == {**STEPS_CAUSES, **LAUNCH_CAUSES}
    assert list(STEPS_CAUSES) == list(get_args(StepsCause))
    assert set(LAUNCH_CAUSES) == set(get_args(LaunchCause))


def test_each_group_pays_for_what_its_instances_did() -> None:
    assert usd_by_cause() == pytest.approx(
        {
            "compute": 0.05,
            "data_wait": 0.02,
            "device_idle": 0.03,
            "prepare_data": 0.0375,
            "data_idle": 0.0125,
        }
    )


def test_a_device_that_computes_while_its_trainer_waits_is_at_work() -> None:
    found = usd_by_cause(device_fraction=0.9, data_wait_fraction=0.6)

    assert found["compute"] == pytest.approx(0.09)
    assert found["data_wait"] == pytest.approx(0.01)
    assert "device_idle" not in found


def test_what_is_not_known_is_not_split() -> None:
    unknown = PaidGroup(role="data", usd_per_hour=1.8, cpu_fraction=None)

    assert usd_by_cause(device_fraction=None, groups=[unknown]) == pytest.approx(
        {"data_unknown": 0.05}
    )
    assert set(usd_by_cause(device_fraction=None)) & {"step", "compute"} == {"step"}
    assert "trainers_unknown" in usd_by_cause(data_wait_fraction=None)


def test_nothing_is_told_without_a_price_or_a_step() -> None:
    unpriced = PaidGroup(role="data", usd_per_hour=None, cpu_fraction=0.5)
    priced = PaidGroup(role="train", usd_per_hour=3.6, cpu_fraction=0.5)

    assert usd_by_cause(groups=[priced, unpriced]) == {}
    assert usd_by_cause(step_time_s=None) == {}


@given(
    groups=st.lists(
        st.builds(
            PaidGroup,
            role=st.sampled_from(ROLES),
            usd_per_hour=USD,
            cpu_fraction=st.none() | SHARES,
        ),
        min_size=1,
        max_size=5,
    ),
    step_time_s=st.floats(1e-4, 100),
    data_wait=st.none() | SHARES,
    device=st.none() | st.floats(0, 1.2),
)
def test_the_parts_add_up_to_the_cost_of_1000_steps(
    groups: list[PaidGroup], step_time_s: float, data_wait: float | None, device: float | None
) -> None:
    parts = steps_spent(
        groups,
        step_time_s=step_time_s,
        data_wait_fraction=data_wait,
        device_fraction=device,
    )

    usd_per_hour = sum(group.usd_per_hour or 0 for group in groups)
    assert sum(part.usd for part in parts) == pytest.approx(
        1000 * step_time_s * usd_per_hour / 3600, rel=1e-9
    )
    assert all(part.usd > 0 for part in parts)
    assert {part.cause for part in parts} <= set(get_args(StepsCause))


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

    for place, each in enumerate(comparison.clusters):
        assert each.usd_per_1000_steps is not None
        parts = [part for part in told.steps_cost if part.set_up == place]
        assert sum(part.usd_per_1000_steps for part in parts) == pytest.approx(
            each.usd_per_1000_steps.mean, rel=1e-9
        )


def test_the_parts_of_a_launch_add_up_to_what_was_billed() -> None:
    bill = bill_of(
        started_s=0.0, steps=(30.0, 90.0), ended_s=95.0, usd_per_hour=3600, evidence="measured"
    )

    parts = launch_spent(bill, first_steps_s=10.0, usd_per_hour=3600)

    assert [(part.cause, part.usd) for part in parts] == [
        ("startup", 30.0),
        ("first_steps", 10.0),
        ("steps", 50.0),
        ("end", 5.0),
    ]
    assert sum(part.usd for part in parts) == bill.billed_usd
    alone = launch_spent(bill, first_steps_s=None, usd_per_hour=3600)
    assert [part.cause for part in alone] == ["startup", "all_steps", "end"]


def test_an_emulated_launch_is_on_two_scales_and_not_added_up() -> None:
    emulation = Emulation(cores_per_vcpu=0.045, device_step_time_s=0.04)
    real = described(compared(*interleaved_runs(rounds=2)), ())
    emulated = described(compared(*interleaved_runs(rounds=2, emulation=emulation)), ())

    assert {part.cause for part in real.launch_cost} == {"startup", "all_steps", "end"}
    assert emulated.launch_cost == ()
    assert emulated.steps_cost != ()
