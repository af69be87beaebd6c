"""What the local launcher asks for, and what an entry point then sees."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
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

    from smtc_lab.launchers.local.launcher import LocalLauncher
    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]
    Start = Callable[..., Run]

HETEROGENEOUS = "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:2"
PRINT_ENVIRONMENT = """
    import json, os, sys
    print(json.dumps({"environment": dict(os.environ), "arguments": sys.argv[1:]}))
"""


def seen_by(run: Run, host: str = "algo-1") -> dict[str, object]:
    seen: dict[str, object] = json.loads(run.wait(30).logs(host))
    return seen


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


def test_without_emulation_nothing_is_limited(
    make_job: MakeJob, launcher: LocalLauncher
) -> None:
    plan = launcher.plan(make_job("", cluster=HETEROGENEOUS))

    assert {item.cpu_quota_cores for item in plan.instances} == {None}


def test_a_scale_that_does_not_fit_is_refused_with_one_that_does(
    make_job: MakeJob, launcher: LocalLauncher
) -> None:
    job = make_job("", emulation=Emulation(cores_per_vcpu=100.0))

    (problem,) = launcher.check(job)

    assert "need 800.00 cores, but this machine has" in problem
    assert "Lower cores_per_vcpu to" in problem


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


def test_the_entry_point_sees_its_instance_hyperparameters_and_channels(
    make_job: MakeJob, start: Start, tmp_path: Path
) -> None:
    (tmp_path / "images").mkdir()
    job = make_job(
        PRINT_ENVIRONMENT,
        cluster=HETEROGENEOUS,
        emulation=Emulation(),
        hyperparameters={"lr": 0.1, "layers": [1, 2]},
        arguments=["--dummy", "a b", "--", "-x"],
        channels=(Channel(channel_name="train", source=str(tmp_path / "images")),),
        environment={"EXTRA": "yes"},
    )

    seen = seen_by(start(job))

    environment = seen["environment"]
    own = ["--dummy", "a b", "--", "-x"]
    assert seen["arguments"] == ["--layers", "[1, 2]", "--lr", "0.1", *own]
    assert json.loads(environment["SM_USER_ARGS"]) == seen["arguments"]
    assert environment["SM_CURRENT_HOST"] == "algo-1"
    assert environment["SM_CURRENT_INSTANCE_GROUP"] == "dnn_group"
    assert environment["SM_NUM_CPUS"] == "1"
    assert environment["OMP_NUM_THREADS"] == "1"
    assert environment["SM_HP_LR"] == "0.1"
    assert environment["EXTRA"] == "yes"
    assert (environment["RANK"], environment["WORLD_SIZE"]) == ("0", "1")
    assert os.path.realpath(environment["SM_CHANNEL_TRAIN"]) == str(tmp_path / "images")


def test_credentials_of_the_launching_process_do_not_reach_the_entry_point(
    make_job: MakeJob, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "AKIA-canary")
    monkeypatch.setenv("HF_TOKEN", "hf_canary")

    run = start(make_job(PRINT_ENVIRONMENT))

    assert "canary" not in json.dumps(seen_by(run))
    for path in run.folder.path.rglob("*"):
        if path.is_file():
            assert b"canary" not in path.read_bytes(), path


def test_hosts_resolve_by_name_on_every_instance(make_job: MakeJob, start: Start) -> None:
    body = """
        import socket
        print(socket.gethostbyname("algo-3"), socket.getaddrinfo("algo-3", 80)[0][4][0])
    """
    run = start(make_job(body, cluster=HETEROGENEOUS))

    by_name, by_address = run.wait(30).logs("algo-1").split()

    assert by_name == by_address
    assert by_name.startswith("127.")
    assert by_name.endswith(".3")


def test_the_run_folder_is_private_whatever_the_umask(make_job: MakeJob, start: Start) -> None:
    before = os.umask(0)
    try:
        run = start(make_job("print('done')"))
    finally:
        os.umask(before)
    run.wait(30)

    assert run.folder.path.stat().st_mode & 0o077 == 0
    assert run.folder.secret_file.stat().st_mode & 0o077 == 0


def test_a_poll_goes_on_where_the_last_one_ended(make_job: MakeJob, start: Start) -> None:
    run = start(make_job("print('one')\nprint('two')"))
    first = run.wait(30).poll()

    second = run.poll(json.loads(json.dumps(first.cursor)))

    assert [line.text for line in first.log] == ["one", "two"]
    assert [event.message for event in first.events] == ["InProgress.", "Completed."]
    assert second.log == ()
    assert second.events == ()


def test_an_interrupt_while_waiting_stops_the_run(make_job: MakeJob, root: Path) -> None:
    job_file = root.parent / "given.json"
    body = "import time\nprint('working', flush=True)\ntime.sleep(3600)"
    job_file.write_text(make_job(body).to_json(), encoding="utf-8")
    program = """
        import sys
        from pathlib import Path
        import smtc_lab as lab
        job = lab.TrainingJob.from_json(Path(sys.argv[1]).read_text())
        run = lab.launch(job, root=Path(sys.argv[2]))
        try:
            run.wait()
        except KeyboardInterrupt:
            print(run.status, "-", run.state.reason)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), job_file, root],
        stdout=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: find_runs(root), what="the start of the run")
    (folder,) = find_runs(root)
    wait_until(
        lambda: (
            folder.log_file("algo-1").is_file()
            and "working" in folder.log_file("algo-1").read_text()
        ),
        what="the start of the script",
    )

    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=20)

    assert said == "Stopped - The run was stopped by its user.\n"
    assert processes_after(folder.path) == {}


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


def test_sweep_finds_nothing_of_a_run_that_is_alive(
    make_job: MakeJob, start: Start, launcher: LocalLauncher
) -> None:
    run = start(make_job("import time\ntime.sleep(3600)"))

    assert run.job_name not in [item.job_name for item in launcher.sweep()]


def test_sweep_ends_what_a_lost_run_left(
    make_job: MakeJob, start: Start, launcher: LocalLauncher
) -> None:
    run = start(make_job("print('done')"))
    run.wait(30)
    orphan = subprocess.Popen(
        ["sleep", "3600"], env={"PATH": os.environ["PATH"], "SMTC_RUN_ID": str(run.folder.path)}
    )
    environment = Path(f"/proc/{orphan.pid}/environ")
    # A new program has no environment for a moment after its parent goes on.
    wait_until(lambda: b"SMTC_RUN_ID" in environment.read_bytes(), what="its environment")

    try:
        found = [item for item in launcher.sweep(stop=True) if item.job_name == run.job_name]
        assert [item.pids for item in found] == [(orphan.pid,)]
        assert orphan.wait(30) == -signal.SIGTERM
    finally:
        orphan.kill()
        orphan.wait()


def test_clusters_parse_as_on_the_command_line() -> None:
    cluster = Cluster.parse(HETEROGENEOUS)

    assert cluster.num_instances == 3
    assert str(cluster) == HETEROGENEOUS


def test_a_run_folder_that_was_moved_is_still_read(
    make_job: MakeJob, start: Start, tmp_path: Path
) -> None:
    run = start(make_job("print('said before the move')"))
    run.wait(30)
    moved = run.folder.path.rename(tmp_path / run.job_name)

    again = Run.open(str(moved))

    assert again.status == "Completed"
    assert "said before the move" in again.logs()
    assert run.folder.path.exists() is False


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


def test_torch_computes_in_as_many_threads_as_the_job_says(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    script = "import torch\nprint('THREADS', torch.get_num_threads(), flush=True)"
    asked = {"OMP_NUM_THREADS": "1"}
    run = start(make_job(script, cluster="here=local", environment=asked))

    run.wait(60)

    assert "THREADS 1" in run.logs()
