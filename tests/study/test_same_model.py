"""Real launches of trainers that train one process's model, and of some that do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import SpecError
from smtc_lab.launchers.run import launcher_named
from smtc_lab.study.scaling.same_model import SameModelLaunches, check_parity
from smtc_lab.study.watched_run import LaunchWatch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launchers.launcher import Launcher
    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]

SCRIPT = """\
import torch
from torch import nn
import smtc_lab

session = smtc_lab.Session()
torch.manual_seed(0)
data = torch.utils.data.TensorDataset(torch.randn(400, 8))
loader = session.dataloader(
    data, batch_size=session.hyperparameter("batch_size", 8), shuffle=True, num_workers=0
)
inner = [nn.BatchNorm1d(32)] if session.hyperparameter("batch_norm", False) else []
blocks = [nn.Sequential(nn.Linear(32, 32), nn.GELU(), nn.Dropout(0.3)) for _ in range(3)]
model = nn.Sequential(nn.Linear(8, 32), *inner, nn.Sequential(*blocks), nn.Linear(32, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model, optimizer = session.prepare(model, optimizer)
for (values,) in session.steps(loader):
    loss = (model(values) - values[:, :4].sin()).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

UNMODIFIED = """\
import argparse
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int)
parser.add_argument("--alone", type=int, default=0)
options = parser.parse_args()
dist.init_process_group("gloo")
torch.manual_seed(0)
data = TensorDataset(torch.randn(400, 8))
loader = DataLoader(data, batch_size=options.batch_size, sampler=DistributedSampler(data))
model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 4))
if not options.alone:
    model = DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for (values,) in loader:
    loss = (model(values) - values[:, :4].sin()).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def job_of(
    make_job: MakeJob, script: str, layout: dict[str, int], **values: int
) -> TrainingJob:
    return make_job(
        script,
        cluster="here=local:1",
        distribution=layout,
        hyperparameters={"batch_size": 8, **values},
    )


LAYOUTS = {
    "ddp 2": {"data": 2},
    "ddp 4": {"data": 4},
    "fsdp 2": {"data": 1, "shard": 2},
    "fsdp 4": {"data": 1, "shard": 4},
    "hsdp 2x2": {"data": 2, "shard": 2},
}


@pytest.fixture
def launcher(root: Path) -> Launcher:
    return launcher_named("local", root=root, catalog=Catalog.load())


def labelled(job: TrainingJob, label: str, batch_size: int) -> TrainingJob:
    cluster = job.cluster.model_copy(update={"name": label})
    values = {**job.hyperparameters, "batch_size": batch_size}
    return job.model_copy(update={"cluster": cluster, "hyperparameters": values})


@pytest.mark.timeout(600)
def test_every_layout_trains_the_model_of_one_process(
    make_job: MakeJob, root: Path, launcher: Launcher
) -> None:
    jobs = []
    for label, layout in LAYOUTS.items():
        ranks = layout["data"] * layout.get("shard", 1)
        jobs.append(labelled(job_of(make_job, SCRIPT, layout), label, 32 // ranks))
    watch = LaunchWatch(launches=0, progress=None)
    check = SameModelLaunches(tuple(jobs), batch="batch_size", catalog=Catalog.load())

    found, problems = check(launcher=launcher, watch=watch)

    assert not problems
    assert {label: each.same for label, each in found.items()} == dict.fromkeys(LAYOUTS, True)
    assert [each.ranks for each in found.values()] == [2, 4, 2, 4, 4]
    assert all(each.steps == 8 and each.twin_weight_difference for each in found.values())
    assert watch.launches == watch.begun == len(LAYOUTS) + 2, "they share one process's"
    assert not list(root.rglob("parity-rank*")), "a trace holds the whole model"


@pytest.mark.timeout(300)
def test_an_unmodified_script_trains_the_model_of_one_process(
    make_job: MakeJob, root: Path
) -> None:
    found = check_parity(job_of(make_job, UNMODIFIED, {"data": 2}), root=root, steps=4)

    assert found.same is True, found.verdict


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("script", "values", "said"),
    [
        (UNMODIFIED, {"alone": 1}, "the trainers hold models"),
        (SCRIPT, {"batch_norm": True}, "their first loss already differs"),
    ],
    ids=["nothing is reduced", "batch norm of each"],
)
def test_another_model_is_told(
    make_job: MakeJob, root: Path, script: str, values: dict[str, int], said: str
) -> None:
    found = check_parity(job_of(make_job, script, {"data": 2}, **values), root=root, steps=4)

    assert found.same is False, found.verdict
    assert said in found.verdict


def test_a_launch_that_fails_is_no_verdict(make_job: MakeJob, root: Path) -> None:
    job = job_of(make_job, "raise SystemExit('no data')", {"data": 2})

    found = check_parity(job, root=root)

    assert found.same is None
    assert found.verdict.startswith("not judged: the launch of one process ended as Failed")
    assert "--log" in found.verdict


def test_what_cannot_be_checked_is_refused_before_anything_starts(
    make_job: MakeJob, root: Path
) -> None:
    with pytest.raises(SpecError, match="has 1 trainer, so there is nothing to compare"):
        check_parity(job_of(make_job, "pass", {"data": 1}), root=root)
    job = make_job("pass", cluster="here=local:1", distribution={"data": 2})
    with pytest.raises(SpecError, match="hyperparameter 'batch_size' is None"):
        check_parity(job, root=root)
    with pytest.raises(SpecError, match="steps=0"):
        check_parity(job, root=root, steps=0)
    assert not root.exists()
