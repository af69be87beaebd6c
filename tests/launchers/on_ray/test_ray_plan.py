"""What is asked of Ray, before any cluster is there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from smtc_lab.cli import cli
from smtc_lab.errors import LauncherError, SpecError
from smtc_lab.launchers.on_ray.launcher import RayLauncher
from smtc_lab.launchers.on_ray.placed import RayNode, agent_text, placed
from smtc_lab.machine.cores import versions
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.study.comparison.compare import plan_comparison

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]

HOMOGENEOUS = "dnn_group=ml.p3.2xlarge:1"
HETEROGENEOUS = f"{HOMOGENEOUS},data_group=ml.c5.9xlarge:1"
NODE = RayNode(
    address="10.0.0.2",
    interface="ens5",
    num_cpus=6,
    num_gpus=1,
    node_id="a",
    python="/usr/bin/python3",
    run_folder="/scratch/job",
    source_folder="/scratch/job/source",
    version=versions()["smtc-lab"],
)


@pytest.fixture
def launcher(root: Path) -> RayLauncher:
    return RayLauncher(root=root, address="10.0.0.1:6379")


def test_nodes_are_used_as_they_are_unless_an_emulation_names_its_scale(
    make_job: MakeJob, launcher: RayLauncher
) -> None:
    job = make_job("", cluster=HETEROGENEOUS)
    emulated = job.model_copy(update={"emulation": Emulation(device_step_time_s=0.04)})
    scaled = job.model_copy(update={"emulation": Emulation(cores_per_vcpu=0.05)})

    def quotas(one: TrainingJob) -> list[float | None]:
        return [instance.cpu_quota_cores for instance in launcher.plan(one).instances]

    assert quotas(job) == quotas(emulated) == [None, None]
    assert quotas(scaled)[0] == pytest.approx(8 * 0.05)


def test_a_data_server_uses_the_cpus_that_its_node_has(
    make_job: MakeJob, launcher: RayLauncher
) -> None:
    plan = launcher.plan(make_job("", cluster=HETEROGENEOUS))
    other = replace(NODE, address="10.0.0.3", node_id="b", num_gpus=0)

    on_nodes = placed(plan, [NODE, other], cpus_of_node={"a": 6, "b": 4})

    assert [instance.address for instance in on_nodes.instances] == ["10.0.0.2", "10.0.0.3"]
    assert [instance.num_cpus for instance in on_nodes.instances] == [6, 4]
    assert on_nodes.instances[1].num_workers == 4


def test_an_agent_is_told_the_addresses_and_the_interface_of_its_node(
    make_job: MakeJob, launcher: RayLauncher
) -> None:
    plan = placed(launcher.plan(make_job("")), [NODE], cpus_of_node={})

    text = agent_text(plan, plan.instances[0], NODE)

    assert '"algo-1": "10.0.0.2"' in text
    assert '"GLOO_SOCKET_IFNAME": "ens5"' in text
    assert '"/scratch/job/source/train.py"' in text


def test_a_node_with_another_version_is_refused(
    make_job: MakeJob, launcher: RayLauncher
) -> None:
    plan = launcher.plan(make_job(""))

    with pytest.raises(LauncherError, match=r"10\.0\.0\.2 has smtc-lab 0\.0\.1.*pip install"):
        placed(plan, [replace(NODE, version="0.0.1")], cpus_of_node={})


def test_a_script_with_too_large_a_folder_is_refused(
    make_job: MakeJob, launcher: RayLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smtc_lab.launchers.source_archive.MAX_SOURCE_BYTES", 3)

    with pytest.raises(SpecError, match=r"holds more than"):
        launcher.plan(make_job("x = 1"))


def test_the_cluster_is_that_of_the_environment_unless_one_is_named(
    make_job: MakeJob, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "10.9.9.9:6379")

    def address(launcher: RayLauncher) -> object:
        return launcher.plan(make_job("")).facts["ray_address"]

    assert address(RayLauncher(root=root)) == "10.9.9.9:6379"
    assert address(RayLauncher(root=root, address="auto")) == "auto"


def test_a_comparison_on_ray_leaves_the_nodes_as_they_are(
    make_job: MakeJob, launcher: RayLauncher
) -> None:
    job = make_job("", emulation=Emulation(device_step_time_s=0.04))
    jobs = [
        job.model_copy(update={"cluster": Cluster.parse(text)})
        for text in (HOMOGENEOUS, HETEROGENEOUS)
    ]

    plan = plan_comparison(jobs, rounds=1, on=launcher)

    assert {launch.launcher for launch in plan.launches} == {"ray"}
    assert {
        instance.cpu_quota_cores for launch in plan.launches for instance in launch.instances
    } == {None}


def test_the_command_line_compares_where_it_is_told_to(
    make_job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, object] = {}

    def compare(jobs: object, **options: object) -> None:
        del jobs
        asked.update(options)
        raise LauncherError("That is enough.")

    monkeypatch.setattr("smtc_lab.study.comparison.compare.compare", compare)
    script = make_job("").entry_point

    done = CliRunner().invoke(cli, ["compare", "--on", "ray", "--cluster", HOMOGENEOUS, script])

    assert done.exit_code != 0
    assert isinstance(asked["on"], RayLauncher)
