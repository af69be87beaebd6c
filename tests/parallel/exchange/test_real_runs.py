"""Whole runs of a DDP script over a declared network."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

import pytest

from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.launchers.run import Run
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import EmulatedLink, Emulation
from smtc_lab.spec.job import TrainingJob

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


def totals(root: Path) -> set[float]:
    return {json.loads(path.read_text()) for path in root.rglob("total*.json")}


def test_a_declared_network_is_as_slow_as_said_in_a_whole_run(
    start: Start, tmp_path: Path
) -> None:
    link = EmulatedLink(between_gbps=0.01, between_latency_s=1e-4)

    run = start(
        Cluster.parse("dnn=local:2"),
        max_steps=8,
        emulation=Emulation(cores_per_vcpu=0.1, link=link),
    )
    run.wait()

    assert run.status == "Completed", run.logs()
    num_bytes = 4 * (2 * 64 * 256 + 256 + 64)
    declared_s = num_bytes / (0.01e9 / 8)
    records = run.records()
    for steps in records.steps.values():
        assert all(step.step_time_s >= declared_s for step in steps)
        assert all((step.comm_bytes, step.num_syncs) == (num_bytes, 1) for step in steps)
    assert len(totals(tmp_path)) == 1
