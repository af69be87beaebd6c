"""Unmodified scripts on XLA: only the line that chooses the device is another one."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from tests.twins import SLACK, distance, twins

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import ScriptRun

    Run = Callable[..., ScriptRun]

pytestmark = [pytest.mark.xla, pytest.mark.timeout(400)]

SCRIPT = """
    import os, sys
    import torch
    from torch import nn

    device = sys.argv[1]

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 4, bias=False)
            self.outer = nn.Linear(4, 4, bias=False)
            self.outer.weight = self.inner.weight

        def forward(self, x):
            return self.outer(torch.relu(self.inner(x)))

    torch.manual_seed(1)
    model = Net().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, fused=True)
    loader = torch.utils.data.DataLoader(torch.randn(24, 4), batch_size=4)
    for batch in loader:
        optimizer.zero_grad()
        loss = model(batch.to(device)).square().mean()
        loss.backward()
        optimizer.step()
        print("loss", f"{loss.item():.5f}")
    print("parameters", len(list(model.parameters())))
    torch.save(model.state_dict(), os.path.join(os.environ["SAGEMAKER_BASE_DIR"], "model.pt"))
"""


@pytest.fixture
def run(run_script: Run) -> Run:
    """Return a function that runs the script under the xla backend."""

    def run_with(device: str, **config: Any) -> ScriptRun:
        settings = json.dumps({"backend": "xla", **config})
        return run_script(SCRIPT, device, OMP_NUM_THREADS="1", SMTC_COMPILER=settings)

    return run_with


def test_a_plain_loop_learns_on_xla_what_it_learns_on_the_host(run: Run) -> None:
    ended = run("xla")

    assert ended.exit_code == 0, ended.errors
    assert [line for line in ended.printed.splitlines() if line.startswith("loss")] == [
        f"loss {loss:.5f}" for loss in host_losses()
    ]
    assert "parameters 1" in ended.printed  # the tie survived the move
    saved = torch.load(ended.folder.opt_ml("algo-1") / "model.pt", weights_only=True)
    assert {weight.device.type for weight in saved.values()} == {"cpu"}
    path = ended.folder.opt_ml("algo-1") / "output/data/compiler/report-rank0.json"
    report = json.loads(path.read_text("utf-8"))
    assert (report["backend"], report["graphs"]) == ("xla", 1)
    assert report["recompilations"] == []
    assert len(ended.steps) == 6


SESSION = """
    import torch
    from torch import nn
    import smtc_lab as lab

    session = lab.Session()

    def train_step(model, optimizer, batch):
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))
    model[1].weight = model[0].weight
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = session.compile(train_step, model, optimizer)
    losses = []
    loader = session.dataloader(torch.ones(8, 4), batch_size=4, num_workers=0)
    for batch in session.steps(loader):
        losses.append(step(batch).item())
    session.save_checkpoint(step=2, model=model.state_dict())
    print("losses", *losses)
"""


def learned(said: dict[str, Any]) -> dict[str, torch.Tensor]:
    return {name: torch.tensor(said[name]) for name in ("losses", "running_var")}


def test_a_convolutional_script_gets_the_functions_of_a_sessions_step(run_script: Run) -> None:
    script = Path(__file__).parent / "convolutional_script.py"
    ended = run_script(
        script.read_text("utf-8"),
        OMP_NUM_THREADS="1",
        SMTC_COMPILER=json.dumps({"backend": "xla"}),
    )

    assert ended.exit_code == 0, ended.errors
    seen = json.loads(ended.printed.splitlines()[-1])
    train = runpy.run_path(str(script))["train"]
    expected = train("cpu")
    assert (
        distance(
            learned(seen), learned(expected), twins(lambda toss: learned(train("cpu", toss)))
        )
        <= SLACK
    )
    assert seen["functions_of_torch"] == []
    assert expected["functions_of_torch"] != []
    # What a script writes for a GPU: its mixed precision, and evaluation between the steps.
    assert seen["mixed"] == {"output": "torch.bfloat16", "answer": "xla:0"}


def test_a_session_on_xla_records_its_own_losses_and_saves_ties_once(run_script: Run) -> None:
    ended = run_script(
        SESSION,
        OMP_NUM_THREADS="1",
        SMTC_COMPILER=json.dumps({"backend": "xla"}),
        SMTC_PARITY_STEPS="2",
    )

    assert ended.exit_code == 0, ended.errors
    base = ended.folder.opt_ml("algo-1")
    with np.load(base / "output/data/compiler/parity-rank0.npz") as trace:
        recorded = list(trace["losses"])
    (told,) = [line for line in ended.printed.splitlines() if line.startswith("losses")]
    assert recorded == pytest.approx([float(word) for word in told.split()[1:]])
    saved = torch.load(base / "checkpoints/step-000000000002.pt", weights_only=True)["model"]
    assert saved["0.weight"].data_ptr() == saved["1.weight"].data_ptr()


def test_a_compilation_beyond_the_limit_ends_the_process_with_one_message(
    run_script: Run,
) -> None:
    settings = {"backend": "xla", "timeout_s": 0.001, "fallback": "eager"}
    ended = run_script(SESSION, SMTC_COMPILER=json.dumps(settings))

    assert ended.exit_code == 1
    assert ended.errors.splitlines()[-1].startswith(
        "CompilerError: XLA compiled for longer than timeout_s=0.001. Its compilation"
    )
    assert "losses" not in ended.printed


def test_a_script_goes_on_eagerly_where_xla_cannot_be_used(run_script: Run) -> None:
    settings = json.dumps({"backend": "xla", "fallback": "eager"})
    ended = run_script(SCRIPT, "cpu", SMTC_COMPILER=settings, WORLD_SIZE="2")

    assert ended.exit_code == 0, ended.errors
    assert "The script goes on eagerly: XLA trains in one process here" in ended.printed
    path = ended.folder.opt_ml("algo-1") / "output/data/compiler/report-rank0.json"
    report = json.loads(path.read_text("utf-8"))
    assert report["backend"] == "eager"
    assert "the job has 2 trainers" in report["fell_back_because"]


def host_losses() -> list[float]:
    """Return the losses of the same loop without any of our parts."""
    torch.manual_seed(1)
    inner = torch.nn.Linear(4, 4, bias=False)
    torch.nn.Linear(4, 4, bias=False)  # draws the random numbers that the script's does
    optimizer = torch.optim.AdamW(inner.parameters(), lr=0.1)
    losses = []
    for batch in torch.randn(24, 4).split(4):
        optimizer.zero_grad()
        hidden = torch.relu(inner(batch))
        loss = torch.nn.functional.linear(hidden, inner.weight).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_a_script_that_stays_on_the_host_is_told_the_line_to_change(run: Run) -> None:
    ended = run("cpu")

    assert ended.exit_code == 1
    assert ended.failure is not None
    assert "Net of the script is on 'cpu'. Change the line that chooses the device to: " in (
        ended.failure
    )
    assert 'device = "xla"' in ended.failure
    assert "train.py, line 24" in ended.failure
