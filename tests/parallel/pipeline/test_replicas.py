"""Replicas of a pipeline train what one process trains with all of their batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from tests.parallel.conftest import start_ranks

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.timeout(600)

MESHES: list[dict[str, int]] = [
    {"pipeline": 2, "data": 2, "microbatches": 4},
    {"pipeline": 2, "shard": 2, "microbatches": 4},
]
UNSHARDED = 6
"""Values of ``unused``: no module that runs has them, so each trainer has them whole."""

MODEL = """
torch.manual_seed(session.rank)  # all begin with the values of rank 0
model = SmallModel()
model.unused = nn.Linear(2, 2)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, eps=1e-3)
model, optimizer = session.prepare(model, optimizer)
"""

TRAIN = """
norms, losses = [], []
for values, targets in batches(4, rank=session.batch_rank, world_size=session.num_batch_ranks):
    optimizer.zero_grad()
    for values, targets in zip(values.chunk(2), targets.chunk(2)):  # gradients add up
        loss = session.step(values, targets, lambda *both: nn.functional.mse_loss(*both) / 2)
        losses.append(float(loss))
    norms.append(float(session.clip_grad_norm(model, 0.05)))
    optimizer.step()
"""

SAVE = """
loader = session.dataloader(torch.arange(16), batch_size=4, shuffle=True, num_workers=0)
seen = [batch.tolist() for batch in loader]
session.save_checkpoint(step=4, model=model, optimizer=optimizer, note="saved")
print(json.dumps({"losses": losses, "norms": norms, "seen": seen,
    "unused": model.unused.weight.grad is None,
    "held": sum(getattr(one, "to_local", lambda one=one: one)().numel()
        for one in model.parameters() if not one.is_meta)}))
"""

LOAD = """
for folder in ("before", "after"):  # the model is cut
    os.environ["SAGEMAKER_BASE_DIR"] = FROM
    rest, step = session.load_checkpoint(model=model, optimizer=optimizer)
    if folder == "before":
        session.step(torch.ones(8, 8), torch.ones(8, 4), nn.functional.mse_loss)
        optimizer.zero_grad()
    os.environ["SAGEMAKER_BASE_DIR"] = os.path.join(os.getcwd(), folder)
    session.save_checkpoint(step=step, model=model, optimizer=optimizer, **rest)
print(json.dumps([step]))
"""


def state(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = torch.load(
        folder / "checkpoints" / "step-000000000004.pt", weights_only=True
    )
    return found


def folders(tmp_path: Path, *names: str) -> list[Path]:
    made = [tmp_path / name for name in names]
    for folder in made:
        folder.mkdir()
    return made


@pytest.mark.parametrize("mesh", MESHES, ids=str)
def test_replicas_of_two_stages_train_the_model_of_one_process(
    mesh: dict[str, int], tmp_path: Path
) -> None:
    alone, several, loaded = folders(tmp_path, "alone", "several", "loaded")

    (one,) = start_ranks(MODEL + TRAIN + SAVE, folder=alone)
    said = start_ranks(MODEL + TRAIN + SAVE, folder=several, limit_s=250, **mesh)

    stages = len(said) // 2
    for rank in said:
        assert rank["norms"] == pytest.approx(one["norms"], rel=1e-5)
        assert rank["unused"]
    # rank r and the one a stage further are of one replica; each tells the loss of its batch
    for first, second in zip(said[:stages], said[stages:], strict=True):
        assert first["losses"] == second["losses"]
        assert first["seen"] == second["seen"]
        held = one["held"] if "shard" not in mesh else (one["held"] + UNSHARDED) / mesh["shard"]
        assert first["held"] + second["held"] == held
    assert said[0]["losses"] != said[1]["losses"]
    taken = [sample for rank in said[:stages] for batch in rank["seen"] for sample in batch]
    assert sorted(taken) == list(range(16))
    right, found = state(alone), state(several)
    torch.testing.assert_close(found["model"], right["model"], rtol=1e-4, atol=1e-5)
    assert found["optimizer"]["state"].keys() == right["optimizer"]["state"].keys()

    load = f"FROM = {str(several)!r}\n{LOAD}"
    loading = start_ranks(MODEL + load, folder=loaded, limit_s=250, **mesh)
    assert loading == [[4]] * len(said)
    for moment in ("before", "after"):
        again = state(loaded / moment)
        assert again["optimizer"]["param_groups"] == found["optimizer"]["param_groups"]
        torch.testing.assert_close(again["model"], found["model"], rtol=0, atol=0)
        learnt = again["optimizer"]["state"]
        torch.testing.assert_close(learnt, found["optimizer"]["state"], rtol=0, atol=0)


def test_a_sparse_gradient_is_refused_by_replicas(tmp_path: Path) -> None:
    body = """
    model = nn.Sequential(nn.Embedding(8, 8, sparse=True), nn.Linear(8, 8), nn.Linear(8, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    model, optimizer = session.prepare(model, optimizer)
    session.step(torch.ones(4, 2, dtype=torch.int64), None, lambda out, _: out.mean())
    """

    said = start_ranks(body, folder=tmp_path, limit_s=250, pipeline=2, data=2, microbatches=2)

    assert any("has a sparse gradient, which replicas do not average" in one for one in said)


def test_stages_that_took_different_batches_are_refused(tmp_path: Path) -> None:
    body = MODEL + "session.step(torch.ones(8, 8), torch.full((8, 4), 1.0 * session.rank))\n"

    for one in start_ranks(body, folder=tmp_path, pipeline=2, microbatches=2):
        assert (
            "Trainers that share one model took different batches. Make the loader with "
            "session.dataloader(), or give a sampler of your own session.batch_rank"
        ) in one
