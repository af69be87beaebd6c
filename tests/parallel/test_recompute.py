"""Layers that are computed again train the same model, and keep less."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

from smtc_lab.parallel.activations.recompute import recompute
from smtc_lab.parallel.pipeline.schedules import RUN_HERE
from tests.parallel.conftest import start_ranks
from tests.parallel.small_model import SmallModel, batches, loss_of
from tests.parallel.tensor.models import OF_TRANSFORMERS

if TYPE_CHECKING:
    from pathlib import Path

MESHES: list[dict[str, int]] = [{"data": 2}, {"shard": 2}]
MESHES += [{"pipeline": 2, "microbatches": 2}] if RUN_HERE else []

TRAIN = """
dropped = nn.Dropout(DROPOUT)
class Dropping(SmallModel):
    def __init__(self):
        super().__init__()
        for layer in self.layers:
            layer.up = nn.Sequential(layer.up, nn.Dropout(DROPOUT))
model = Dropping()
calls = []
for layer in model.layers:
    own = layer.down.forward
    layer.down.forward = lambda value, own=own: (calls.append(1), own(value))[1]
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, eps=1e-3)
model, optimizer = session.prepare(model, optimizer)
losses = []
for values, targets in batches(3, rank=session.batch_rank, world_size=session.num_batch_ranks):
    optimizer.zero_grad()
    losses.append(float(session.step(values, targets, nn.functional.mse_loss)))
    optimizer.step()
print(json.dumps({"losses": losses, "calls": len(calls) - SEEN}))
"""


def kept_bytes(model: nn.Module, run: Any) -> tuple[int, dict[str, torch.Tensor]]:
    """Return the bytes that a forward keeps, and the gradients."""
    kept: dict[int, int] = {}

    def keep(value: torch.Tensor) -> torch.Tensor:
        storage = value.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return value

    torch.manual_seed(0)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda one: one):
        loss = run(model)
    loss.backward()
    return sum(kept.values()), {
        name: one.grad for name, one in model.named_parameters() if one.grad is not None
    }


def test_gradients_stay_and_less_is_kept() -> None:
    (batch,) = batches(1, rank=0, world_size=1)

    def made() -> SmallModel:
        torch.manual_seed(0)
        model = SmallModel()
        for layer in model.layers:
            layer.up = nn.Sequential(layer.up, nn.Dropout(0.5))
        return model

    plain, again = made(), made()
    assert recompute(again) == 4
    (plain_bytes, right), (again_bytes, found) = (
        kept_bytes(model, lambda one: loss_of(one, batch)) for model in (plain, again)
    )

    torch.testing.assert_close(found, right, rtol=0, atol=0)
    assert again_bytes < plain_bytes / 2


@pytest.mark.parametrize("name", OF_TRANSFORMERS)
def test_models_of_transformers_are_computed_again_without_their_caches(name: str) -> None:
    pytest.importorskip("transformers")
    make, batch, _ = OF_TRANSFORMERS[name]
    inputs, _ = batch()
    found = []
    for is_again in (False, True):
        torch.manual_seed(0)
        model = make()
        if is_again:
            assert recompute(model) > 0
        found.append(kept_bytes(model, lambda one: one(**inputs).loss))
    (plain_bytes, right), (again_bytes, again) = found

    torch.testing.assert_close(again, right, rtol=1e-6, atol=1e-6)
    assert again_bytes < plain_bytes


@pytest.mark.timeout(300)
@pytest.mark.parametrize("mesh", MESHES, ids=str)
def test_a_job_computes_layers_again_in_every_layout(
    mesh: dict[str, int], tmp_path: Path
) -> None:
    said: dict[bool, list[Any]] = {}
    for is_again in (False, True):
        folder = tmp_path / str(is_again)
        folder.mkdir()
        # a pipeline draws other masks, and looks at each layer once
        dropout, seen = (0.0, 4) if "pipeline" in mesh else (0.5, 0)
        said[is_again] = start_ranks(
            f"DROPOUT, SEEN = {dropout}, {seen}\n{TRAIN}",
            folder=folder,
            activation_checkpointing=is_again,
            **mesh,
        )

    for plain, again in zip(said[False], said[True], strict=True):
        assert again["losses"] == pytest.approx(plain["losses"], rel=1e-6)
        assert again["calls"] == 2 * plain["calls"] > 0
