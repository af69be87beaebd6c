"""Real launches of trainers that train one process's model, and of some that do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import SpecError
from smtc_lab.launchers.run import launcher_named
from smtc_lab.study.folder import studies_root
from smtc_lab.study.scaling.same_model import SameModelLaunches, check_parity
from smtc_lab.study.watched_run import LaunchWatch
from smtc_lab.views.kinds import kind_named
from smtc_lab.views.run_list import run_rows
from tests.kit.prepared_script import PREPARED_SCRIPT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launchers.launcher import Launcher
    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.study.watched_run import Progress

    MakeJob = Callable[..., TrainingJob]

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


SHARED = """
    import json
    import os
    import torch
    from torch import nn
    import smtc_lab

    session = smtc_lab.Session()
    given = json.loads(os.environ["SM_HPS"])
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 32), nn.Dropout(0.5), nn.GELU(),
        nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 4))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    model, optimizer = session.prepare(model, optimizer)
    scale = given.get("factor", 1) if session.world_size > 1 else 1
    values = torch.randn(256, 8, generator=torch.Generator().manual_seed(1))
    data = torch.utils.data.TensorDataset(values, values[:, :4].sin())
    loader = session.dataloader(
        data, batch_size=given["batch_size"], shuffle=True, num_workers=0)

    def loss_of(outputs, targets):
        return scale * nn.functional.mse_loss(outputs, targets)

    for inputs, targets in session.steps(loader):
        optimizer.zero_grad()
        session.step(inputs, targets, loss_of)
        optimizer.step()
"""

IN_PARTS: dict[str, dict[str, int]] = {
    "stages": {"pipeline": 2, "microbatches": 4},
    "stages, replicas": {"pipeline": 2, "data": 2, "microbatches": 2},
    "stages, shards": {"pipeline": 2, "shard": 2, "microbatches": 2},
    "parts of layers": {"tensor": 2},
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
        jobs.append(labelled(job_of(make_job, PREPARED_SCRIPT, layout), label, 32 // ranks))
    watch = LaunchWatch(launches=0, progress=None)
    check = SameModelLaunches(tuple(jobs), batch="batch_size", catalog=Catalog.load())

    found, problems = check(launcher=launcher, watch=watch)

    assert not problems
    assert {label: each.equal for label, each in found.items()} == dict.fromkeys(LAYOUTS, True)
    assert [each.ranks for each in found.values()] == [2, 4, 2, 4, 4]
    assert all(each.steps == 8 and each.noise_weight_difference for each in found.values())
    assert watch.launches == watch.begun == len(LAYOUTS) + 2, "they share one process's"
    assert not list(root.rglob("parity-rank*")), "a trace holds the whole model"


@pytest.mark.timeout(600)
def test_stages_and_parts_of_layers_train_the_model_of_one_process(
    make_job: MakeJob, launcher: Launcher
) -> None:
    jobs = []
    for label, layout in IN_PARTS.items():
        batches = layout.get("data", 1) * layout.get("shard", 1)
        jobs.append(labelled(job_of(make_job, SHARED, layout), label, 16 // batches))
    wrong = job_of(make_job, SHARED, IN_PARTS["stages"], factor=2)
    jobs.append(labelled(wrong, "wrong", 16))
    watch = LaunchWatch(launches=0, progress=None)
    check = SameModelLaunches(tuple(jobs), batch="batch_size", catalog=Catalog.load())

    found, problems = check(launcher=launcher, watch=watch)

    assert not problems
    assert {label: each.equal for label, each in found.items()} == {
        **dict.fromkeys(IN_PARTS, True),
        "wrong": False,
    }
    assert "their first loss already differs by 1" in found["wrong"].verdict
    assert all(each.rank_difference is None for each in found.values())
    assert watch.launches == watch.begun == len(jobs) + 2


@pytest.mark.timeout(300)
def test_an_unmodified_script_trains_the_model_of_one_process(
    make_job: MakeJob, root: Path
) -> None:
    told: list[Progress] = []

    found = check_parity(
        job_of(make_job, UNMODIFIED, {"data": 2}), root=root, steps=4, progress=told.append
    )

    assert found.equal is True, found.verdict
    assert {(each.launches, each.max_steps) for each in told} == {(3, 4)}
    assert {each.launch for each in told} == {1, 2, 3}
    study, *launches = run_rows(root, last=9)
    assert (study["kind"], study["state"], study["launches"]) == ("parity", "Completed", 3)
    assert [each["study"] for each in launches] == [study["job_name"]] * 3
    kind = kind_named("parity")
    text = kind.text(kind.see(studies_root(root) / study["job_name"]))
    assert f"{found.verdict}." in text
    assert "trains the model of one process: yes" in text


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("script", "values", "said"),
    [
        (UNMODIFIED, {"alone": 1}, "the trainers hold models"),
        (PREPARED_SCRIPT, {"batch_norm": True}, "their first loss already differs"),
    ],
    ids=["nothing is reduced", "batch norm of each"],
)
def test_another_model_is_told(
    make_job: MakeJob, root: Path, script: str, values: dict[str, int], said: str
) -> None:
    found = check_parity(job_of(make_job, script, {"data": 2}, **values), root=root, steps=4)

    assert found.equal is False, found.verdict
    assert said in found.verdict


def test_a_launch_that_fails_is_no_verdict(make_job: MakeJob, root: Path) -> None:
    job = job_of(make_job, "raise SystemExit('no data')", {"data": 2})

    found = check_parity(job, root=root)

    assert found.equal is None
    assert found.verdict.startswith("not judged: the launch of one process ended as Failed")
    assert "--log" in found.verdict


def test_what_cannot_be_checked_is_refused_before_anything_starts(
    make_job: MakeJob, root: Path
) -> None:
    with pytest.raises(SpecError, match="has one trainer, so there is nothing to compare"):
        check_parity(job_of(make_job, "pass", {"data": 1}), root=root)
    job = make_job("pass", cluster="here=local:1", distribution={"data": 2})
    with pytest.raises(SpecError, match="hyperparameter 'batch_size' is not given"):
        check_parity(job, root=root)
    with pytest.raises(SpecError, match="steps=0"):
        check_parity(job, root=root, steps=0)
    assert not root.exists()
