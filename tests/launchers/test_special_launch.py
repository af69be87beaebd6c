"""What a launch of a calibration is given, before anything is started."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from smtc_lab.instance.context import InstanceContext, process_variables
from smtc_lab.instance.description import InstanceDescription, Measure
from smtc_lab.launchers.local.run import write_run
from smtc_lab.launchers.special_launch import as_measuring_launch, with_cpu_quotas
from smtc_lab.store.run_folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launchers.launcher import LaunchPlan
    from smtc_lab.launchers.local.launcher import LocalLauncher
    from smtc_lab.spec.job import TrainingJob


@pytest.fixture
def plan(launcher: LocalLauncher, make_job: Callable[..., TrainingJob]) -> LaunchPlan:
    job = make_job("", cluster="here=local:1:train,data=local:1:data", job_name="train-1")
    return launcher.plan(job)


def told(plan: LaunchPlan, root: Path, host: str) -> InstanceDescription:
    folder = RunFolder.create(root, str(plan.job.job_name))
    write_run(folder, plan)
    return InstanceDescription.from_values(json.loads(folder.agent_file(host).read_bytes()))


def environment_of(plan: LaunchPlan, root: Path, host: str) -> dict[str, str]:
    instance = told(plan, root, host)
    return process_variables(instance, next(iter(instance.trainers), None))


def test_the_trainer_of_a_measuring_launch_knows_what_to_measure(
    plan: LaunchPlan, root: Path
) -> None:
    measuring = as_measuring_launch(plan, what="resident", seconds=2.5, batch_size=8)

    environment = environment_of(measuring, root, "algo-1")

    assert InstanceContext.from_environment(environment).measure == Measure(
        what="resident", seconds=2.5, batch_size=8
    )


def test_the_data_instance_of_a_measuring_launch_does_what_it_always_does(
    plan: LaunchPlan, root: Path
) -> None:
    measuring = as_measuring_launch(plan, what="loader", seconds=2.5)

    environment = environment_of(measuring, root, "algo-2")

    assert "SMTC_MEASURE" not in environment


def test_an_ordinary_launch_measures_nothing(plan: LaunchPlan, root: Path) -> None:
    environment = environment_of(plan, root, "algo-1")

    assert InstanceContext.from_environment(environment).measure is None


def test_quotas_are_given_to_the_hosts_that_are_named(plan: LaunchPlan, root: Path) -> None:
    limited = with_cpu_quotas(plan, {"algo-2": 1.25, "algo-9": 3.0})

    data = told(limited, root, "algo-2")

    assert (data.cpu_quota_cores, data.num_cpus) == (1.25, 2)
    assert limited.instances[0] == plan.instances[0]
    assert limited.facts["cpu_quota_cores"] == {"algo-1": None, "algo-2": 1.25}
