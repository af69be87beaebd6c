"""A run whose instances are taken away goes on in another attempt, bit for bit."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.errors import LauncherError, RunFailedError
from smtc_lab.metrics.records.attempts import AttemptRecord
from smtc_lab.metrics.run_summary import summarize
from smtc_lab.spec.spot import Market
from smtc_lab.store.reader import read_records
from smtc_lab.store.steps.columns import StepColumns
from tests.kit.runs import processes_after, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob

STEPS = 60
TRAINING = """
import hashlib, time
import torch
import smtc_lab

session = smtc_lab.Session()
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters())
model, optimizer = session.prepare(model, optimizer)
data = torch.utils.data.TensorDataset(torch.randn(240, 4))
loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
session.checkpoint(model=model, optimizer=optimizer, every_steps=5)
for (batch,) in session.steps(loader, epochs=2):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.02)  # steps that can be interrupted
state = b"".join(value.numpy().tobytes() for value in model.state_dict().values())
print("weights", hashlib.sha256(state).hexdigest())
"""
HERE = "dnn_group=local:1"


def steps_of(run: Run) -> int:
    return StepColumns([run.folder.rank_records("algo-1", 0)]).count()


def await_steps(run: Run, count: int) -> None:
    wait_until(lambda: steps_of(run) >= count, what=f"{count} steps", limit_s=60.0)


def weights_of(run: Run) -> str:
    return run.logs()[run.logs().rindex("weights ") :].partition("\n")[0]


def check_whole(run: Run, attempts: int) -> None:
    for steps in run.records().steps.values():
        assert [record.step for record in steps] == list(range(STEPS))
    assert len(run.state.attempts) == attempts
    assert processes_after(run.folder.path) == {}


@pytest.fixture
def unbroken(make_job: Callable[..., TrainingJob], start: Callable[..., Run]) -> str:
    return weights_of(start(make_job(TRAINING, cluster=HERE)).wait(60))


@pytest.mark.timeout(180)
def test_a_run_outlives_its_instances_its_supervisor_and_a_stop(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run], unbroken: str
) -> None:
    run = start(make_job(TRAINING, cluster=HERE))
    await_steps(run, 12)
    run.interrupt()
    wait_until(lambda: len(run.state.attempts) == 2, what="another attempt")
    await_steps(run, 24)
    pid = run.state.supervisor_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: run.state.is_terminal, what="the loss of the supervisor")
    plan = json.loads(run.folder.plan_file.read_text())
    del plan["spot"]  # as an older smtc_lab wrote it
    run.folder.plan_file.write_text(json.dumps(plan))
    run.resume(detach=False)
    await_steps(run, 36)
    run.stop()
    run.resume(detach=False)
    run.wait(60)

    check_whole(run, attempts=4)
    assert weights_of(run) == unbroken
    assert run.state.attempts[0].interrupted_by != ""
    bill = summarize(run.records()).bill
    assert bill.num_interruptions == 3
    assert (bill.interruptions_s or 0) > 0
    assert (bill.billed_s or 0) + bill.waited_s == pytest.approx(
        (run.state.ended_s or 0) - (run.state.started_s or 0)
    )
    with pytest.raises(LauncherError, match="is Completed, so there is nothing to go on with"):
        run.resume()
    with pytest.raises(LauncherError, match="does not run"):
        run.interrupt()


@pytest.mark.timeout(180)
@pytest.mark.parametrize("cluster", [HERE, "dnn_group=local:2"])
def test_what_is_told_before_it_ends_loses_no_step(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run], cluster: str
) -> None:
    never_else = TRAINING.replace("every_steps=5", "every_steps=1000")
    run = start(make_job(never_else.replace("0.02", "0.1"), cluster=cluster))
    await_steps(run, 3)
    run.interrupt()  # the grace is 1.5 s
    run.wait(90)

    check_whole(run, attempts=2)
    records = [run.folder.rank_records(f"algo-{rank + 1}", rank) for rank in range(2)]
    for path in [one for one in records if one.exists()]:
        (again,), _ = read_records(path, AttemptRecord)
        assert again.first_step >= 3
        assert again.steps_again == 0


@pytest.mark.timeout(180)
@pytest.mark.parametrize("epochs", ["kept.epochs(4)", "range(4)"])
def test_what_was_logged_of_a_pass_is_logged_once(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run], epochs: str
) -> None:
    loop = f"""loss = None
kept = session.checkpoint(model=model, optimizer=optimizer, every_steps=5)
for epoch in {epochs}:
    for (batch,) in session.steps(loader):
"""
    head, _, body = TRAINING.partition("session.checkpoint(")
    lines = body.split("\n")[2:7]
    script = head + loop + "".join(f"    {line}\n" for line in lines)
    script += (
        "    session.log({'epoch': epoch, 'loss': 0.0 if loss is None else loss.detach()})\n"
    )
    run = start(make_job(script, cluster=HERE))
    await_steps(run, 75)
    run.interrupt()
    run.wait(90)

    logged = run.metrics()
    assert len(run.state.attempts) == 2
    assert logged["epoch"].value.tolist() == [0, 1, 2, 3]
    assert logged["epoch"].step.tolist() == [29, 59, 89, 119]
    assert len(logged["loss"].value) == 4


@pytest.mark.timeout(180)
def test_a_market_takes_instances_away_and_gives_others(
    make_job: Callable[..., TrainingJob],
    start: Callable[..., Run],
    unbroken: str,
    tmp_path: Path,
) -> None:
    trace = tmp_path / "trace.json"
    there = [0, *[1] * 12, *[0] * 4, *[1] * 8, *[0] * 4, 1]
    trace.write_text(json.dumps({"metadata": {"gap_seconds": 1800}, "data": there}))
    market = Market(trace=str(trace), time_scale=3600)  # a tick is half a second
    slowly = TRAINING.replace("time.sleep(0.02)", "time.sleep(0.2)")  # longer than 10 s
    run = start(make_job(slowly, cluster=HERE, use_spot_instances=True, market=market))
    run.wait(120)

    check_whole(run, attempts=3)
    assert weights_of(run) == unbroken
    first, second, _ = run.state.attempts
    assert 2.0 < run.state.waited_s <= 4.0  # gaps of 2 s, less what the ends take
    assert first.interrupted_by == second.interrupted_by != ""
    kinds = [event.kind for event in run.records().events]
    assert kinds.count("interruption") == 2


@pytest.mark.timeout(120)
def test_an_agent_that_is_killed_is_a_lost_instance_of_a_spot_job(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    run = start(make_job(TRAINING, cluster=HERE, use_spot_instances=True))
    await_steps(run, 10)
    supervisor = run.state.supervisor_pid
    (agent,) = (
        pid
        for pid, command in processes_after(run.folder.path, limit_s=0.0).items()
        if "smtc_lab.runtime.agent" in command and pid != supervisor
    )
    os.kill(agent, signal.SIGKILL)
    run.wait(60)

    check_whole(run, attempts=2)
    assert "killed by signal 9" in run.state.attempts[0].interrupted_by


@pytest.mark.timeout(180)
def test_training_goes_on_without_a_data_instance_and_not_without_a_trainer(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    cluster = "dnn_group=local:2:train,data_group=local:1:data"
    body = TRAINING.replace("torch.utils.data.DataLoader(", "session.dataloader(")
    body = body.replace("epochs=2", "epochs=4")  # two share each batch
    run = start(make_job(body.replace("0.02", "0.1"), cluster=cluster, use_spot_instances=True))
    hosts = [one["host"] for one in json.loads(run.folder.plan_file.read_text())["instances"]]
    await_steps(run, 5)
    os.kill(agent_of(run, hosts[-1]), signal.SIGKILL)
    await_steps(run, 15)
    assert len(run.state.attempts) == 1
    os.kill(agent_of(run, hosts[1]), signal.SIGKILL)
    run.wait(90)

    check_whole(run, attempts=2)
    told = [event.message for event in run.records().events]
    assert any("Training goes on" in message for message in told)


def agent_of(run: Run, host: str) -> int:
    """Return the agent of one of several instances, which is called by its host."""
    names = {
        pid: Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
        for pid in processes_after(run.folder.path, limit_s=0.0)
    }
    (agent,) = (pid for pid, name in names.items() if name == f"agent {host}")
    return agent


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("market", "limits", "expected", "attempts"),
    [
        (
            {"interruptions_s": (2.0,), "mean_wait_s": 1e8},
            {"max_runtime_s": 4.0, "max_wait": 5.0},
            "MaxWaitTimeExceeded",
            1,
        ),
        ({"interruptions_s": (1.0,)}, {"max_runtime_s": 4.0}, "MaxRuntimeExceeded", 2),
    ],
)
def test_limits_hold_over_all_attempts(  # noqa: PLR0913, PLR0917  a row each
    make_job: Callable[..., TrainingJob],
    start: Callable[..., Run],
    market: dict[str, Any],
    limits: dict[str, float],
    expected: str,
    attempts: int,
) -> None:
    job = make_job(
        "import time; time.sleep(60)",
        cluster=HERE,
        use_spot_instances=True,
        market=Market(**market),
        **limits,
    )
    state = start(job).wait(60).state

    assert (state.state, state.secondary) == ("Stopped", expected)
    assert state.reason.startswith(expected)
    assert len(state.attempts) == attempts


@pytest.mark.timeout(120)
def test_a_script_that_fails_is_not_tried_again(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    run = start(make_job("raise SystemExit(3)", cluster=HERE, use_spot_instances=True))

    with pytest.raises(RunFailedError, match="exited with code 3"):
        run.wait(60)
    assert len(run.state.attempts) == 1


@pytest.mark.timeout(120)
def test_a_script_that_keeps_nothing_begins_anew_and_is_told_so(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    body = TRAINING.replace("session.checkpoint(", "dict(")
    run = start(make_job(body, cluster=HERE))
    await_steps(run, 10)
    run.interrupt().wait(60)

    check_whole(run, attempts=2)
    told = [event.message for event in run.records().events if event.kind == "warning"]
    assert any("begins with the first step again" in message for message in told)


@pytest.mark.timeout(180)
def test_trainers_that_have_no_checkpoint_in_common_begin_with_step_0(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    job = make_job(TRAINING, cluster="dnn_group=local:2", distribution={"data": 2})
    run = start(job)
    await_steps(run, 12)
    run.stop()
    rmtree(run.folder.opt_ml("algo-2") / "checkpoints")
    run.resume(detach=False)
    run.wait(90)

    for steps in run.records().steps.values():
        assert [record.step for record in steps] == list(range(STEPS))
    (told,) = {one.message for one in run.records().events if "No checkpoint" in one.message}
    assert "was whole yet for all trainers" in told
