"""Whole runs of a DDP script: a declared network, and data instances that reduce."""

from __future__ import annotations

import json
import os
import signal
import textwrap
from typing import TYPE_CHECKING

import psutil
import pytest

from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.launchers.run import Run
from smtc_lab.spec.cluster import Cluster, InstanceGroup
from smtc_lab.spec.emulation import EmulatedLink, Emulation
from smtc_lab.spec.job import TrainingJob
from tests.kit.runs import processes_of_job, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Start = Callable[..., Run]

SCRIPT = """
    import json, os
    from pathlib import Path
    import torch
    import torch.distributed as dist
    from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(4000, 64))
    model = torch.nn.parallel.DistributedDataParallel(
        torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.Linear(256, 64)),
        bucket_cap_mb=0.05,
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for (batch,) in DataLoader(data, batch_size=20, sampler=DistributedSampler(data)):
        optimizer.zero_grad()
        (model(batch) - batch).square().mean().backward()
        optimizer.step()
        total = sum(float(each.detach().double().sum()) for each in model.parameters())
        path = Path(os.environ["SM_OUTPUT_DATA_DIR"], f"total{os.environ['RANK']}.json")
        path.write_text(json.dumps(total))
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    runs = []
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(SCRIPT), encoding="utf-8")

    def start_run(cluster: Cluster, **values: object) -> Run:
        launcher = LocalLauncher(root=tmp_path / "runs")
        job = TrainingJob(entry_point=str(script), cluster=cluster, **values)
        runs.append(Run(launcher, launcher.start(launcher.plan(job), detach=False)))
        return runs[-1]

    yield start_run
    for run in runs:
        run.stop()


def cluster(*, data: int = 0) -> Cluster:
    dnn = InstanceGroup(
        instance_group_name="dnn", instance_type="local", instance_count=2, role="train"
    )
    feed = InstanceGroup(
        instance_group_name="feed", instance_type="local", instance_count=data or 1, role="data"
    )
    return Cluster(instance_groups=(dnn, feed) if data else (dnn,))


def totals(root: Path) -> set[float]:
    return {json.loads(path.read_text()) for path in root.rglob("total*.json")}


def test_a_declared_network_is_as_slow_as_said_in_a_whole_run(
    start: Start, tmp_path: Path
) -> None:
    link = EmulatedLink(between_gbps=0.01, between_latency_s=1e-4)

    run = start(cluster(), max_steps=8, emulation=Emulation(cores_per_vcpu=0.1, link=link))
    run.wait()

    assert run.status == "Completed", run.logs()
    num_bytes = 4 * (2 * 64 * 256 + 256 + 64)
    declared_s = num_bytes / (0.01e9 / 8)
    records = run.records()
    for steps in records.steps.values():
        assert all(step.step_time_s >= declared_s for step in steps)
    assert len(totals(tmp_path)) == 1


def test_data_instances_reduce_gradients_and_one_that_is_killed_is_gone_on_without(
    start: Start, tmp_path: Path
) -> None:
    run = start(
        cluster(data=2), max_steps=60, distribution={"data": 2, "reduce_on": "data_group"}
    )
    reducers = []

    def found() -> bool:
        reducers[:] = [
            process
            for process in psutil.process_iter(["cmdline", "environ"])
            if "smtc_lab.parallel.reduce" in (process.info["cmdline"] or ())
            and (process.info["environ"] or {}).get("TRAINING_JOB_NAME") == run.job_name
        ]
        return len(reducers) == 2 and any(tmp_path.rglob("total*.json"))

    wait_until(found, what="reducers and a step", limit_s=60)
    os.kill(reducers[0].pid, signal.SIGKILL)
    run.wait()

    assert run.status == "Completed", run.logs()
    assert len(totals(tmp_path)) == 1
    events = [event.message for event in run.records().events]
    assert any("2 of 2 data instances also reduce gradients" in said for said in events)
    assert any("of 2 is lost" in said for said in events)
    assert processes_of_job(run.job_name) == {}
    for steps in run.records().steps.values():
        assert all((step.comm_bytes, step.num_syncs) == (132_352, 1) for step in steps)
