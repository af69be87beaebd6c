"""A declared network holds sums of layers' parts back, and changes nothing of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from smtc_lab.metrics.communication.collectives import ring_all_reduce_s
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.emulation import EmulatedLink, Emulation

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.launchers.run import Run
    from smtc_lab.spec.job import TrainingJob

DEVICE_S = 0.05
LATENCY_S = 0.01
STEPS = 4
SUMS = 3
SCRIPT = f"""
    import json
    import torch
    from torch import nn
    import smtc_lab
    from smtc_lab.parallel.tensor.collectives import PartSums

    session = smtc_lab.Session()
    torch.manual_seed(0)
    model = nn.TransformerEncoderLayer(8, 2, 32, dropout=0.0, batch_first=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    model, optimizer = session.prepare(model, optimizer)
    data = torch.utils.data.TensorDataset(torch.randn({STEPS} * 4, 3, 8))
    losses = []
    for (values,) in session.steps(session.dataloader(data, batch_size=4, num_workers=0)):
        optimizer.zero_grad()
        loss = session.step(values, None, lambda out, _: out.square().mean())
        losses.append(float(loss))
        optimizer.step()
    held_s = getattr(PartSums.all_reduce, "total_s", 0.0)
    print("SAID", json.dumps([losses, held_s]), flush=True)
"""


def told_by(run: Run) -> list[tuple[list[float], float]]:
    lines = [line for line in run.logs().splitlines() if "SAID " in line]
    return [json.loads(line.partition("SAID ")[2]) for line in lines]


@pytest.mark.timeout(400)
def test_sums_take_what_is_declared_beside_the_time_of_an_emulated_device(
    make_job: Callable[..., TrainingJob], start: Callable[..., Run]
) -> None:
    runs = []
    for link in (None, EmulatedLink(inside_gbps=1.0, inside_latency_s=LATENCY_S)):
        job = make_job(
            SCRIPT,
            cluster="here=local",
            emulation=Emulation(device_step_time_s=DEVICE_S, link=link),
            distribution=Distribution(tensor=2),
        )
        runs.append(start(job))
        runs[-1].wait(timeout_s=150)
    plain, held = map(told_by, runs)

    assert len(held) == 2
    assert [losses for losses, _ in held] == [losses for losses, _ in plain]
    assert {total_s for _, total_s in plain} == {0.0}
    # attention and the two layers behind it have a sum forward each, and the latter one of
    # gradients: nobody needs those of the model's inputs
    num_bytes = 4 * 4 * 3 * 8
    one_s = ring_all_reduce_s(num_bytes, ranks=2, latency_s=LATENCY_S, bytes_per_s=1e9 / 8)
    assert [total_s for _, total_s in held] == pytest.approx([STEPS * SUMS * one_s] * 2)
    for steps in runs[1].records().steps.values():
        assert len(steps) == STEPS
        assert all(each.step_time_s >= DEVICE_S + SUMS * one_s - 1e-6 for each in steps)
