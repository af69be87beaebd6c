"""Where the money goes: parts that add up, and nothing that is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.metrics.bill import bill_of
from smtc_lab.metrics.spent import PaidGroup, StepsCause, launch_spent, steps_spent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.spec.cluster import Role

SHARES = st.floats(0, 1)
USD = st.floats(0.01, 100)
ROLES: tuple[Role, ...] = ("train", "data")


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
    return steps_spent(**told)  # type: ignore[arg-type]


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
    assert sum(parts.values()) == pytest.approx(
        1000 * step_time_s * usd_per_hour / 3600, rel=1e-9
    )
    assert all(usd > 0 for usd in parts.values())
    assert set(parts) <= set(get_args(StepsCause))


def test_the_parts_of_a_launch_add_up_to_what_was_billed() -> None:
    bill = bill_of(
        started_s=0.0, steps=(30.0, 90.0), ended_s=95.0, usd_per_hour=3600, evidence="measured"
    )

    parts = launch_spent(bill, first_steps_s=10.0, usd_per_hour=3600)

    assert list(parts.items()) == [
        ("startup", 30.0),
        ("first_steps", 10.0),
        ("steps", 50.0),
        ("end", 5.0),
    ]
    assert sum(parts.values()) == bill.billed_usd
    alone = launch_spent(bill, first_steps_s=None, usd_per_hour=3600)
    assert list(alone) == ["startup", "all_steps", "end"]
