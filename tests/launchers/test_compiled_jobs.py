"""Whole jobs: compiled trainers that a data group feeds, and that exchange gradients."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
import torch
from torch import nn

from tests.twins import SLACK, distance, no_toss, twins

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launchers.run import Run
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.spec.job import TrainingJob
    from tests.twins import Result, Toss

    MakeJob = Callable[..., TrainingJob]
    Start = Callable[..., Run]

pytestmark = pytest.mark.timeout(300)

NUM_STEPS = 4

SCRIPT = """
    import os, torch
    import smtc_lab as lab
    from torch import distributed, nn

    class Samples(torch.utils.data.Dataset):
        def __len__(self):
            return 16

        def __getitem__(self, index):
            assert os.environ["SM_CURRENT_INSTANCE_GROUP"] == "b"
            return torch.linspace(-1, 1, 6) * (index + 1) / 8

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(6, 1, bias=False)

        def forward(self, x):
            return self.linear(torch.tanh(x))

    def train_step(model, optimizer, batch):
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    session = lab.Session()
    torch.manual_seed(1)
    model, sampler = Net(), None
    if session.world_size > 1 and session.role == "train":
        # One kernel, and no more has this model, is compiled sooner than the headers of many.
        torch._inductor.config.cpp_cache_precompile_headers = False
        distributed.init_process_group("gloo")
        model = nn.parallel.DistributedDataParallel(model)
        sampler = torch.utils.data.DistributedSampler(Samples(), shuffle=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    step = session.compile(train_step, model, optimizer)
    batch_size = 4 // session.world_size
    loader = session.dataloader(Samples(), batch_size=batch_size, sampler=sampler)
    for batch in session.steps(loader):
        print("loss", step(batch).item())
    if sampler is not None:
        distributed.destroy_process_group()
"""


@pytest.fixture
def run(
    make_job: MakeJob, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Run]:
    """Return a function that runs the script, under a compiler and with a data group."""
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))
    quick = {
        "OMP_NUM_THREADS": "1",
        "TORCHINDUCTOR_VEC_ISA_OK": "1",
        "XLA_FLAGS": "--xla_backend_optimization_level=0",
    }

    def to_its_end(*, trainers: int, backend: str) -> Run:
        job = make_job(
            SCRIPT,
            cluster=f"a=local:{trainers}:train,b=local:1:data",
            compiler_config={"backend": backend},
            environment=quick,
            num_loader_workers=0,
            num_data_workers=1,
        )
        return start(job).wait(240)

    return to_its_end


def learned_eagerly(toss: Toss, *, trainers: int) -> Result:
    """Return the losses of each trainer, without any of our parts."""
    torch.manual_seed(1)
    model = nn.Linear(6, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    samples = torch.linspace(-1, 1, 6) * torch.arange(1, 17)[:, None] / 8
    losses: Result = {}
    for step, four in enumerate(samples.split(4)):
        toss(model)
        optimizer.zero_grad()
        parts = [
            model(torch.tanh(four[rank::trainers])).square().mean() for rank in range(trainers)
        ]
        torch.stack(parts).mean().backward()
        optimizer.step()
        losses |= {f"rank {rank} step {step}": it.detach() for rank, it in enumerate(parts)}
    return losses


def test_compiled_trainers_that_a_data_group_feeds_learn_together_as_eagerly(
    run: Callable[..., Run],
) -> None:
    ended = run(trainers=2, backend="inductor")

    check(ended, trainers=2, backend="inductor")


@pytest.mark.usefixtures("xla_environment")
def test_a_trainer_on_xla_that_a_data_group_feeds_learns_as_eagerly(
    run: Callable[..., Run],
) -> None:
    ended = run(trainers=1, backend="xla")

    check(ended, trainers=1, backend="xla")


def check(run: Run, *, trainers: int, backend: str) -> None:
    records, seen = run.records(), {}
    for rank in range(trainers):
        host = f"algo-{rank + 1}"
        printed = [line.split() for line in run.logs(host).splitlines()]
        losses = [float(words[-1]) for words in printed if "loss" in words]
        seen |= {f"rank {rank} step {step}": torch.tensor(it) for step, it in enumerate(losses)}
        report = records.compiler[f"{host}-rank{rank}"]
        assert (report.backend, report.fell_back_because, report.graphs) == (backend, None, 1)
        assert batches_by_server(records, rank) == {f"algo-{trainers + 1}": NUM_STEPS}
    eagerly = partial(learned_eagerly, trainers=trainers)
    assert distance(seen, eagerly(no_toss), twins(eagerly)) <= SLACK


def batches_by_server(records: RunRecords, rank: int) -> dict[str, int]:
    found: dict[str, int] = {}
    for record in records.loader[f"algo-{rank + 1}-rank{rank}"]:
        found[record.server] = found.get(record.server, 0) + record.batches
    return found
