"""Several trainers on each of two instances, tried on every launcher with real processes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.errors import RunFailedError
from tests.kit.launch_sites import SITES
from tests.kit.runs import processes_of_job, stopped_at_the_end, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob
    from tests.kit.launch_sites.site import Site

    MakeJob = Callable[..., TrainingJob]
    Start = Callable[..., Run]

CLUSTER = "train=ml.c5.9xlarge:2"
LIMIT_S = 240.0

SCRIPT = """
    import json, os, time
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(torch.nn.Linear(1, 1, bias=False))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(int(os.environ["STEPS"])):
        if step == 5 and rank == 3 and "FAILS" in os.environ:
            raise ValueError("rank 3 has no more")
        optimizer.zero_grad()
        model(torch.full((1, 1), float(rank))).mean().backward()
        optimizer.step()
    weight = next(model.parameters()).item()
    local = (os.environ["LOCAL_RANK"], os.environ["GROUP_RANK"])
    print("SAID", json.dumps([rank, *local, weight]), flush=True)
"""


@pytest.fixture(scope="module", params=SITES)
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    with request.param.opened() as opened:
        yield opened


@pytest.fixture
def start(site: Site, root: Path) -> Iterator[Start]:
    with stopped_at_the_end() as launch:
        yield lambda job: launch(site.launcher(root), job)


def job_of(make_job: MakeJob, **environment: str) -> TrainingJob:
    return make_job(
        SCRIPT,
        cluster=CLUSTER,
        distribution={"data": 4},
        environment={"STEPS": "20", **environment},
    )


def nothing_is_left(run: Run) -> bool:
    wait_until(lambda: not processes_of_job(run.job_name), what="the end of every process")
    return not processes_of_job(run.job_name)


def said(run: Run) -> list[Any]:
    lines = [line.partition("SAID ")[2] for line in run.logs().splitlines()]
    return sorted(json.loads(line) for line in lines if line)


def test_every_instance_has_its_trainers_and_all_train_one_model(
    make_job: MakeJob, start: Start
) -> None:
    run = start(job_of(make_job))

    assert run.wait(LIMIT_S).status == "Completed"

    ranks = said(run)
    assert [rank[:3] for rank in ranks] == [
        [0, "0", "0"],
        [1, "1", "0"],
        [2, "0", "1"],
        [3, "1", "1"],
    ]
    assert len({rank[3] for rank in ranks}) == 1
    assert set(run.records().steps) == {
        *("algo-1-rank0", "algo-1-rank1", "algo-2-rank2", "algo-2-rank3"),
    }
    assert nothing_is_left(run)


def test_the_rank_that_fails_is_named_and_not_its_victims(
    make_job: MakeJob, start: Start
) -> None:
    run = start(job_of(make_job, FAILS="1"))

    with pytest.raises(RunFailedError, match=r"algo-2 \(train\), rank 3, exited with code 1"):
        run.wait(LIMIT_S)
    assert "rank 3 has no more" in run.state.reason
    assert nothing_is_left(run)
