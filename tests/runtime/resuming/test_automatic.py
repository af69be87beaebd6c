"""A plain loop that saves nothing goes on after it is killed, or says why it cannot."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from smtc_lab.instance.variables import ATTEMPT_VARIABLE
from smtc_lab.launchers.run import Run
from smtc_lab.metrics.records.attempts import NOT_KEPT
from smtc_lab.metrics.records.records import STEP_BOUNDARY
from smtc_lab.study.resuming.prove import prove_resume

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runtime.conftest import RunScript

SCRIPT = """
import sys, time
import torch
from torch import nn

num_workers, kind = int(sys.argv[1]), sys.argv[2]
torch.manual_seed(1)

class Noisy(torch.utils.data.Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, index):
        time.sleep(0.002)  # steps that can be interrupted
        noise = 0.0 if kind == "persistent" else 0.1  # such workers draw on and on
        return torch.full((8,), index / 96) + noise * torch.rand(8), index % 3

loader = torch.utils.data.DataLoader(
    Noisy(), 16, shuffle=True, num_workers=num_workers, persistent_workers=kind == "persistent")
test = torch.utils.data.DataLoader(Noisy(), 32)
model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Dropout(0.1), nn.Linear(16, 3))
if kind == "sgd":
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
else:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.7)
average = torch.optim.swa_utils.AveragedModel(model)
for epoch in range(4):
    model.train()
    for number, (values, targets) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(values), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update_parameters(model)
    print(epoch, loss.item() / (number + 1))
    model.eval()
    right = count = 0
    with torch.no_grad():
        for values, targets in test:
            right += int((model(values).argmax(1) == targets).sum())
            count += len(targets)
    print(right / count)
    scheduler.step()
whole = [float(one.double().sum()) for one in average.state_dict().values()]
print("average", *whole, flush=True)
"""


@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    ("num_workers", "kind"),
    [(0, "adamw"), (2, "sgd"), pytest.param(2, "persistent", marks=pytest.mark.soak)],
)
def test_a_plain_loop_is_the_unbroken_one(num_workers: int, kind: str, tmp_path: Path) -> None:
    script, runs = tmp_path / "train.py", tmp_path / "runs"
    script.write_text(SCRIPT)
    proof = prove_resume(
        script,
        interruptions=2,
        seed=1,
        root=runs,
        resume="automatic",
        arguments=(str(num_workers), kind),
        environment={"RESUME_EVERY_STEPS": "2"},
    )

    assert proof.equal, proof.verdict
    assert len(proof.interrupted_at) == 2
    assert proof.went_on_from[-1] > 6  # behind the first pass
    told = Run.open(str(runs / proof.runs[1])).records().events
    assert STEP_BOUNDARY not in {one.kind for one in told}  # passes gone through are no steps
    logs = [(runs / name / "logs" / "algo-1.log").read_text() for name in proof.runs]
    averages = [log[log.rindex("average") :].partition("\n")[0] for log in logs]
    assert averages[0] == averages[1]


BEGIN = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(torch.ones(40, 2)), batch_size=4)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(batch):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
"""
BY_HAND = """
    batches = iter(loader)
    for _ in range(8):
        step(*next(batches))
"""
TWO_LOADERS = """
    for (batch,), (other,) in zip(loader, DataLoader(TensorDataset(torch.ones(9, 2)))):
        step(batch + other)
"""
NO_LOADER = """
    for _ in range(8):
        step(torch.ones(3, 2))
"""
FROM_A_CACHE = """
    from itertools import cycle, islice
    for (batch,) in islice(cycle(loader), 15):
        step(batch)
"""
LOADS_BY_ITSELF = """
    optimizer = torch.optim.Adam(model.parameters())
    zeros = {number: torch.zeros_like(one) for number, one in enumerate(model.parameters())}
    kept = {number: {"step": torch.tensor(7.0), "exp_avg": zero, "exp_avg_sq": zero}
            for number, zero in zeros.items()}
    optimizer.load_state_dict({**optimizer.state_dict(), "state": kept})
    for (batch,) in loader:
        step(batch)
"""
SAMPLES_LOOKED_AT = """
    print(next(iter(loader))[0].shape)
    for epoch in range(2):
        for (batch,) in loader:
            step(batch)
"""


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (BY_HAND, r"batches with next\(\.\.\.\)"),
        (TWO_LOADERS, "two dataloaders at once"),
        (NO_LOADER, "before a batch of a DataLoader"),
        (FROM_A_CACHE, "steps outside a loop"),
        (SAMPLES_LOOKED_AT, None),
    ],
)
def test_a_script_that_cannot_go_on_is_told_why(
    run_warm: RunScript, body: str, why: str | None
) -> None:
    ended = run_warm(BEGIN + body, SMTC_RESUME="automatic", RESUME_EVERY_STEPS="2")

    told = [one.message for one in ended.events if one.kind == "warning"]
    kept = list((ended.folder.opt_ml("algo-1") / "checkpoints").rglob("*.pt"))
    if why is None:
        assert not told
        assert kept
        return
    (message,) = told
    assert message.startswith('resume="automatic" cannot keep this training.')
    assert re.search(why, message)
    assert "session.checkpoint(" in message
    assert not kept


def test_a_script_that_goes_on_by_itself_is_not_said_to_begin_anew(run_warm: RunScript) -> None:
    second = {ATTEMPT_VARIABLE: "2", "SMTC_RESUME": "automatic"}
    ended = run_warm(BEGIN + LOADS_BY_ITSELF, **second)

    (message,) = [one.message for one in ended.events if one.kind == "warning"]
    assert message.startswith(NOT_KEPT)
    assert "goes on after step 7" in message
    assert "anew" not in message
    assert min(one.step for one in ended.steps) == 7
