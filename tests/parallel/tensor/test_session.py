"""Meshes with parts of layers train the model of one process, and load what others saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from smtc_lab.parallel.pipeline.schedules import RUN_HERE
from tests.parallel.conftest import start_ranks

if TYPE_CHECKING:
    from pathlib import Path


MESHES: dict[str, dict[str, int]] = {
    "one": {},
    "tensor": {"tensor": 2},
    "tensor x data": {"tensor": 2, "data": 2},
    "tensor x shard": {"tensor": 2, "shard": 2},
}
STAGED = {"pipeline": 2, "microbatches": 2}
if RUN_HERE:
    MESHES |= {
        "tensor x pipeline": {"tensor": 2, **STAGED},
        "all": {"tensor": 2, "data": 2, **STAGED},
    }
SEVERAL = [name for name in MESHES if name != "one"]

MODEL = """
from tests.parallel.tensor.models import Encoder, cross_entropy, words
torch.manual_seed(session.rank)  # all begin with the values of rank 0
model = Encoder()
given = optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, eps=1e-3)
model, optimizer = session.prepare(model, optimizer)
"""

TRAIN = """
inputs, targets = (one.chunk(session.num_batch_ranks)[session.batch_rank] for one in words(16))
norms, losses = [], []
for _ in range(3):
    optimizer.zero_grad()
    losses.append(float(session.step(inputs, targets, cross_entropy)))
    norms.append(float(session.clip_grad_norm(model, 0.5)))
    norms.append(float(torch.nn.utils.clip_grad_norm_(model.parameters(), 0.4)))
    optimizer.step()
loader = session.dataloader(torch.arange(16), batch_size=4, shuffle=True, num_workers=0)
session.save_checkpoint(step=3, model=model, optimizer=optimizer, note="saved")
print(json.dumps({"losses": losses, "norms": norms, "batch": session.batch_rank,
    "is_same_optimizer": given is optimizer,
    "seen": [batch.tolist() for batch in loader],
    "drawn": torch.rand(4).tolist()}))
"""

LOAD = """
said = []
for name in FROM:
    os.environ["SAGEMAKER_BASE_DIR"] = f"../{name}"
    rest, step = session.load_checkpoint(model=model, optimizer=optimizer)
    said.append([rest, step])
    if session.world_size > 1 and name == FROM[0]:
        inputs, targets = words(16)  # so that a pipeline is cut
        session.step(inputs, targets, cross_entropy)
        optimizer.zero_grad()
    os.environ["SAGEMAKER_BASE_DIR"] = f"../{name}/again of " + MESH
    session.save_checkpoint(step=step, model=model, optimizer=optimizer, **rest)
print(json.dumps(said))
"""

pytestmark = pytest.mark.timeout(600)
"""The first test waits for all meshes to be trained."""


def state(folder: Path) -> dict[str, Any]:
    path = folder / "checkpoints" / "step-000000000003.pt"
    found: dict[str, Any] = torch.load(path, weights_only=True)
    return found


def check_same(found: dict[str, Any], right: dict[str, Any], **tolerance: float) -> None:
    assert found["optimizer"]["param_groups"] == right["optimizer"]["param_groups"]
    torch.testing.assert_close(found["model"], right["model"], **tolerance)
    learnt = [one["optimizer"]["state"] for one in (found, right)]
    torch.testing.assert_close(*learnt, **tolerance)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, list[Any]]]:
    root, found = tmp_path_factory.mktemp("meshes"), {}
    for name, mesh in MESHES.items():
        folder = root / name
        folder.mkdir()
        said = start_ranks(MODEL + TRAIN, folder=folder, limit_s=200, **mesh)
        assert all(isinstance(one, dict) for one in said), said
        found[name] = folder, said
    return found


@pytest.mark.parametrize("name", SEVERAL)
def test_a_mesh_trains_the_model_of_one_process(
    name: str, trained: dict[str, tuple[Path, list[Any]]]
) -> None:
    (alone, (one,)), (folder, said) = trained["one"], trained[name]
    right, found = state(alone), state(folder)

    assert all(rank["is_same_optimizer"] for rank in said)
    for rank in said:
        assert rank["norms"] == pytest.approx(one["norms"], rel=1e-5)
    # trainers of one batch say one loss, and the mean over batches is one process's
    by_batch = {rank["batch"]: rank["losses"] for rank in said}
    assert all(rank["losses"] == pytest.approx(by_batch[rank["batch"]]) for rank in said)
    means = [sum(step) / len(step) for step in zip(*by_batch.values(), strict=True)]
    assert means == pytest.approx(one["losses"], rel=1e-5)
    check_same(found, right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", SEVERAL)
def test_trainers_of_one_batch_take_the_same_samples_and_draw_the_same_numbers(
    name: str, trained: dict[str, tuple[Path, list[Any]]]
) -> None:
    _, said = trained[name]
    seen = {rank["batch"]: rank["seen"] for rank in said}

    assert all(rank["seen"] == seen[rank["batch"]] for rank in said)
    samples = [sample for batches in seen.values() for batch in batches for sample in batch]
    assert sorted(samples) == list(range(16))
    for first, second in zip(said[::2], said[1::2], strict=True):
        assert first["drawn"] == second["drawn"]


@pytest.mark.parametrize(
    "name", [name for name in ("tensor", "tensor x shard", "all") if name in MESHES]
)
def test_a_mesh_loads_what_every_other_one_saved_exactly(
    name: str, trained: dict[str, tuple[Path, list[Any]]]
) -> None:
    root = trained["one"][0].parent
    folder = root / f"loads as {name}"
    folder.mkdir()
    body = f"FROM, MESH = {list(MESHES)!r}, {name!r}\n{LOAD}"

    said = start_ranks(MODEL + body, folder=folder, limit_s=200, **MESHES[name])

    assert said == [[[{"note": "saved"}, 3]] * len(MESHES)] * len(said)
    for other in MESHES:
        before, after = state(root / other), state(root / other / f"again of {name}")
        check_same(after, before, rtol=0, atol=0)


def test_an_unknown_block_is_refused_with_what_is_missing(tmp_path: Path) -> None:
    body = """
    model = SmallModel()
    session.prepare(model, torch.optim.SGD(model.parameters(), lr=1.0))
    """

    for one in start_ranks(body, folder=tmp_path, tensor=2):
        assert (
            "SmallModel has none of a size that 2 trainers can share: layers.0 (Layer)" in one
        )
