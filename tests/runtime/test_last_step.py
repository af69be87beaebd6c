"""After the job's last step: what a script does then does not count, and it has to end."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.instance.plan import LEAVE_S
from smtc_lab.runtime.entry_point import over_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob

    RunScript = Callable[..., Any]
    MakeJob = Callable[..., TrainingJob]
    Start = Callable[..., Run]

LIMIT_S = 90.0

LOOP = """
    import os, signal, sys, threading, time
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(torch.ones(64, 2)), batch_size=4)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train():
        for (batch,) in loader:
            model(batch).sum().backward()
            optimizer.step()
"""
SWALLOWS = f"""{LOOP}
    for ask in (train, lambda: next(iter(loader)), optimizer.step):
        try:
            ask()
        except BaseException as error:
            print("swallowed", type(error).__name__)
"""
GOES_ON = f"""{LOOP}
    while True:
        try:
            train()
        except:
            time.sleep(0.01)
"""
IN_A_THREAD = f"""{LOOP}
    threading.Thread(target=train, daemon=True).start()
    threading.Event().wait()
"""
TWO = f"""{LOOP}
    torch.distributed.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(model)
    while True:
        try:
            train()
        except:
            if torch.distributed.get_rank() == 1:
                raise ValueError("an end of its own")
            time.sleep(0.01)
"""


def test_one_that_swallows_its_end_is_ended_at_each_further_batch_and_step(
    run_warm: RunScript,
) -> None:
    ended = run_warm(SWALLOWS, SMTC_MAX_STEPS="3")

    assert ended.printed.splitlines() == ["swallowed StepsDone"] * 3
    assert [step.step for step in ended.steps] == [0, 1, 2]


@pytest.mark.parametrize("end", ["sys.exit(1)", "sys.exit('broke off')", "1 / 0"])
def test_how_it_ends_after_its_last_step_is_no_failure(run_warm: RunScript, end: str) -> None:
    body = f"{LOOP}\n    try:\n        train()\n    except BaseException:\n        {end}\n"

    ended = run_warm(body, SMTC_MAX_STEPS="3")  # with exit code 0

    assert ended.failure is None
    assert len(ended.steps) == 3
    assert ("ZeroDivisionError" in ended.errors) is (end == "1 / 0")


def test_before_its_last_step_it_is(run_warm: RunScript) -> None:
    ended = run_warm(f"{LOOP}\n    train()\n    sys.exit(1)\n", SMTC_MAX_STEPS="17", code=1)

    assert ended.failure is not None
    assert len(ended.steps) == 16


def test_a_thread_that_takes_it_ends_without_a_word(run_warm: RunScript) -> None:
    body = f"{LOOP}\n    thread = threading.Thread(target=train)\n    thread.start()\n"

    ended = run_warm(f"{body}    thread.join()\n    print('on')\n", SMTC_MAX_STEPS="3")

    assert (ended.printed, ended.errors) == ("on\n", "")


@pytest.mark.parametrize("end", ["os._exit(1)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_a_run_whose_script_dies_after_its_last_step_is_complete(
    make_job: MakeJob, start: Start, end: str
) -> None:
    body = f"{LOOP}\n    try:\n        train()\n    except BaseException:\n        {end}\n"

    run = start(make_job(body, cluster="here=local:1", max_steps=3)).wait(LIMIT_S)

    assert (run.status, len(run.records().steps["algo-1-rank0"])) == ("Completed", 3)


def test_time_to_leave_begins_when_all_that_still_run_have_taken_it() -> None:
    both: Any = [SimpleNamespace(exit_code=None, last_step_s=None) for _ in range(2)]

    assert over_at(both) is None
    both[0].last_step_s = 5.0
    assert over_at(both) is None
    both[1].last_step_s = 7.0
    assert over_at(both) == 7.0 + LEAVE_S
    both[1].exit_code = 0
    assert over_at(both) == 7.0 + LEAVE_S
    both[0].exit_code = 0
    assert over_at(both) is None


@pytest.mark.parametrize("body", [GOES_ON, IN_A_THREAD])
def test_one_that_goes_on_is_ended_and_its_run_complete(
    make_job: MakeJob, start: Start, body: str
) -> None:
    cluster = "train=local:1:train,data=local:1:data"

    run = start(make_job(body, cluster=cluster, max_steps=10)).wait(LIMIT_S)

    assert run.status == "Completed"
    records = run.records()
    assert len(records.steps["algo-1-rank0"]) == 10
    (told,) = [event for event in records.events if event.kind == "warning"]
    assert "went on for 10 s after the job's last step" in told.message
    assert told.message in run.logs("algo-1")


def test_each_of_two_trainers_ends_by_itself_or_is_ended(
    make_job: MakeJob, start: Start
) -> None:
    job = make_job(TWO, cluster="here=local:1", distribution={"data": 2}, max_steps=10)

    run = start(job).wait(LIMIT_S)

    assert run.status == "Completed"
    steps = run.records().steps
    assert {rank: len(taken) for rank, taken in steps.items()} == {
        "algo-1-rank0": 10,
        "algo-1-rank1": 10,
    }
