"""What the local launcher asks for, and what an entry point then sees."""

from __future__ import annotations

import contextlib
import os
import subprocess
from typing import TYPE_CHECKING

import psutil
import pytest

from smtc_lab.errors import LauncherError, RunFailedError, SpecError
from smtc_lab.launchers.run import Run, launcher_named
from smtc_lab.spec.channel import Channel
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.store.run_folder import find_runs
from smtc_lab.study.folder import studies_root
from tests.kit.runs import processes_after, processes_of, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launchers.local.launcher import LocalLauncher
    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]
    Start = Callable[..., Run]

HETEROGENEOUS = "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:2"
OWN_SERVER = "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1:script"


def test_a_folder_of_runs_may_be_text(tmp_path: Path) -> None:
    assert launcher_named("local", root=str(tmp_path)).root == tmp_path
    assert find_runs(str(tmp_path)) == []
    assert studies_root(str(tmp_path / "runs")) == tmp_path / "comparisons"


def test_quotas_are_in_proportion_to_vcpus_and_cpu_speed(
    make_job: MakeJob, launcher: LocalLauncher
) -> None:
    emulation = Emulation(cores_per_vcpu=0.01, relative_cpu_speed={"p3": 1.0, "c5": 1.5})

    plan = launcher.plan(make_job("", cluster=HETEROGENEOUS, emulation=emulation))

    assert [item.cpu_quota_cores for item in plan.instances] == pytest.approx(
        [8 * 0.01, 36 * 1.5 * 0.01, 36 * 1.5 * 0.01]
    )
    assert [item.role for item in plan.instances] == ["train", "data", "data"]
    assert [item.rank for item in plan.instances] == [0, None, None]
    assert plan.usd_per_hour == pytest.approx(3.825 + 2 * 1.836)
    assert plan.price_notes[0] == "ml.p3.2xlarge: $3.825/h, historical, 2022-10-27"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ((HETEROGENEOUS, 0.03, None), [(0.01, True), (None, False), (None, False)]),
        ((HETEROGENEOUS, 0.03, 4), [(0.01, True), (0.015, False), (0.015, False)]),
        ((HETEROGENEOUS, None, None), [(0.01, False), (None, False), (None, False)]),
        (("cpu_group=ml.c5.9xlarge:1", 0.03, None), [(0.015, False)]),
        ((OWN_SERVER, 0.03, None), [(0.01, True), (0.015, False)]),
    ],
)
def test_data_workers_are_vcpus_and_passes_are_those_of_the_declared_device(
    make_job: MakeJob,
    launcher: LocalLauncher,
    asked: tuple[str, float | None, int | None],
    expected: list[tuple[float | None, bool]],
) -> None:
    """Data workers whose number was chosen for this machine stand for all vCPUs."""
    cluster, device_s, num_data_workers = asked
    emulation = Emulation(
        cores_per_vcpu=0.01,
        device_step_time_s=device_s,
        relative_cpu_speed={"p3": 1.0, "c5": 1.5},
    )
    job = make_job("", cluster=cluster, emulation=emulation, num_data_workers=num_data_workers)

    planned = launcher.plan(job).instances

    assert [each.passes_outside_quota for each in planned] == [is_so for _, is_so in expected]
    for each, (cores, _) in zip(planned, expected, strict=True):
        assert each.vcpu_cores == (None if cores is None else pytest.approx(cores))


def test_without_emulation_nothing_is_limited(
    make_job: MakeJob, launcher: LocalLauncher
) -> None:
    plan = launcher.plan(make_job("", cluster=HETEROGENEOUS))

    assert {item.cpu_quota_cores for item in plan.instances} == {None}
    assert {item.vcpu_cores for item in plan.instances} == {None}


def test_a_scale_that_does_not_fit_is_refused_with_one_that_does(
    make_job: MakeJob, launcher: LocalLauncher
) -> None:
    large = "a=ml.p4d.24xlarge:100"
    job = make_job("", cluster=large, emulation=Emulation(time_dilation=1.0))

    (problem,) = launcher.check(job)

    assert "cores, but this machine has" in problem
    assert "Raise time_dilation to" in problem


def test_more_trainers_than_memory_are_refused_with_how_many_fit(
    make_job: MakeJob, launcher: LocalLauncher
) -> None:
    fits = int(psutil.virtual_memory().available / 1e8)
    if fits > 900:
        pytest.skip("this machine has memory for all trainers that a job may have")
    job = make_job("", cluster="here=local:1", distribution={"data": 1_000})

    with pytest.raises(SpecError, match=r"1000 trainers need at least 100 GB.*at most (\d+)"):
        launcher.plan(job)

    few = make_job("", cluster="here=local:1", distribution={"data": max(1, fits // 2)})
    assert len(launcher.plan(few).instances) == 1


def test_everything_that_is_wrong_is_said_at_once(
    make_job: MakeJob, launcher: LocalLauncher, tmp_path: Path
) -> None:
    job = make_job(
        "",
        cluster="dnn_group=ml.p3.2xlarg:1",
        channels=(Channel(channel_name="train", source=str(tmp_path / "nowhere")),),
    ).model_copy(update={"entry_point": "nowhere.py"})

    with pytest.raises(SpecError) as refused:
        launcher.plan(job)

    assert len(refused.value.problems) == 3
    assert "nowhere.py" in refused.value.problems[0]
    assert "ml.p3.2xlarge" in refused.value.problems[1]
    assert "not a folder" in refused.value.problems[2]


def test_an_instance_of_type_local_is_this_machine_as_it_is(
    make_job: MakeJob, launcher: LocalLauncher
) -> None:
    plan = launcher.plan(make_job("", cluster="here=local:1", emulation=Emulation()))

    assert plan.instances[0].cpu_quota_cores is None
    assert plan.usd_per_hour is None
    assert plan.price_notes == ("local: this machine has no price",)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_full_disk_ends_the_run_with_a_message_and_keeps_what_was_recorded(
    make_job: MakeJob, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "none", disk],
        check=False,
        capture_output=True,
    )
    if mounted.returncode != 0:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.decode()}")
    try:
        body = """
            import os, time
            with open(os.path.join(os.environ["SM_OUTPUT_DATA_DIR"], "big"), "wb") as file:
                while True:
                    file.write(b"x" * 65536)
                    file.flush()
                    time.sleep(0.02)
        """
        launcher = launcher_named("local", root=disk)
        run = Run(launcher, launcher.start(launcher.plan(make_job(body))))

        with pytest.raises(RunFailedError, match=r"exited with code 1.*The disk is full"):
            run.wait(60)

        assert run.status == "Failed"
        assert processes_after(run.folder.path) == {}
        assert run.records().system["algo-1"]
    finally:
        subprocess.run(["umount", disk], check=True)


def test_an_unknown_launcher_names_the_ones_there_are() -> None:
    with pytest.raises(LauncherError, match=r"no launcher 'slurm'.*local"):
        launcher_named("slurm")


def test_clusters_parse_as_on_the_command_line() -> None:
    cluster = Cluster.parse(HETEROGENEOUS)

    assert cluster.num_instances == 3
    assert str(cluster) == HETEROGENEOUS


def test_an_emulation_keeps_the_cores_awake_and_leaves_nothing(
    make_job: MakeJob, start: Start
) -> None:
    body = """
        import time
        from smtc_lab.runtime.instance_runtime import instance_runtime
        instance_runtime().context.say_ready()
        time.sleep(3600)
    """
    run = start(make_job(body, emulation=Emulation()))

    wait_until(
        lambda: len(idle_processes(run)) == len(os.sched_getaffinity(0)),
        what="the spinning of every core",
    )
    run.stop()

    assert processes_after(run.folder.path) == {}


def idle_processes(run: Run) -> list[int]:
    found = []
    for pid in processes_of(run.folder.path):
        with contextlib.suppress(ProcessLookupError):
            if os.sched_getscheduler(pid) == os.SCHED_IDLE:
                found.append(pid)
    return found
