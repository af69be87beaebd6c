"""A script's session trains a job with a pipeline: two changed lines, the rest as ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from tests.parallel.conftest import start_ranks

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.timeout(300)

TRAIN = """
model = SmallModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, eps=1e-3)
model, optimizer = session.prepare(model, optimizer)
norms, losses = [], []
for values, targets in batches(4, rank=0, world_size=1):
    optimizer.zero_grad()
    losses.append(float(session.step(values, targets, nn.functional.mse_loss)))
    norms.append(float(session.clip_grad_norm(model, 0.05)))
    norms.append(float(torch.nn.utils.clip_grad_norm_(model.parameters(), 0.04)))
    optimizer.step()
loader = session.dataloader(torch.arange(16), batch_size=4, shuffle=True, num_workers=0)
seen = [batch.tolist() for batch in loader]
session.save_checkpoint(step=4, model=model, optimizer=optimizer, note="saved")
loaded = session.load_checkpoint(model=model, optimizer=optimizer)
print(json.dumps({"losses": losses, "norms": norms, "loaded": loaded, "seen": seen,
    "held": sum(one.numel() for one in model.parameters() if not one.is_meta)}))
"""

CLIP_SOME = """
model, optimizer = session.prepare(model, optimizer)
values, targets = next(iter(batches(1, rank=0, world_size=1)))
session.step(values, targets, nn.functional.mse_loss)
trained = [one for one in model.parameters() if one.grad is not None]
torch.nn.utils.clip_grad_norm_(trained[:1], 1.0)
"""


def test_a_session_trains_by_a_pipeline_what_one_process_trains(tmp_path: Path) -> None:
    folders = {}
    for name in ("one", "two"):
        folders[name] = tmp_path / name
        folders[name].mkdir()
    layout = {"pipeline": 2, "microbatches": 4}

    (one,) = start_ranks(TRAIN, folder=folders["one"])
    first, second = start_ranks(TRAIN, folder=folders["two"], **layout)

    assert first["losses"] == second["losses"] == pytest.approx(one["losses"], rel=1e-5)
    assert first["norms"] == second["norms"] == pytest.approx(one["norms"], rel=1e-5)
    assert first["held"] + second["held"] == one["held"]
    assert first["seen"] == second["seen"]
    assert sorted(one for batch in first["seen"] for one in batch) == list(range(16))
    assert first["loaded"] == second["loaded"] == [{"note": "saved"}, 4]
    states = [
        torch.load(folder / "checkpoints" / "step-000000000004.pt", weights_only=True)
        for folder in folders.values()
    ]
    assert states[0].keys() == states[1].keys()
    for name, right in states[0]["model"].items():
        torch.testing.assert_close(states[1]["model"][name], right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "session.step(torch.ones(16, 8))",
            "session.step() came before session.prepare()",
        ),
        (
            "session.compile(None, model, optimizer)",
            "The job has a pipeline of 2 trainers, whose stages are not compiled",
        ),
        (
            CLIP_SOME,
            "clip_grad_norm_() was given 1 of the",
        ),
    ],
)
def test_what_a_session_with_a_pipeline_cannot_do_is_told(
    body: str, said: str, tmp_path: Path
) -> None:
    made = "model = SmallModel()\noptimizer = torch.optim.SGD(model.parameters(), lr=1.0)\n"

    for one in start_ranks(made + body, folder=tmp_path, pipeline=2, microbatches=2):
        assert said in one


def test_a_loss_that_adds_samples_up_is_refused(tmp_path: Path) -> None:
    body = """
model = SmallModel()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = session.prepare(model, optimizer)
values, targets = next(iter(batches(1, rank=0, world_size=1)))
session.step(values, targets, lambda out, right: (out - right).square().sum())
"""

    _first, last = start_ranks(body, folder=tmp_path, pipeline=2, microbatches=2)

    assert "so the loss function sums over samples" in last
    assert "reduction='mean'" in last
