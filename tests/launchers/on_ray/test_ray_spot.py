"""A spot job on Ray outlives its node: another one takes its place, and training goes on."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from smtc_lab.launchers.on_ray.nodes import GROUP
from smtc_lab.metrics.records.attempts import AttemptRecord
from smtc_lab.runtime.checkpoint import complete_steps
from smtc_lab.store.reader import read_records
from tests.kit.launch_sites.ray import RaySite
from tests.kit.runs import processes_of_job, stopped_at_the_end, wait_until
from tests.launchers.test_attempts import STEPS, TRAINING, steps_of, weights_of
from tests.launchers.test_kept_for_all import DDP_SCRIPT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]
    Start = Callable[..., Run]

SPOT = "spot_group=ml.g5.xlarge:1"
LABELS = {GROUP: "spot_group"}
SLOWLY = TRAINING.replace("time.sleep(0.02)", "time.sleep(0.1)")
LIMIT_S = 90.0


@pytest.fixture(scope="module")
def site() -> Iterator[RaySite]:
    with RaySite.opened() as opened:
        yield opened


@pytest.fixture
def start(site: RaySite, root: Path) -> Iterator[Start]:
    with stopped_at_the_end() as launch:
        yield lambda job: launch(site.launcher(root), job)


def kept_steps(run: Run) -> list[int]:
    folder = run.folder.opt_ml("algo-1") / "checkpoints" / "resume" / "rank0"
    return list(complete_steps(folder))


def check_nothing_is_left(run: Run) -> None:
    wait_until(lambda: not processes_of_job(run.job_name), what="the end of every process")
    left = Path(tempfile.gettempdir()).glob(f"smtc-ray-*/{run.job_name}")
    folders = list(left)
    wait_until(lambda: not any(map(Path.exists, folders)), what="the end of every folder")


@pytest.mark.timeout(400)
def test_another_node_takes_the_place_of_one_that_is_preempted(
    make_job: MakeJob, start: Start, site: RaySite
) -> None:
    limits = {"max_runtime_s": 300.0, "max_wait": 300.0}
    with site.added_node(0, LABELS):
        run = start(make_job(SLOWLY, cluster=SPOT, use_spot_instances=True, **limits))
        wait_until(
            lambda: max(kept_steps(run), default=0) >= 10, what="a checkpoint", limit_s=90
        )
        os.kill(site.raylet(run, "algo-1"), signal.SIGKILL)
        wait_until(lambda: run.state.secondary == "Interrupted", what="the loss", limit_s=60)
    assert run.status == "InProgress"
    before = steps_of(run)
    with site.added_node(1, LABELS):
        run.wait(LIMIT_S)
        whole = start(make_job(SLOWLY, cluster=SPOT))
        whole.wait(LIMIT_S)

    first, second = run.state.attempts
    assert "algo-1 (spot_group) on node" in first.interrupted_by
    assert "was lost" in first.interrupted_by
    assert run.state.waited_s > 0
    (steps,) = run.records().steps.values()
    assert [record.step for record in steps] == list(range(STEPS))
    ((gone_on,), _) = read_records(run.folder.rank_records("algo-1", 0), AttemptRecord)
    assert (gone_on.attempt, gone_on.first_step % 5) == (2, 0)
    assert 10 <= gone_on.first_step <= before
    assert second.interrupted_by == ""
    assert weights_of(run) == weights_of(whole)
    assert kept_steps(run) == [60, 55, 50]
    check_nothing_is_left(run)


@pytest.mark.soak
@pytest.mark.timeout(500)
def test_instances_are_taken_by_hand_and_a_wait_without_end_has_one(
    make_job: MakeJob, start: Start, site: RaySite
) -> None:
    limits = {"max_runtime_s": 60.0, "max_wait": 60.0}
    with site.added_node(0, LABELS):
        run = start(make_job(SLOWLY, cluster=SPOT, use_spot_instances=True, **limits))
        wait_until(
            lambda: max(kept_steps(run), default=0) >= 10, what="a checkpoint", limit_s=90
        )
        run.interrupt()
        wait_until(lambda: len(run.state.attempts) == 2, what="another attempt", limit_s=60)
        wait_until(lambda: max(kept_steps(run)) >= 20, what="a checkpoint", limit_s=60)
        os.kill(site.raylet(run, "algo-1"), signal.SIGKILL)
        state = run.wait(LIMIT_S).state

    assert (state.state, state.secondary) == ("Stopped", "MaxWaitTimeExceeded")
    first, second = state.attempts
    assert first.interrupted_by == "The instances were taken away, as somebody asked."
    assert "was lost" in second.interrupted_by
    check_nothing_is_left(run)
    with site.added_node(1, LABELS):
        run.resume(detach=False)
        run.wait(LIMIT_S)
    (steps,) = run.records().steps.values()
    assert [record.step for record in steps] == list(range(STEPS))
    assert run.status == "Completed"
    check_nothing_is_left(run)


@pytest.mark.soak
@pytest.mark.timeout(500)
def test_trainers_that_fail_as_they_lose_another_one_are_no_failure(
    make_job: MakeJob, start: Start, site: RaySite
) -> None:
    cluster = SPOT.replace(":1", ":2")
    job = make_job(SLOWLY, cluster=cluster, use_spot_instances=True, distribution={"data": 2})
    with site.added_node(0, LABELS), site.added_node(1, LABELS):
        run = start(job)
        wait_until(
            lambda: max(kept_steps(run), default=0) >= 10, what="a checkpoint", limit_s=90
        )
        os.kill(site.raylet(run, "algo-2"), signal.SIGKILL)
        wait_until(lambda: run.state.secondary == "Interrupted", what="loss", limit_s=90)
        with site.added_node(2, LABELS):
            run.wait(2 * LIMIT_S)

    (first, _) = run.state.attempts
    assert "algo-2 (spot_group) on node" in first.interrupted_by
    for steps in run.records().steps.values():
        assert [record.step for record in steps] == list(range(STEPS))
    assert len(run.records().steps) == 2
    check_nothing_is_left(run)


@pytest.mark.timeout(400)
def test_what_one_node_has_kept_is_there_on_all_nodes(
    make_job: MakeJob, start: Start, site: RaySite
) -> None:
    cluster = SPOT.replace(":1", ":2")
    job = make_job(
        DDP_SCRIPT, cluster=cluster, use_spot_instances=True, distribution={"data": 2}
    )
    with site.added_node(0, LABELS), site.added_node(1, LABELS):
        run = start(job)
        snapshot = run.folder.opt_ml("algo-1") / "checkpoints" / "snapshot.pt"
        wait_until(snapshot.exists, what="the first epoch", limit_s=90)
        run.interrupt().wait(2 * LIMIT_S)

    assert len(run.state.attempts) == 2
    for rank, host in enumerate(("algo-1", "algo-2")):
        (again,), _ = read_records(run.folder.rank_records(host, rank), AttemptRecord)
        assert again.first_step in {8, 16, 24}
        assert f"begins with epoch {again.first_step // 8}" in run.logs(host)
    check_nothing_is_left(run)
