"""A run whose trainers are the stages of one model, started as any other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.errors import RunFailedError
from smtc_lab.metrics.columns import STEP
from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.spec.distribution import Distribution

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob

SCRIPT = """
    import json
    import torch
    from torch import nn
    import smtc_lab

    session = smtc_lab.Session()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(),
        nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 4))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    model, optimizer = session.prepare(model, optimizer)
    values = torch.randn(64, 8, generator=torch.Generator().manual_seed(1))
    data = torch.utils.data.TensorDataset(values, values[:, :4].sin())
    losses = []
    for inputs, targets in session.steps(session.dataloader(data, batch_size=8, num_workers=0)):
        optimizer.zero_grad()
        losses.append(float(session.step(inputs, targets, nn.functional.mse_loss)))
        optimizer.step()
    session.save_checkpoint(step=8, model=model, optimizer=optimizer)
    held = sum(one.numel() for one in model.parameters() if not one.is_meta)
    said = {"rank": session.rank, "losses": losses, "held": held}
    print("SAID", json.dumps(said), flush=True)
"""


def said(run: Run) -> list[dict[str, Any]]:
    lines = [line for line in run.logs().splitlines() if "SAID " in line]
    found = [json.loads(line.partition("SAID ")[2]) for line in lines]
    return sorted(found, key=lambda one: one["rank"])


@pytest.mark.timeout(240)
def test_two_trainers_train_the_stages_of_one_model(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    alone = start(make_job(SCRIPT, cluster="here=local"))
    alone.wait(timeout_s=100)
    (one,) = said(alone)
    job = make_job(
        SCRIPT, cluster="here=local", distribution=Distribution(pipeline=2, microbatches=4)
    )
    run = start(job)
    run.wait(timeout_s=100)
    first, second = said(run)

    assert first["losses"] == second["losses"] == pytest.approx(one["losses"], rel=1e-4)
    assert first["held"] + second["held"] == one["held"]
    steps = measured_launch(run.records()).steps
    assert set(steps[STEP["num_samples"]]) == {8}, "stages train the same samples"


@pytest.mark.timeout(240)
@pytest.mark.parametrize("mesh", [{"pipeline": 2, "microbatches": 2}, {"tensor": 2}], ids=str)
def test_replicas_share_the_samples_of_a_step_and_each_batch_counts_once(
    mesh: dict[str, int], make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    alone = start(make_job(SCRIPT, cluster="here=local"))
    alone.wait(timeout_s=100)
    (one,) = said(alone)
    job = make_job(
        SCRIPT.replace("batch_size=8", "batch_size=4"),
        cluster="here=local",
        distribution=Distribution(data=2, **mesh),
    )
    run = start(job)
    run.wait(timeout_s=100)
    ranks = said(run)

    first, second = mesh_pairs(ranks, mesh)
    means = [sum(both) / 2 for both in zip(first["losses"], second["losses"], strict=True)]
    assert means == pytest.approx(one["losses"], rel=1e-4)
    steps = measured_launch(run.records()).steps
    assert set(steps[STEP["num_samples"]]) == {8}


def mesh_pairs(ranks: list[dict[str, Any]], mesh: dict[str, int]) -> list[dict[str, Any]]:
    """Return one rank of each replica; the others of it tell the same losses."""
    pairs = (
        [(ranks[0], ranks[2]), (ranks[1], ranks[3])]
        if "pipeline" in mesh
        else [(ranks[0], ranks[1]), (ranks[2], ranks[3])]
    )
    for one, other in pairs:
        assert one["losses"] == pytest.approx(other["losses"])
    return [one for one, _ in pairs]


@pytest.mark.timeout(240)
def test_a_script_that_trains_without_its_pipeline_is_refused(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    script = SCRIPT.replace(
        "losses.append(float(session.step(inputs, targets, nn.functional.mse_loss)))",
        "nn.functional.mse_loss(nn.Linear(8, 4)(inputs), targets).backward()",
    )
    run = start(make_job(script, cluster="here=local", distribution=Distribution(pipeline=2)))

    with pytest.raises(RunFailedError, match=r"taken a step without session\.step\(\)"):
        run.wait(timeout_s=100)
