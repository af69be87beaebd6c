"""What an emulated accelerator can hold, as trainers of a pipeline are told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.instance_types import USABLE_FRACTION
from smtc_lab.catalog.placed import placed
from smtc_lab.launchers.descriptions import AgentPlace, describe_instance
from smtc_lab.launchers.emulation.emulated_devices import device_facts
from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from collections.abc import Callable

CATALOG = Catalog.load()
V100_BYTES = USABLE_FRACTION * 16 * 2**30
A10_BYTES = USABLE_FRACTION * (CATALOG.get("ml.g5.xlarge").accelerator_memory_gib or 0) * 2**30


def job(cluster: str, **fields: Any) -> TrainingJob:
    return TrainingJob(entry_point="train.py", cluster=Cluster.parse(cluster), **fields)


@pytest.mark.parametrize(
    ("cluster", "emulation", "expected"),
    [
        ("a=ml.p3.2xlarge:2", Emulation(), {"device_bytes": V100_BYTES}),
        ("a=ml.g5.xlarge:1,b=ml.p3.2xlarge:1", Emulation(), {"device_bytes": V100_BYTES}),
        ("a=ml.g5.xlarge:1,b=ml.c5.9xlarge:1", Emulation(), {"device_bytes": A10_BYTES}),
        ("a=local:2", Emulation(device_step_time_s=0.1), {}),
        ("a=ml.p3.2xlarge:2", None, {}),
    ],
)
def test_the_smallest_device_that_trains_counts(
    cluster: str, emulation: Emulation | None, expected: dict[str, float]
) -> None:
    emulated = job(cluster, emulation=emulation)

    assert device_facts(emulated, placed(emulated, CATALOG)) == expected


@pytest.mark.parametrize(
    ("distribution", "expected"),
    [
        (Distribution(pipeline=2), V100_BYTES),
        (Distribution(pipeline=2, limit_bytes=1e9), 1e9),
        (Distribution(pipeline=2, limit_bytes=1e12), V100_BYTES),
        (Distribution(data=2), None),
        (Distribution(data=2, activation_offload=True), None),
        (Distribution(data=2, activation_checkpointing=True), None),
    ],
)
def test_trainers_are_told_what_a_stage_may_hold_and_where_modules_go(
    distribution: Distribution, expected: float | None, make_job: Callable[..., TrainingJob]
) -> None:
    pins = {"head": 1} if distribution.pipeline > 1 else {}
    made = make_job(
        "print()",
        cluster="a=ml.p3.2xlarge:2",
        emulation=Emulation(cores_per_vcpu=0.01),
        distribution=distribution.model_copy(update={"pins": pins}),
    )
    plan = LocalLauncher().plan(made)
    place = AgentPlace(
        run_folder="/run", entry_point=Path("train.py"), python="python", channels={}
    )
    told = describe_instance(plan, plan.instances[0], place).distribution

    assert told is not None
    assert told.limit_bytes == expected
    assert told.pins == pins
    assert told.activation_offload is distribution.activation_offload
    assert told.activation_checkpointing is distribution.activation_checkpointing


@pytest.mark.parametrize(
    ("cluster", "dilation", "expected_s"),
    [
        ("a=ml.p3.2xlarge:1", 20.0, 0.6),
        ("a=ml.c5.9xlarge:1", 80.0, None),  # its vCPUs compute the passes
        ("a=local:1", None, 0.03),
    ],
)
def test_a_declared_device_is_there_where_the_type_has_an_accelerator(
    cluster: str,
    dilation: float | None,
    expected_s: float | None,
    make_job: Callable[..., TrainingJob],
) -> None:
    emulation = Emulation(time_dilation=dilation, device_step_time_s=0.03)
    plan = LocalLauncher().plan(make_job("print()", cluster=cluster, emulation=emulation))
    place = AgentPlace(
        run_folder="runs/one", entry_point=Path("train.py"), python="python", channels={}
    )

    described = describe_instance(plan, plan.instances[0], place)

    assert described.device_step_time_s == (
        None if expected_s is None else pytest.approx(expected_s)
    )
