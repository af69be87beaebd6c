"""The Ray launcher on a real cluster of several nodes, beyond what every launcher promises."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import LauncherError, RunFailedError
from smtc_lab.launchers.on_ray.launcher import RayLauncher
from smtc_lab.launchers.run import Run
from smtc_lab.store.state import current_state
from tests.kit.launch_sites.ray import RaySite
from tests.kit.quick_script import SERVES
from tests.kit.runs import processes_of_job, stopped_at_the_end, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]
    Start = Callable[..., Run]

ONE = "dnn_group=ml.p3.2xlarge:1"
HETEROGENEOUS = f"{ONE},data_group=ml.c5.9xlarge:1"
FOREVER = """
    import subprocess, sys, time
    subprocess.Popen([sys.executable, "-c", "import os, time; os.setsid(); time.sleep(3600)"])
    print("working", flush=True)
    time.sleep(3600)
"""
LIMIT_S = 60.0


@pytest.fixture(scope="module")
def site() -> Iterator[RaySite]:
    with RaySite.opened() as opened:
        yield opened


@pytest.fixture
def start(site: RaySite, root: Path) -> Iterator[Start]:
    with stopped_at_the_end() as launch:
        yield lambda job: launch(site.launcher(root), job)


def works_everywhere(run: Run) -> bool:
    said = [run.logs(host) for host in run.job.cluster.hosts()]
    return all("working" in each or SERVES in each for each in said)


def nothing_is_left(run: Run) -> bool:
    wait_until(lambda: not processes_of_job(run.job_name), what="the end of every process")
    folders = [Path(folder) for folder in run_folders_on_nodes(run)]
    wait_until(lambda: not any(map(Path.exists, folders)), what="the end of every folder")
    return True


def run_folders_on_nodes(run: Run) -> list[str]:
    return [
        str(path) for path in Path(tempfile.gettempdir()).glob(f"smtc-ray-*/{run.job_name}")
    ]


def test_each_instance_has_the_address_and_the_cpus_of_its_node(
    make_job: MakeJob, start: Start
) -> None:
    body = """
        import json, os, signal, socket
        from pathlib import Path
        Path(os.environ["SM_MODEL_DIR"], "weights.bin").write_bytes(b"w" * 5_000_000)
        secret = Path(os.environ["SMTC_RUN_ID"], "secret")
        print(json.dumps({
            "address": os.environ["SMTC_ADDRESS"],
            "names": list(map(socket.gethostbyname, json.loads(os.environ["SM_HOSTS"]))),
            "cpus": os.environ["SM_NUM_CPUS"],
            "secret": [oct(secret.stat().st_mode), len(secret.read_bytes())],
            "ray": sorted(name for name in os.environ if name.startswith("RAY_")),
        }), flush=True)
        signal.pause()
    """
    run = start(make_job(body, cluster="train=ml.c5.9xlarge:2"))
    hosts = run.job.cluster.hosts()
    wait_until(lambda: all(map(run.logs, hosts)), what="every instance", limit_s=LIMIT_S)

    assert run.stop().status == "Stopped"
    told = {host: json.loads(run.logs(host)) for host in hosts}
    addresses = [told[host]["address"] for host in told]
    assert len(set(addresses)) == 2
    for values in told.values():
        assert values["names"] == addresses
        assert values["cpus"] == str(min(2, len(os.sched_getaffinity(0))))
        assert values["secret"] == ["0o100600", 32]
        assert values["ray"] == []
    weights = run.folder.opt_ml("algo-2") / "model" / "weights.bin"
    assert weights.read_bytes() == b"w" * 5_000_000
    assert nothing_is_left(run)


def test_an_impossible_request_is_refused_at_once_and_leaves_nothing(
    make_job: MakeJob, start: Start, root: Path
) -> None:
    job = make_job(FOREVER, cluster="dnn_group=ml.p3.2xlarge:2")

    with pytest.raises(LauncherError, match=r"has nodes for 1 of the job's 2"):
        start(job)
    assert list(root.iterdir()) == []


def test_a_cluster_of_ours_answers_nobody_without_its_token(site: RaySite) -> None:
    grpc = pytest.importorskip("grpc")
    address, token_file = site.address.split(",")
    token = Path(token_file).read_text(encoding="ascii")

    def answer(*metadata: tuple[str, str]) -> str:
        with grpc.insecure_channel(address) as channel:
            ask = channel.unary_unary("/ray.rpc.NodeInfoGcsService/CheckAlive")
            try:
                ask(b"", metadata=metadata, timeout=LIMIT_S)
            except grpc.RpcError as error:
                return str(error.code().name)
        return "OK"

    assert answer() == "UNAUTHENTICATED"
    assert answer(("authorization", f"Bearer {'0' * 64}")) == "UNAUTHENTICATED"
    assert answer(("authorization", f"Bearer {token}")) == "OK"
    assert Path(token_file).stat().st_mode & 0o077 == 0


def test_kill_9_of_an_actor_fails_the_job_and_leaves_nothing(
    make_job: MakeJob, start: Start, site: RaySite
) -> None:
    run = start(make_job(FOREVER, cluster=ONE))
    wait_until(lambda: works_everywhere(run), what="the instance", limit_s=LIMIT_S)

    os.kill(site.actor(run, "algo-1"), signal.SIGKILL)

    with pytest.raises(RunFailedError, match=r"algo-1 \(dnn_group\) on node .* was lost"):
        run.wait(LIMIT_S)
    assert nothing_is_left(run)


def test_kill_9_of_the_supervisor_ends_every_instance(make_job: MakeJob, start: Start) -> None:
    run = start(make_job(FOREVER, cluster=ONE))
    wait_until(lambda: works_everywhere(run), what="the instance", limit_s=LIMIT_S)
    supervisor = run.state.supervisor_pid
    assert supervisor is not None

    os.kill(supervisor, signal.SIGKILL)

    assert nothing_is_left(run)
    wait_until(lambda: current_state(run.folder).is_terminal, what="the last word on the run")
    assert "supervisor of the run was killed" in current_state(run.folder).reason


def test_kill_9_of_a_raylet_fails_the_job_and_leaves_nothing(
    make_job: MakeJob, start: Start, site: RaySite
) -> None:
    run = start(make_job(FOREVER, cluster=HETEROGENEOUS))
    wait_until(lambda: works_everywhere(run), what="every instance", limit_s=LIMIT_S)

    os.kill(site.raylet(run, "algo-2"), signal.SIGKILL)

    with pytest.raises(RunFailedError, match=r"algo-2 \(data_group\) on node .* was lost"):
        run.wait(LIMIT_S)
    assert nothing_is_left(run)


@pytest.mark.soak
def test_without_an_address_a_cluster_is_started_that_ends_with_the_run(
    make_job: MakeJob, site: RaySite, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del site  # for its reasons to skip
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    launcher = RayLauncher(root=root)
    body = """
        import os, signal
        print(os.environ["SMTC_ADDRESS"], os.environ["SMTC_ATTEMPT"], flush=True)
        if os.environ["SMTC_ATTEMPT"] == "1":
            signal.pause()
    """
    run = Run(launcher, launcher.start(launcher.plan(make_job(body, cluster="all=local:1"))))
    wait_until(lambda: run.logs("algo-1") != "", what="the first attempt", limit_s=LIMIT_S)
    run.interrupt()

    assert run.wait(LIMIT_S).status == "Completed"
    said = [line.split() for line in run.logs("algo-1").splitlines()]
    assert [attempt for _, attempt in said] == ["1", "2"]
    assert all(address.startswith("127.") for address, _ in said)
    assert nothing_is_left(run)


def test_where_no_cluster_answers_the_message_says_what_to_do(
    make_job: MakeJob, root: Path
) -> None:
    launcher = RayLauncher(root=root, address="127.0.0.1:1")

    with pytest.raises(
        LauncherError, match=r"No Ray cluster answers at '127.0.0.1:1'.*ray start"
    ):
        launcher.start(launcher.plan(make_job(FOREVER)))
    assert list(root.iterdir()) == []


def test_without_ray_the_message_says_what_to_install(
    make_job: MakeJob, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    launcher = RayLauncher(root=root, address="127.0.0.1:1")

    with pytest.raises(LauncherError, match=r"pip install 'smtc-lab\[ray\]'"):
        launcher.start(launcher.plan(make_job(FOREVER)))
