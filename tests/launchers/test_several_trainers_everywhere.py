"""Several trainers on each of two instances, tried on every launcher with real processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import RunFailedError
from tests.kit.joined_script import JOINED_SCRIPT, said_by_ranks
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
        JOINED_SCRIPT,
        cluster=CLUSTER,
        distribution={"data": 4},
        environment={"STEPS": "20", **environment},
    )


def nothing_is_left(run: Run) -> bool:
    wait_until(lambda: not processes_of_job(run.job_name), what="the end of every process")
    return not processes_of_job(run.job_name)


def test_every_instance_has_its_trainers_and_all_train_one_model(
    make_job: MakeJob, start: Start
) -> None:
    run = start(job_of(make_job))

    assert run.wait(LIMIT_S).status == "Completed"

    ranks = said_by_ranks(run.logs())
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
