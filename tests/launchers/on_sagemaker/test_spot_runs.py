"""Managed spot training through the fake: instances are taken away, and only S3 is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.launchers.on_sagemaker.aws.clients import client
from smtc_lab.metrics.records.attempts import AttemptRecord
from smtc_lab.store.reader import read_records
from tests.kit.fake_sagemaker.job import INTERRUPTED_AFTER
from tests.kit.launch_sites.sagemaker import BUCKET, REGION
from tests.kit.runs import processes_of_job

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]
    Start = Callable[..., Run]

LIMIT_S = 120.0
STEPS = 60
ONE = "dnn_group=ml.p3.2xlarge:1"

KEEPS = """
import hashlib, time
import torch
import smtc_lab

session = smtc_lab.Session()
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters())
data = torch.utils.data.TensorDataset(torch.randn(240, 4))
loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
kept = session.checkpoint(model=model, optimizer=optimizer, every_steps=5)
for (batch,) in session.steps(loader, epochs=2):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"after {kept.step}.", flush=True)
    time.sleep(0.02)  # steps that can be interrupted
state = b"".join(value.numpy().tobytes() for value in model.state_dict().values())
print("weights", hashlib.sha256(state).hexdigest())
"""

LOADS_BY_ITSELF = """
import os, time
from pathlib import Path
import torch

saved = Path(os.environ["SM_CHECKPOINT_DIR"], "own.pt")
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters())
done = 0
if saved.is_file():
    found = torch.load(saved)
    model.load_state_dict(found["model"])
    optimizer.load_state_dict(found["optimizer"])
    done = found["step"]
data = torch.utils.data.TensorDataset(torch.randn(480, 4))
for number, (batch,) in enumerate(torch.utils.data.DataLoader(data, batch_size=8), 1):
    if number <= done:
        continue
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()
    if number % 10 == 0:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save({**state, "step": number}, saved.with_suffix(".new"))
        saved.with_suffix(".new").replace(saved)
    print(f"after {number}.", flush=True)
    time.sleep(0.02)
"""


def first_steps(run: Run) -> list[tuple[int, int]]:
    """Return number and first step of each attempt that went on, as its trainer knew them."""
    path = run.folder.rank_records("algo-1", 0)
    return [(each.attempt, each.first_step) for each in read_records(path, AttemptRecord)[0]]


def check_whole(run: Run, *, attempts: int) -> None:
    assert run.status == "Completed"
    assert [step.step for step in run.records().steps["algo-1-rank0"]] == list(range(STEPS))
    assert len(run.state.attempts) == attempts
    assert [bool(each.interrupted_by) for each in run.state.attempts][-1] is False
    assert all(each.interrupted_by for each in run.state.attempts[:-1])
    assert processes_of_job(run.job_name) == {}


@pytest.mark.timeout(180)
def test_a_job_in_a_folder_and_a_place_of_its_own_goes_on_bit_for_bit(
    make_job: MakeJob, start: Start
) -> None:
    own = {
        "use_spot_instances": True,
        "max_runtime_s": 600.0,
        "max_wait": 900.0,
        "checkpoint_local_path": "/opt/ml/kept",
        "checkpoint_s3_uri": f"s3://{BUCKET}/kept/here/",
    }
    unbroken = start(make_job(KEEPS, cluster=ONE))
    spot = start(
        make_job(
            KEEPS, cluster=ONE, environment={INTERRUPTED_AFTER: "after 23.|after 41."}, **own
        )
    )

    unbroken.wait(LIMIT_S)
    spot.wait(LIMIT_S)

    check_whole(spot, attempts=3)
    (second, at), (third, later) = first_steps(spot)
    assert (second, third) == (2, 3)
    assert 20 <= at < later < STEPS
    assert (at % 5, later % 5) == (0, 0), "what was saved on TERM is lost"
    assert weights_of(spot) == weights_of(unbroken)
    events = [event.message for event in spot.records().events]
    why = "SageMaker took the spot instances away."
    for number in (1, 2):
        assert f"Attempt {number} was interrupted. {why}" in events
    assert any(message.startswith("Training seconds: ") for message in events)
    assert any("Managed Spot Training savings: " in message for message in events)
    assert "savings" not in str([event.message for event in unbroken.records().events])
    listed = client("s3", REGION).list_objects_v2(Bucket=BUCKET, Prefix="kept/here/")
    keys = [item["Key"] for item in listed["Contents"]]
    assert any(key.startswith("kept/here/resume/") for key in keys)
    assert any(key.startswith(f"kept/here/smtc_lab/{spot.job_name}/algo-1/") for key in keys)


@pytest.mark.timeout(180)
def test_a_script_that_loads_by_itself_goes_on_in_number(
    make_job: MakeJob, start: Start
) -> None:
    job = make_job(
        LOADS_BY_ITSELF,
        cluster=ONE,
        use_spot_instances=True,
        environment={INTERRUPTED_AFTER: "after 25."},
    )

    run = start(job).wait(LIMIT_S)

    check_whole(run, attempts=2)
    (went_on,) = first_steps(run)
    assert went_on in {(2, 20), (2, 30), (2, 40), (2, 50)}


def weights_of(run: Run) -> str:
    return run.logs()[run.logs().rindex("weights ") :].partition("\n")[0]
