"""Real runs of a trainer with data instances: each sample of an epoch, once, in order."""

from __future__ import annotations

import json
import os
import signal
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.launchers.run import Run
from smtc_lab.machine.processes import descendants
from smtc_lab.metrics.records.records import NOTHING_TO_SERVE, StepRecord
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.reader import read_records
from tests.kit.runs import log_of, processes_after, processes_of, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from smtc_lab.metrics.records.records import RunRecords

    Start = Callable[..., Run]

NUM_SAMPLES = 24

DATASET = """
    import json, os, time
    from pathlib import Path
    import torch

    class Ids(torch.utils.data.Dataset):
        def __len__(self):
            return 24

        def __getitem__(self, index):
            if index == int(os.environ.get("POISON", "-1")):
                raise ValueError("a rotten sample")
            return torch.tensor(index), os.environ["SM_CURRENT_HOST"]

    orders = [torch.randperm(24).tolist() for _ in range(2)]

    class Sampler:
        def __len__(self):
            return 24

        def __iter__(self):
            return iter(orders[self.epoch])

    sampler, seen = Sampler(), []

    def keep(**facts):
        path = Path(os.environ["SM_OUTPUT_DATA_DIR"], "seen.json")
        path.write_text(json.dumps({"orders": orders, "seen": seen, **facts}))
"""
SESSION_SCRIPT = """
    import smtc_lab as lab

    session = lab.Session()
    loader = session.dataloader(Ids(), batch_size=2, sampler=sampler)
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for sampler.epoch in range(2):
        ids = []
        for batch in session.steps(loader):
            ids += batch[0].tolist()
            optimizer.step()
            while sampler.epoch == 0 and len(ids) >= 6 and not Path("go_on").exists():
                time.sleep(0.01)
        seen.append(ids)
    keep(hosts=[])
"""
PLAIN_SCRIPT = """
    from torch.utils.data import DataLoader

    loader = DataLoader(Ids(), batch_size=2, sampler=sampler, num_workers=0)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    hosts = set()
    for sampler.epoch in range(2):
        ids = []
        for batch, names in loader:
            ids += batch.tolist()
            hosts.update(names)
            optimizer.zero_grad()
            model(batch[:, None].float()).sum().backward()
            optimizer.step()
        seen.append(ids)
    keep(hosts=sorted(hosts))
"""
DISTRIBUTED_SCRIPT = """
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DataLoader
    from torch.utils.data.distributed import DistributedSampler

    dist.init_process_group("gloo", rank=int(os.environ["RANK"]))
    control = dist.new_group(range(dist.get_world_size()), backend="gloo")
    settings = [{"batch_size": 2} if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(settings, src=0, group=control)
    dataset = Ids()
    sampler = DistributedSampler(dataset, seed=3)
    loader = DataLoader(dataset, **settings[0], sampler=sampler)
    model = DistributedDataParallel(torch.nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    dist.barrier()
    orders, hosts = [], set()
    for epoch in range(2):
        sampler.set_epoch(epoch)
        orders.append(list(sampler))
        ids = []
        for batch, names in loader:
            ids += batch.tolist()
            hosts.update(names)
            optimizer.zero_grad()
            model(batch[:, None].float()).sum().backward()
            optimizer.step()
        seen.append(ids)
    keep(hosts=sorted(hosts))
"""

# Trainers have a GPU as far as this script is concerned, so its data instance is asked for one.
GPU_SCRIPT = """
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DataLoader

    sampler.epoch = 0
    if os.environ["SM_CURRENT_INSTANCE_GROUP"] == "data_group":
        dist.init_process_group("nccl")
        torch.cuda.set_device(0)
        device = torch.device("cuda", torch.cuda.current_device())
        model = torch.nn.Linear(1, 1).cuda()
        model = model.to(0).to(device=0)
        model = DistributedDataParallel(model, device_ids=[0], output_device=0)
        scale = torch.ones(1, device="cuda:0") + torch.tensor([1.0]).to(device=device)
        model(scale.to(device, non_blocking=True).pin_memory()).backward()
        torch.cuda.synchronize()
        print("computed", model.module.weight.grad.item(), flush=True)
    loader = DataLoader(Ids(), batch_size=2, sampler=sampler, num_workers=0)
    hosts, ids = set(), []
    for batch, names in loader:
        ids += batch.tolist()
        hosts.update(names)
    seen.append(ids)
    keep(hosts=sorted(hosts))
"""


# A script with batches of its own: nothing can be served.
NO_LOADER_SCRIPT = """
    weight = torch.nn.Parameter(torch.ones(2))
    for step in range(20):
        weight.sum().backward()
        weight.data.add_(weight.grad, alpha=-0.1)
    print("trained", flush=True)
    while not Path("go_on").exists():
        time.sleep(0.02)
"""


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start a script on a trainer and some data instances; it ends with the test."""
    monkeypatch.chdir(tmp_path)
    runs = []

    def start_run(
        body: str, *, num_trainers: int = 1, num_data_instances: int = 1, **values: Any
    ) -> Run:
        script = tmp_path / "train.py"
        script.write_text(textwrap.dedent(DATASET) + textwrap.dedent(body), encoding="utf-8")
        groups = {
            "dnn_group=ml.p3.2xlarge": num_trainers,
            "data_group=ml.c5.9xlarge": num_data_instances,
        }
        job = TrainingJob(
            entry_point=str(script),
            cluster=Cluster.parse(",".join(f"{it}:{count}" for it, count in groups.items())),
            num_loader_workers=0,
            num_data_workers=1,
            **values,
        )
        launcher = LocalLauncher(root=tmp_path / "runs")
        runs.append(Run(launcher, launcher.start(launcher.plan(job))))
        return runs[-1]

    yield start_run
    for run in runs:
        run.stop()


def seen_by(run: Run, host: str = "algo-1") -> dict[str, Any]:
    path = run.folder.opt_ml(host) / "output" / "data" / "seen.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def batches_by_server(records: RunRecords) -> dict[str, int]:
    found: dict[str, int] = {}
    for record in records.loader["algo-1-rank0"]:
        found[record.server] = found.get(record.server, 0) + record.batches
    return found


def data_workers_on(run: Run, host: str) -> list[int]:
    """Return the data workers of a host: the children of its script's process."""
    scripts = [
        pid
        for pid in processes_of(run.folder.path)
        if log_of(pid) == f"{host}.log" and log_of(parent_of(pid)) == f"{host}.agent.log"
    ]
    return [worker for script in scripts for worker in descendants(script)]


def parent_of(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2]
    except OSError:  # it has ended meanwhile
        return 0
    return int(fields.split()[1])


def test_an_unmodified_distributed_script_is_fed_by_a_data_instance(start: Start) -> None:
    run = start(DISTRIBUTED_SCRIPT, num_trainers=2).wait(120)

    first, second = seen_by(run, "algo-1"), seen_by(run, "algo-2")
    assert (first["seen"], second["seen"]) == (first["orders"], second["orders"])
    for half, other in zip(first["seen"], second["seen"], strict=True):
        assert sorted(half + other) == list(range(NUM_SAMPLES))
    assert first["hosts"] == second["hosts"] == ["algo-3"]
    records = run.records()
    steps = records.steps["algo-1-rank0"]
    assert [step.num_samples for step in steps] == [2] * (NUM_SAMPLES // 2)
    assert all(0 < step.data_wait_s <= step.step_time_s for step in steps)
    assert batches_by_server(records) == {"algo-3": NUM_SAMPLES // 2}
    assert "algo-3 serves 1 dataloaders with 1 data workers" in run.logs("algo-3")
    assert set(records.system) == {"algo-1", "algo-2", "algo-3"}


def test_a_data_instance_without_a_gpu_runs_a_script_that_asks_for_one(start: Start) -> None:
    run = start(GPU_SCRIPT).wait(120)

    seen = seen_by(run)
    assert seen["seen"] == seen["orders"][:1]
    assert seen["hosts"] == ["algo-2"]
    assert "computed 2.0" in run.logs("algo-2")


def test_a_script_without_a_dataloader_is_not_trained_on_a_data_instance(
    start: Start, tmp_path: Path
) -> None:
    run = start(NO_LOADER_SCRIPT)
    # the end of the trainer ends the other one, too
    wait_until(
        lambda: NOTHING_TO_SERVE in {event.kind for event in run.records().events},
        what="the end of algo-2",
        limit_s=90,
    )
    (tmp_path / "go_on").touch()
    run.wait(90)

    assert len(run.records().steps["algo-1-rank0"]) == 20
    assert "trained" in run.logs("algo-1")
    assert "trained" not in run.logs("algo-2")
    assert "algo-2 has nothing to serve" in run.logs("algo-2")
    kinds = {(event.host, event.kind) for event in run.records().events}
    assert ("algo-2", NOTHING_TO_SERVE) in kinds


def test_kill_9_of_a_data_worker_costs_no_sample_and_is_told(
    start: Start, tmp_path: Path
) -> None:
    run = start(SESSION_SCRIPT, num_data_instances=2)
    steps = run.folder.records / "algo-1-rank0.sqlite"
    wait_until(
        lambda: (
            len(read_records(steps, StepRecord)[0]) == 2
            and data_workers_on(run, "algo-2")
            and data_workers_on(run, "algo-3")
        ),
        what="the third batch, and a data worker on each data instance",
        limit_s=90,
    )

    (worker,) = data_workers_on(run, "algo-2")
    os.kill(worker, signal.SIGKILL)
    (tmp_path / "go_on").touch()
    run.wait(90)

    said, records = seen_by(run), run.records()
    assert said["seen"] == said["orders"]
    assert len(records.steps["algo-1-rank0"]) == NUM_SAMPLES
    served = batches_by_server(records)
    assert set(served) <= {"algo-2", "algo-3"}
    assert sum(served.values()) == NUM_SAMPLES
    told = [event.message for event in records.events if event.kind == "data"]
    assert any(
        "data worker 0 on algo-2 ended by signal 9 (SIGKILL, often a lack of memory)" in message
        for message in told
    )
    assert processes_after(run.folder.path) == {}


def test_every_process_of_a_run_listens_on_loopback_only(start: Start) -> None:
    run = start(SESSION_SCRIPT, num_data_instances=2)
    wait_until(lambda: len(listening(run)) >= 2, what="two listening data servers", limit_s=90)

    addresses = listening(run)
    run.stop()

    assert {address.split(".")[0] for address in addresses} == {"127"}


def listening(run: Run) -> list[str]:
    """Return the addresses on which processes of a run listen."""
    pids = processes_of(run.folder.path)
    return [
        connection.laddr.ip
        for connection in psutil.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN and connection.pid in pids
    ]


def test_a_rotten_sample_fails_the_run_by_its_name(start: Start) -> None:
    run = start(PLAIN_SCRIPT, environment={"POISON": "7"})
    wait_until(lambda: run.state.is_terminal, what="the end of the run", limit_s=90)

    assert run.status == "Failed"
    reason = run.state.reason
    assert "algo-1 (dnn_group) exited with code 1" in reason
    assert "SampleError: Sample 7 could not be prepared on algo-2 (data worker 0)" in reason
    assert "ValueError: a rotten sample" in reason
    assert "(asked for at train.py, line " in reason
    log = run.logs("algo-1")
    assert 'raise ValueError("a rotten sample")' in log
    assert "runpy" not in log
    assert processes_after(run.folder.path) == {}
