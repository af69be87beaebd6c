"""Several trainers on one instance of this machine: unmodified scripts, real processes."""

from __future__ import annotations

import ipaddress
import json
import os
import signal
import socket
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.errors import RunFailedError
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from tests.kit.runs import (
    log_of,
    processes_after,
    processes_of,
    stopped_at_the_end,
    wait_until,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.local.launcher import LocalLauncher
    from smtc_lab.launchers.run import Run

    MakeJob = Callable[..., TrainingJob]
    Start = Callable[..., Run]

SCRIPTS = Path(__file__).parents[1] / "scripts_of_others" / "scripts"
HERE = "here=local"
FED = "here=local:1:train,data_group=local:1:data"
LIMIT_S = 240.0

DDP_SCRIPT = """
    import json, os
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DataLoader, Dataset, DistributedSampler

    class Numbers(Dataset):
        def __len__(self):
            return 32
        def __getitem__(self, index):
            return torch.tensor([float(index)])

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    sampler = DistributedSampler(Numbers(), seed=3)
    loader = DataLoader(Numbers(), batch_size=2, sampler=sampler)
    model = DistributedDataParallel(torch.nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    seen = []
    for epoch in range(2):
        sampler.set_epoch(epoch)
        seen.append([])
        for batch in loader:
            seen[-1] += batch[:, 0].int().tolist()
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
    told = {name: value for name, value in os.environ.items() if "RANK" in name
            or name.endswith("WORLD_SIZE") or name.startswith(("MASTER", "TORCHELASTIC", "ROLE",
            "SMTC_DISTRIBUTION"))}
    weights = [parameter.item() for parameter in model.parameters()]
    said = {"rank": rank, "seen": seen, "weights": weights, "told": told}
    print("SAID", json.dumps(said), flush=True)
    dist.destroy_process_group()
    dist.init_process_group("gloo")  # and once more
    dist.barrier()
    dist.destroy_process_group()
"""

TRAIN_FOREVER = """
    import os, signal, time
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    dist.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for step in range(10_000_000):
        if step == 3:
            print("working", flush=True)
        if step == 5 and dist.get_rank() == 1:
            {event}
        optimizer.zero_grad()
        model(torch.ones(1, 1)).mean().backward()
        optimizer.step()
        time.sleep(0.01)
"""


def said(run: Run, host: str = "algo-1") -> dict[int, dict[str, Any]]:
    lines = [line for line in run.logs(host).splitlines() if line.startswith("SAID ")]
    found = [json.loads(line.removeprefix("SAID ")) for line in lines]
    return {each["rank"]: each for each in found}


def all_work(run: Run, num_trainers: int) -> bool:
    return run.logs().count("working") == num_trainers


def listening_addresses(pids: set[int]) -> set[str]:
    """Return the addresses on which processes listen, as the kernel tells them."""
    inodes = set()
    for pid in pids:
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            target = str(descriptor.readlink())
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
    found = set()
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in Path(f"/proc/net/{table}").read_text(encoding="utf-8").splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                packed = bytes.fromhex(fields[1].partition(":")[0])
                words = struct.unpack(f"<{len(packed) // 4}I", packed)
                network_order = struct.pack(f">{len(words)}I", *words)
                found.add(socket.inet_ntop(family, network_order))
    return found


@pytest.mark.parametrize(
    ("cluster", "num_trainers"), [(HERE, 2), (HERE, 4), (FED, 2), ("here=local:2", 4)]
)
def test_an_unmodified_ddp_script_sees_each_sample_once_over_its_ranks(
    make_job: MakeJob, start: Start, cluster: str, num_trainers: int
) -> None:
    run = start(make_job(DDP_SCRIPT, cluster=cluster, distribution={"data": num_trainers}))

    run.wait(LIMIT_S)

    ranks = {
        rank: one for host in run.job.cluster.hosts() for rank, one in said(run, host).items()
    }
    assert sorted(ranks) == list(range(num_trainers))
    for epoch in range(2):
        samples = [index for rank in ranks.values() for index in rank["seen"][epoch]]
        assert sorted(samples) == list(range(32))
    assert len({tuple(rank["weights"]) for rank in ranks.values()}) == 1
    records = run.records()
    assert len(records.steps) == num_trainers
    assert all(len(steps) == 32 // num_trainers for steps in records.steps.values())
    if "data" in cluster:
        servers = {it.server for loads in records.loader.values() for it in loads}
        assert servers == {"algo-2"}
    assert not run.folder.rendezvous.exists()
    assert processes_after(run.folder.path) == {}


def test_every_rank_is_told_what_torchrun_tells(make_job: MakeJob, start: Start) -> None:
    run = start(make_job(DDP_SCRIPT, cluster=HERE, distribution={"data": 1, "shard": 2}))

    run.wait(LIMIT_S)

    told = said(run)[1]["told"]
    assert {
        "RANK": "1",
        "LOCAL_RANK": "1",
        "WORLD_SIZE": "2",
        "LOCAL_WORLD_SIZE": "2",
        "GROUP_RANK": "0",
        "GROUP_WORLD_SIZE": "1",
        "ROLE_RANK": "1",
        "ROLE_NAME": "default",
        "ROLE_WORLD_SIZE": "2",
        "TORCHELASTIC_RUN_ID": run.job_name,
        "TORCHELASTIC_RESTART_COUNT": "0",
    }.items() <= told.items()
    layout = json.loads(told["SMTC_DISTRIBUTION"])
    assert {"data": 1, "shard": 2, "pipeline": 1}.items() <= layout.items()


def test_two_jobs_at_once_do_not_meet_each_other_and_listen_on_loopback_only(
    make_job: MakeJob, start: Start
) -> None:
    body = TRAIN_FOREVER.format(event="pass")
    runs = [start(make_job(body, cluster=HERE, distribution={"data": 2})) for _ in range(2)]
    for run in runs:
        wait_until(lambda run=run: all_work(run, 2), what="both ranks", limit_s=LIMIT_S)  # type: ignore[misc]

    addresses = listening_addresses(
        {pid for run in runs for pid in processes_of(run.folder.path)}
    )

    assert addresses
    assert all(ipaddress.ip_address(address).is_loopback for address in addresses)
    assert runs[0].folder.rendezvous.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "rank 1, was killed by signal 9"),
        ("raise ValueError('sample 17')", "rank 1, exited with code 1. ValueError: sample 17"),
        ("raise SystemExit(3)", "rank 1, exited with code 3"),
    ],
)
def test_the_rank_that_failed_first_is_named_and_ends_the_others(
    make_job: MakeJob, start: Start, event: str, words: str
) -> None:
    body = TRAIN_FOREVER.format(event=event)
    run = start(make_job(body, cluster="here=local:2", distribution={"data": 4}))

    with pytest.raises(RunFailedError) as failed:
        run.wait(LIMIT_S)

    assert f"algo-1 (here), {words}" in str(failed.value)
    assert "closed by peer" not in str(failed.value)
    assert processes_after(run.folder.path) == {}


def test_kill_9_of_an_agent_ends_every_rank(make_job: MakeJob, start: Start) -> None:
    body = TRAIN_FOREVER.format(event="pass")
    run = start(make_job(body, cluster="here=local:2", distribution={"data": 4}))
    wait_until(lambda: all_work(run, 4), what="four ranks", limit_s=LIMIT_S)
    (agent,) = (
        pid for pid in processes_of(run.folder.path) if log_of(pid) == "algo-2.agent.log"
    )

    os.kill(agent, signal.SIGKILL)

    with pytest.raises(RunFailedError, match=r"The agent of algo-2 \(here\) was killed"):
        run.wait(LIMIT_S)
    assert processes_after(run.folder.path) == {}


@pytest.mark.parametrize("event", ["time.sleep(3600)", "os.kill(os.getpid(), signal.SIGSTOP)"])
def test_a_rank_that_hangs_is_named_with_the_stacks_of_all(
    make_job: MakeJob, start: Start, event: str
) -> None:
    run = start(
        make_job(
            TRAIN_FOREVER.format(event=event),
            cluster=HERE,
            distribution={"data": 2},
            environment={"TRAINERS_HUNG_AFTER_S": "3"},
        )
    )

    with pytest.raises(
        RunFailedError, match=r"Rank 1 on algo-1 \(here\) hangs: no trainer"
    ) as told:
        run.wait(LIMIT_S)

    # one that was stopped writes no stack
    assert ("hangs in <module> (train.py, line" in str(told.value)) is ("sleep" in event)
    assert "runpy" not in str(told.value)
    waiting = run.folder.log_file("algo-1", 0).read_text(encoding="utf-8")
    assert "Current thread" in waiting
    assert processes_after(run.folder.path) == {}


def test_a_pause_in_which_a_rank_computes_is_no_hang(make_job: MakeJob, start: Start) -> None:
    event = """until = time.monotonic() + 8
            while time.monotonic() < until:
                pass
            raise SystemExit(4)"""
    run = start(
        make_job(
            TRAIN_FOREVER.format(event=event),
            cluster=HERE,
            distribution={"data": 2},
            environment={"TRAINERS_HUNG_AFTER_S": "2"},
        )
    )

    with pytest.raises(RunFailedError, match="rank 1, exited with code 4"):
        run.wait(LIMIT_S)


def test_a_rank_that_takes_fewer_steps_than_another_is_named(
    make_job: MakeJob, start: Start
) -> None:
    body = """
        import torch
        import torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel

        dist.init_process_group("gloo")
        model = DistributedDataParallel(torch.nn.Linear(1, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
        for step in range(3 + 2 * dist.get_rank()):
            optimizer.zero_grad()
            model(torch.ones(1, 1)).mean().backward()
            optimizer.step()
    """
    run = start(make_job(body, cluster=HERE, distribution={"data": 2}))

    with pytest.raises(RunFailedError, match="rank 1") as failure:
        run.wait(LIMIT_S)

    told = "Rank 0 had ended well after 3 steps when rank 1 went on after its 3: trainers wait"
    assert told in str(failure.value)


@pytest.mark.parametrize("name", ["accelerate_loop", "hugging_face_trainer"])
def test_scripts_of_others_join_their_group_as_under_torchrun(
    launcher: LocalLauncher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    job = TrainingJob(
        entry_point=str(SCRIPTS / f"{name}.py"),
        cluster=Cluster.parse(HERE),
        distribution={"data": 2},
    )
    with stopped_at_the_end() as launch:
        run = launch(launcher, job).wait(LIMIT_S)
        records = run.records()

    assert set(records.steps) == {"algo-1-rank0", "algo-1-rank1"}
    assert len({len(steps) for steps in records.steps.values()}) == 1
    assert not [it.message for it in records.events if "the same model" in it.message]
