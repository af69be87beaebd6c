"""Every layout trains the model of one process, and loads what every other one saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import torch

from tests.parallel.conftest import start_ranks

if TYPE_CHECKING:
    from pathlib import Path

LAYOUTS = {
    "one": (1, 1),
    "ddp 2": (2, 1),
    "fsdp 2": (1, 2),
    "fsdp 4": (1, 4),
    "hsdp 2x2": (2, 2),
}

TRAIN = """
model = SmallModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.1, eps=1e-3)
given = optimizer
model, optimizer = session.prepare(model, optimizer)
norms = []
for batch in batches(4, rank=session.rank, world_size=session.world_size):
    optimizer.zero_grad()
    for part in session.accumulate(batch, 2):
        (loss_of(model, part) / 2).backward()
    norms.append(float(session.clip_grad_norm(model, 0.05)))
    optimizer.step()

def here(value):
    return getattr(value, "to_local", lambda: value)()

kept = [here(one) for one in model.parameters()]
kept += [here(one.grad) for one in model.parameters()]
kept += [here(v) for s in optimizer.state.values() for k, v in s.items() if k != "step"]
session.save_checkpoint(step=4, model=model, optimizer=optimizer, note="saved")
print(json.dumps({
    "norms": norms,
    "bytes": sum(one.numel() * one.element_size() for one in kept),
    "parameters": sum(one.numel() for one in model.parameters()),
    "is_same_optimizer": given is optimizer,
    "settings": [group["weight_decay"] for group in optimizer.param_groups],
}))
"""

LOAD = """
torch.manual_seed(7)
model = SmallModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=1.0)
model, optimizer = session.prepare(model, optimizer)
said = []
for name in sorted(os.listdir("..")):
    if not os.path.isdir(f"../{name}/checkpoints") or name == "loaded":
        continue
    os.environ["SAGEMAKER_BASE_DIR"] = f"../{name}"
    rest, step = session.load_checkpoint(model=model, optimizer=optimizer)
    said.append([rest, step])
    os.environ["SAGEMAKER_BASE_DIR"] = f"../{name}/again of " + LAYOUT
    session.save_checkpoint(step=step, model=model, optimizer=optimizer, **rest)
print(json.dumps(said))
"""


@dataclass(frozen=True)
class Trained:
    folder: Path
    said: list[Any]

    def state(self, folder: str = ".") -> dict[str, Any]:
        path = self.folder / folder / "checkpoints" / "step-000000000004.pt"
        state: dict[str, Any] = torch.load(path, weights_only=True)
        return state


pytestmark = pytest.mark.timeout(400)
"""The first test waits for all layouts to be trained, which takes minutes on torch 2.9."""


class Layouts(dict[str, Trained]):
    """What each layout trained; it is trained when it is asked for first."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root

    def __missing__(self, name: str) -> Trained:
        data, shard = LAYOUTS[name]
        folder = self._root / name
        folder.mkdir()
        said = start_ranks(TRAIN, data=data, shard=shard, folder=folder)
        assert all(isinstance(one, dict) for one in said), said
        self[name] = Trained(folder, said)
        return self[name]

    def whole(self) -> dict[str, Trained]:
        return {name: self[name] for name in LAYOUTS}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Layouts:
    return Layouts(tmp_path_factory.mktemp("layouts"))


@pytest.mark.parametrize("name", [name for name in LAYOUTS if name != "one"])
def test_a_layout_trains_the_model_of_one_process(name: str, trained: Layouts) -> None:
    one, several = trained["one"].state()["model"], trained[name].state()["model"]

    assert one.keys() == several.keys()
    for weight, right in one.items():
        torch.testing.assert_close(several[weight], right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_norm_of_gradients_is_that_of_one_process_on_every_rank(
    name: str, trained: Layouts
) -> None:
    right = trained["one"].said[0]["norms"]

    assert right[0] > 0.05  # so that they were clipped
    for rank in trained[name].said:
        assert rank["norms"] == pytest.approx(right, rel=1e-4)


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_optimizer_stays_the_object_that_the_script_made(
    name: str, trained: Layouts
) -> None:
    for rank in trained[name].said:
        assert rank["is_same_optimizer"]
        assert rank["settings"] == [0.1]


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_rank_holds_16_bytes_for_each_parameter_of_its_share(
    name: str, trained: Layouts
) -> None:
    _, shard = LAYOUTS[name]
    held = sum(rank["bytes"] for rank in trained[name].said) / len(trained[name].said)

    whole = trained["one"].said[0]["parameters"]
    assert held == pytest.approx(16 * whole / shard, rel=0.05)


# each of up to four processes loads and writes five checkpoints
@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_loads_what_every_layout_saved_exactly(name: str, trained: Layouts) -> None:
    data, shard = LAYOUTS[name]
    layouts = trained.whole()
    folder = layouts["one"].folder.parent / "loaded"
    folder.mkdir(exist_ok=True)

    body = f"LAYOUT = {name!r}\n" + LOAD
    said = start_ranks(body, data=data, shard=shard, folder=folder, limit_s=280)

    assert said == [[[{"note": "saved"}, 4]] * len(LAYOUTS)] * (data * shard)
    for one in layouts.values():
        saved, again = one.state(), one.state(f"again of {name}")
        assert_same(saved, again)


def assert_same(one: Any, other: Any) -> None:
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key, value in one.items():
            assert_same(value, other[key])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for value, right in zip(one, other, strict=True):
            assert_same(value, right)
    elif isinstance(one, torch.Tensor):
        assert torch.equal(one, other)
    else:
        assert one == other
