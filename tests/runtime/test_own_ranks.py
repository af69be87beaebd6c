"""A script of one trainer that starts its ranks itself: the first one's steps are its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.metrics.records.records import LOADER_KEPT

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob

    RunScript = Callable[..., Any]
    MakeJob = Callable[..., TrainingJob]
    Start = Callable[..., Run]

LIMIT_S = 90.0
LONE = {"SMTC_LONE_TRAINER": "1", "GLOO_SOCKET_IFNAME": "lo"}

RANKS = """
    import socket, sys
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp
    from torch.utils.data import DataLoader, TensorDataset
    from torch.utils.data.distributed import DistributedSampler

    def train(rank, epochs, model=None):
        torch.manual_seed(0)
        data = TensorDataset(torch.randn(32, 4), torch.randn(32, 1))
        sampler = DistributedSampler(data, num_replicas=2, rank=rank)
        model = model or torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        for epoch in range(epochs):
            for x, y in DataLoader(data, batch_size=4, sampler=sampler):
                loss = torch.nn.functional.mse_loss(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        if rank == 0:
            print("RESULT", loss.item(), flush=True)

    def in_a_session(rank):
        import smtc_lab
        session = smtc_lab.Session()
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)
        for _ in session.steps(DataLoader(list(range(12)), batch_size=2)):
            optimizer.step()
            session.log(rank=rank)
            smtc_lab.log({"own/rank": rank})

    def keep_together(rank, port):
        import smtc_lab
        dist.init_process_group(
            "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
        smtc_lab.Session().checkpoint(model=torch.nn.Linear(1, 1))

    def train_together(rank, port, epochs):
        global model  # with it ends gloo, which may wait for itself (a race of torch's)
        address = f"tcp://127.0.0.1:{port}"
        dist.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
        train(rank, epochs, model)
        dist.destroy_process_group()

    def step(rank=0, steps=1):
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)
        for _ in range(steps):
            optimizer.step()

    def fail(rank):
        raise ValueError(f"no {rank}")

    def free_port():
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            return free.getsockname()[1]
"""


def script(end: str) -> str:
    return f"{RANKS}\n    if __name__ == '__main__':\n        {end}\n"


def warnings(ended: Any) -> list[str]:
    return [event.message for event in ended.events if event.kind == "warning"]


def test_steps_of_the_first_of_its_forked_ranks_are_recorded(run_warm: RunScript) -> None:
    run = "mp.start_processes(train, (2,), 2, start_method='fork')"

    ended = run_warm(script(run), **LONE)

    assert [step.step for step in ended.steps] == list(range(8))
    assert {step.num_samples for step in ended.steps} == {4}
    assert ended.printed.count("RESULT") == 1
    assert warnings(ended) == []


def test_what_a_rank_raises_arrives_as_torch_tells_it(run_warm: RunScript) -> None:
    run = "mp.start_processes(fail, nprocs=1, start_method='fork')"

    ended = run_warm(script(run), code=1, **LONE)

    assert ended.failure.startswith("ProcessRaisedException")
    assert "-- Process 0 terminated with the following error:" in ended.errors
    assert "ValueError: no 0" in ended.errors


def test_ranks_of_the_scripts_own_keep_no_checkpoint_and_are_told_what_does(
    run_warm: RunScript,
) -> None:
    run = "mp.start_processes(keep_together, (free_port(),), 2, start_method='fork')"

    ended = run_warm(script(run), code=1, **LONE)

    assert "The script has started 2 ranks by itself, where the job has 1" in ended.errors
    assert 'Let the job start them (distribution={"data": 2})' in ended.errors


def test_ranks_that_take_no_step_leave_the_scripts_own_to_be_counted(
    run_warm: RunScript,
) -> None:
    run = "mp.start_processes(print, nprocs=2, start_method='fork'); step(steps=3)"

    ended = run_warm(script(run), **LONE)

    assert [step.step for step in ended.steps] == [0, 1, 2]
    assert warnings(ended) == []


@pytest.mark.parametrize(
    ("run", "steps", "who"),
    [
        ("step(steps=3); ranks((2,))", 3, "the script itself"),
        ("ranks((2,)); step(steps=3)", 2, "ranks that it started"),
        ("ranks((2,)); ranks((3,))", 2, "ranks that it started"),
    ],
)
def test_steps_are_those_of_who_took_the_first_one_and_others_are_told(
    run_warm: RunScript, run: str, steps: int, who: str
) -> None:
    ranks = "ranks = lambda args: mp.start_processes(step, args, 1, start_method='fork')"

    ended = run_warm(script(f"{ranks}; {run}"), **LONE)

    assert [step.step for step in ended.steps] == list(range(steps))
    (told,) = warnings(ended)
    assert f"not counted: {who} had taken some before" in told


def test_forked_ranks_end_with_the_jobs_last_step(run_warm: RunScript) -> None:
    run = "mp.start_processes(train, (2,), 2, start_method='fork'); print('on')"

    ended = run_warm(script(run), SMTC_MAX_STEPS="3", **LONE)

    assert len(ended.steps) == 3
    assert ended.printed == "on\n"


@pytest.mark.parametrize("max_steps", [None, 3])
def test_spawned_ranks_are_counted_and_end_with_the_jobs_last_step(
    make_job: MakeJob, start: Start, max_steps: int | None
) -> None:
    job = make_job(
        script("mp.spawn(train_together, (free_port(), 2), 2)"),
        cluster="train=local:1:train,data=local:1:data",
        max_steps=max_steps,
    )

    run = start(job).wait(LIMIT_S)

    records = run.records()
    assert run.status == "Completed"
    assert not run.folder.failure_file("algo-1").exists()  # of ranks that lost their first
    assert [step.step for step in records.steps["algo-1-rank0"]] == list(range(max_steps or 8))
    assert ("RESULT" in run.logs("algo-1")) is (max_steps is None)
    (kept,) = [event for event in records.events if event.kind == LOADER_KEPT]
    assert 'distribution={"data": 2}' in kept.message


def test_a_spawned_rank_beside_the_first_records_nothing(
    make_job: MakeJob, start: Start
) -> None:
    job = make_job(script("mp.spawn(in_a_session, nprocs=2)"), cluster="train=local:1")

    run = start(job).wait(LIMIT_S)

    assert run.status == "Completed"
    assert [step.step for step in run.records().steps["algo-1-rank0"]] == list(range(6))
    logged = run.metrics()
    assert {name: set(logged[name].value) for name in logged.names} == {
        "rank": {0.0},
        "own/rank": {0.0},
    }
