"""Real runs of a trainer with data instances: each sample of an epoch, once, in order."""

from __future__ import annotations

import json
import os
import signal
import socket
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from smtc_lab.launchers.local.launcher import LocalLauncher
from smtc_lab.launchers.run import Run
from smtc_lab.machine.processes import descendants
from smtc_lab.metrics.records.records import LOADER_KEPT, NOTHING_TO_SERVE, StepRecord
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

# It fails where it runs a second time: in one folder, on one port, without a GPU or a rank.
ONCE_SCRIPT = """
    import os, socket
    from pathlib import Path

    rank = os.environ["LOCAL_RANK"]
    Path("out").mkdir()
    metrics = socket.create_server(("127.0.0.1", int(os.environ["METRICS_PORT"])))
    with open("hosts", "a") as hosts_file:
        hosts_file.write(os.environ["SM_CURRENT_HOST"])

    import torch
    from torch.utils.data import DataLoader

    if os.environ["SM_CURRENT_HOST"] == "algo-1":  # it has a GPU, as far as torch can tell
        torch.cuda.set_device = lambda device: None
        torch.nn.Module.cuda = torch.Tensor.cuda = lambda self: self

    class Hosts(torch.utils.data.Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return torch.ones(1), os.environ["SM_CURRENT_HOST"], os.environ["LOCAL_RANK"]

    torch.cuda.set_device(int(rank))
    model = torch.nn.Linear(1, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    served = set()
    for batch, *told in DataLoader(Hosts(), batch_size=2):
        served.update(zip(*told))
        model(batch.cuda()).sum().backward()
        optimizer.step()
    print("RESULT", Path("hosts").read_text(), served, flush=True)
"""

# The dataset's class is the script's own, and that of a module all the same.
ITSELF_SCRIPT = """
    import os
    import torch

    class Hosts(torch.utils.data.Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return __name__, os.environ["SM_CURRENT_HOST"]

    if __name__ == "__main__":
        import train

        for dataset in (Hosts(), train.Hosts()):
            (batch,) = torch.utils.data.DataLoader(dataset, batch_size=8)
            print("RESULT", *(set(told) for told in batch), flush=True)
"""

# An open file cannot be sent, and is right where torch has it: in this process.
OPEN_FILE_SCRIPT = """
    import torch

    class Lines(torch.utils.data.Dataset):
        def __init__(self):
            self.file = open(__file__, "rb")

        def __len__(self):
            return 4

        def __getitem__(self, index):
            return self.file.readline()

    for epoch in range(2):
        print("RESULT", [len(batch) for batch in torch.utils.data.DataLoader(Lines())])
"""

# A script with batches of its own: nothing can be served.
NO_LOADER_SCRIPT = """
    import torch

    weight = torch.nn.Parameter(torch.ones(2))
    for step in range(20):
        weight.sum().backward()
        weight.data.add_(weight.grad, alpha=-0.1)
    print("trained", flush=True)
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
        whole = textwrap.dedent(body)
        if "Ids()" in whole:
            whole = textwrap.dedent(DATASET) + whole
        script.write_text(whole, encoding="utf-8")
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
    """Return the data workers of a host: what children of its entry point have forked."""
    servers = [
        pid
        for pid in processes_of(run.folder.path)
        if log_of(pid) == f"{host}.log" and log_of(parent_of(pid)) == f"{host}.agent.log"
    ]
    below = [pid for server in servers for pid in descendants(server)]
    return [pid for pid in below if parent_of(pid) in below]


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
    served = "smtc-lab: algo-3 serves each dataloader of the trainers with 1 data worker"
    assert run.logs("algo-3") == served
    assert set(records.system) == {"algo-1", "algo-2", "algo-3"}


def test_a_script_that_would_fail_when_run_twice_is_fed_and_runs_once(
    start: Start, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    run = start(
        ONCE_SCRIPT, distribution={"data": 1}, environment={"METRICS_PORT": str(port)}
    ).wait(90)

    assert "RESULT algo-1 {('algo-2', '0')}" in run.logs("algo-1")
    assert "RESULT" not in run.logs("algo-2")
    assert (tmp_path / "hosts").read_text(encoding="utf-8") == "algo-1"
    assert len(run.records().steps["algo-1-rank0"]) == 4


def test_a_script_that_is_its_own_module_is_fed(start: Start) -> None:
    run = start(ITSELF_SCRIPT).wait(90)

    assert run.logs("algo-1").splitlines() == [
        "RESULT {'__main__'} {'algo-2'}",
        "RESULT {'train'} {'algo-2'}",
    ]


def test_a_loader_that_cannot_be_sent_stays_with_its_trainer_which_says_so_once(
    start: Start,
) -> None:
    run = start(OPEN_FILE_SCRIPT).wait(90)

    assert run.logs("algo-1").count("RESULT [1, 1, 1, 1]") == 2
    records = run.records()
    assert batches_by_server(records) == {"local": 8}
    (told,) = [event.message for event in records.events if event.kind == LOADER_KEPT]
    assert "over Lines cannot be sent" in told
    assert "dataset.file (BufferedReader): cannot pickle" in told
    assert run.logs("algo-1").count(told) == 1


@pytest.mark.parametrize("max_steps", [None, 5])
def test_a_script_that_iterates_over_no_dataloader_trains_and_says_so_once(
    start: Start, max_steps: int | None
) -> None:
    run = start(NO_LOADER_SCRIPT, max_steps=max_steps).wait(90)

    records = run.records()
    assert len(records.steps["algo-1-rank0"]) == (max_steps or 20)
    said = "algo-2 had nothing to serve: the script iterated over no dataloader."
    told = [event for event in records.events if event.kind == NOTHING_TO_SERVE]
    assert [(event.host, event.message) for event in told] == [("algo-1", said)]
    assert run.logs("algo-1").count(said) == 1
    assert ("trained" in run.logs("algo-1")) == (max_steps is None)


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
