"""What layers keep waits in host memory: the same model, and no parameter is moved.

There is no GPU here, so what would be moved from one is copied within host memory.
"""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

import smtc_lab as lab
from smtc_lab.parallel.activations.offload import Moving, moved_only_by
from smtc_lab.parallel.activations.recompute import recompute
from smtc_lab.parallel.pipeline.schedules import RUN_HERE
from smtc_lab.parallel.units import shard_units
from tests.parallel.conftest import start_ranks
from tests.parallel.small_model import SmallModel, batches, loss_of
from tests.parallel.tensor.models import OF_TRANSFORMERS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MESHES: list[dict[str, int]] = [{"data": 2}, {"shard": 2}, {"tensor": 2, "shard": 2}]
if RUN_HERE:
    MESHES += [{"pipeline": 2, "data": 2, "microbatches": 2}]

MOVED = """
from smtc_lab.parallel.activations import offload
moved = []
def to_host(self, values, own=offload.Moving.to_host):
    moved.append(values.numel() * values.element_size())
    return own(self, values)
offload.Moving.is_moved = lambda self, value: True
offload.Moving.to_host = to_host
"""

TRAIN = """
model = nn.Sequential(  # whose layers can be divided
    nn.Linear(8, 64),
    *(nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64)) for _ in range(4)),
    nn.Linear(64, 4),
)
def whole(one):
    if one.is_meta:  # another stage has it
        return torch.zeros(())
    return one.full_tensor() if hasattr(one, "full_tensor") else one
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, eps=1e-3)
model, optimizer = session.prepare(model, optimizer)
losses = []
for values, targets in batches(3, rank=session.batch_rank, world_size=session.num_batch_ranks):
    optimizer.zero_grad()
    losses.append(float(session.step(values, targets, nn.functional.mse_loss)))
    optimizer.step()
weights = sum(float(one.double().sum()) for one in map(whole, model.parameters()))
print(json.dumps({"losses": losses, "weights": weights, "moved": moved}))
"""


class Copying(Moving):
    """Moves what is in host memory too, and counts it."""

    def __init__(self) -> None:
        super().__init__()
        self.moved: list[int] = []
        self.places: set[int] = set()
        self.device = 0
        """Bytes that came back."""

    def is_moved(self, value: torch.Tensor) -> bool:
        return value.device.type == "cpu"

    def to_host(self, values: torch.Tensor) -> Any:
        self.moved.append(values.numel() * values.element_size())
        self.places.add(values.untyped_storage().data_ptr())
        return super().to_host(values)

    def to_device(self, host: Any, device: torch.device) -> torch.Tensor:
        self.device += host.numel() * host.element_size()
        return super().to_device(host, device)


def moving(model: nn.Module) -> Copying:
    """Let what a model's layers keep be moved; return what counts it."""
    made = Copying()
    for module in shard_units(model):
        made.follow(module)
    return made


def dropping() -> SmallModel:
    torch.manual_seed(0)
    model = SmallModel()
    for layer in model.layers:
        layer.up = nn.Sequential(layer.up, nn.Dropout(0.5))
    return model


def gradients(
    model: nn.Module, run: Callable[[nn.Module], torch.Tensor]
) -> dict[str, torch.Tensor]:
    torch.manual_seed(1)
    run(model).backward()
    return {name: one.grad for name, one in model.named_parameters() if one.grad is not None}


@pytest.mark.parametrize("is_again", [False, True])
def test_gradients_stay_bit_for_bit(*, is_again: bool) -> None:
    (batch,) = batches(1, rank=0, world_size=1)
    right = gradients(dropping(), lambda one: loss_of(one, batch))
    model = dropping()
    if is_again:
        recompute(model)
    counted = moving(model)

    found = gradients(model, lambda one: loss_of(one, batch))

    torch.testing.assert_close(found, right, rtol=0, atol=0)
    inputs = 4 * [16 * 32 * 4]
    if is_again:
        assert counted.moved == inputs, "the inputs of the layers alone"
    else:
        # of each layer its input, and of twice its width what gelu, dropout and down keep
        assert sum(counted.moved) > 3 * sum(inputs)
    assert counted.device == sum(counted.moved), "each comes back once"


@pytest.mark.parametrize("is_autocast", [False, True])
def test_no_parameter_and_no_buffer_is_moved(*, is_autocast: bool) -> None:
    model = SmallModel()
    # of a frozen one autograd does not know what it was cast from
    model.layers[0].down.weight.requires_grad_(is_autocast)
    for layer in model.layers:
        layer.up = nn.Sequential(layer.up, nn.BatchNorm1d(64))
    counted = moving(model)

    with torch.autocast("cpu", torch.bfloat16, enabled=is_autocast):
        loss = model(torch.randn(24, 8)).square().mean()
    loss.backward()

    weights = {one.nbytes for one in model.layers.parameters() if one.dim() > 1}
    assert weights == {32 * 64 * 4}
    assert counted.moved
    assert not {*counted.moved} & {32 * 64 * 4, 32 * 64 * 2}, "as float32, and as bfloat16"


def test_what_several_operations_save_is_moved_once() -> None:
    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.whole = nn.Linear(64, 192)

        def forward(self, values: torch.Tensor) -> torch.Tensor:
            query, key, value = self.whole(values).chunk(3, dim=-1)
            out: torch.Tensor = (query @ key.transpose(-1, -2)).softmax(-1) @ value
            return values + out

    def made() -> nn.Module:
        torch.manual_seed(0)
        return nn.Sequential(*(Attention() for _ in range(2)), nn.Linear(64, 1))

    def run(model: nn.Module) -> torch.Tensor:
        torch.manual_seed(2)
        out: torch.Tensor = model(torch.randn(2, 16, 64)).mean()
        return out

    right = gradients(made(), run)
    model = made()
    counted = moving(model)
    found = gradients(model, run)

    torch.testing.assert_close(found, right, rtol=0, atol=0)
    tokens = 2 * 16 * 4
    # of each layer its input, the three together, and the softmax
    assert sorted(counted.moved) == sorted(2 * [tokens * 64, tokens * 192, tokens * 16])
    assert counted.device == sum(counted.moved), "each comes back once"


def test_a_part_of_a_large_tensor_is_moved_alone() -> None:
    data = torch.randn(10_000, 64)
    model = nn.Sequential(nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 64)), nn.Linear(64, 1))
    counted = moving(model)

    model(data[:16]).sum().backward()

    assert max(counted.moved) == 16 * 64 * 4


def test_a_value_that_is_written_into_later_is_right() -> None:
    class Writes(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(64, 64)

        def forward(self, values: torch.Tensor) -> torch.Tensor:
            out = self.linear(values).exp()
            once = out * out  # saves it
            held = out.detach()
            held.add_(1)  # and now it is another
            return once + out.detach() * values

    model = nn.Sequential(Writes(), Writes())
    counted = moving(model)
    values = torch.randn(8, 64, requires_grad=True)
    saved = model[0].linear(values.detach()).exp().detach()

    model[0](values).sum().backward()

    assert counted.moved
    slope = 2 * saved * saved  # of the square of an exponential
    torch.testing.assert_close(model[0].linear.bias.grad, slope.sum(0))


def test_a_graph_that_is_kept_gives_the_same_again() -> None:
    (batch,) = batches(1, rank=0, world_size=1)
    model = SmallModel()
    moving(model)
    loss = loss_of(model, batch)

    first = torch.autograd.grad(loss, [*model.parameters()], retain_graph=True)
    second = torch.autograd.grad(loss, [*model.parameters()])

    torch.testing.assert_close(first, second, rtol=0, atol=0)


def test_nothing_is_moved_without_gradients_or_while_others_look() -> None:
    (batch,) = batches(1, rank=0, world_size=1)
    model = SmallModel()
    counted = moving(model)

    with torch.no_grad():
        loss_of(model, batch)
    with moved_only_by(None):
        loss_of(model, batch).backward()

    assert counted.moved == []


def test_a_copy_of_the_model_moves_for_itself() -> None:
    (batch,) = batches(1, rank=0, world_size=1)
    model = SmallModel()
    counted = moving(model)

    loss_of(copy.deepcopy(model), batch).backward()

    assert counted.moved == []
    again = pickle.loads(pickle.dumps(counted))  # noqa: S301  our own
    assert isinstance(again, Copying)


@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")  # dynamo asks for it
def test_a_compiled_model_moves_what_its_layers_keep() -> None:
    (batch,) = batches(1, rank=0, world_size=1)

    def made() -> SmallModel:
        torch.manual_seed(0)
        return SmallModel()

    right = gradients(made(), lambda one: loss_of(one, batch))
    model = made()
    counted = moving(model)
    compiled = torch.compile(model, backend="aot_eager")
    loss_of(compiled, batch).backward()

    found = {name: one.grad for name, one in model.named_parameters()}
    torch.testing.assert_close(found, right)
    assert counted.moved
    assert 32 * 64 * 4 not in counted.moved, "no weight"


@pytest.mark.parametrize("name", OF_TRANSFORMERS)
@pytest.mark.parametrize("is_again", [False, True])
def test_models_of_transformers_train_the_same(name: str, *, is_again: bool) -> None:
    pytest.importorskip("transformers")
    make, batch, _ = OF_TRANSFORMERS[name]
    inputs, _ = batch()
    found = []
    for is_offloaded in (False, True):
        torch.manual_seed(0)
        model = make()
        if is_again:
            recompute(model)
        if is_offloaded:
            counted = moving(model)
        found.append(gradients(model, lambda one: one(**inputs).loss))

    torch.testing.assert_close(*found, rtol=0, atol=0)
    assert counted.moved
    assert not counted.places & {one.data_ptr() for one in model.parameters()}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("mesh", MESHES, ids=str)
def test_a_job_moves_activations_in_every_layout(mesh: dict[str, int], tmp_path: Path) -> None:
    told: dict[tuple[bool, bool], list[Any]] = {}
    for is_again, is_offloaded in ((False, False), (False, True), (True, True)):
        folder = tmp_path / f"{is_again}-{is_offloaded}"
        folder.mkdir()
        told[is_again, is_offloaded] = start_ranks(
            MOVED + TRAIN,
            folder=folder,
            activation_checkpointing=is_again,
            activation_offload=is_offloaded,
            **mesh,
        )

    for plain, offloaded, both in zip(*told.values(), strict=True):
        assert plain["moved"] == []
        assert offloaded["losses"] == both["losses"] == plain["losses"]
        assert offloaded["weights"] == both["weights"] == plain["weights"]
        assert sum(offloaded["moved"]) > sum(both["moved"]) > 0
        assert not {*offloaded["moved"], *both["moved"]} & {64 * 128 * 4}, "no weight"


@pytest.mark.skipif(not RUN_HERE, reason="no pipelines with this torch")
def test_an_emulated_device_holds_a_stage_whose_activations_are_moved(tmp_path: Path) -> None:
    batch = torch.zeros(256, 8), torch.zeros(256, 4)

    def planned(*, activation_offload: bool, **options: Any) -> Any:
        return lab.plan_pipeline(
            SmallModel(),
            *batch,
            nn.functional.mse_loss,
            pipeline=2,
            microbatches=2,
            memory_weight=1.0,
            activation_offload=activation_offload,
            **options,
        )

    limit_bytes = max(one.held_bytes for one in planned(activation_offload=True).stages)
    told = []
    for is_offloaded in (False, True):
        folder = tmp_path / str(is_offloaded)
        folder.mkdir()
        told += start_ranks(
            """
            model = SmallModel()
            optimizer = torch.optim.AdamW(model.parameters())
            model, optimizer = session.prepare(model, optimizer)
            session.step(torch.zeros(256, 8), torch.zeros(256, 4), nn.functional.mse_loss)
            built = session._trainers.pipeline._built
            print(json.dumps([[one.memory_bytes, one.host_bytes] for one in built.records]))
            """,
            folder=folder,
            pipeline=2,
            microbatches=2,
            activation_offload=is_offloaded,
            limit_bytes=limit_bytes,
        )

    *refused, first, second = told
    assert all("No cut into 2 stages fits" in one for one in refused)
    assert first == second
    assert all(held <= limit_bytes and host > 0 for held, host in first)


def test_on_a_cpu_it_is_said_once_that_nothing_is_moved(run_ranks: Callable[..., Any]) -> None:
    told = run_ranks(
        """
        import io, contextlib
        said = []
        session._trainers._say = lambda kind, sentence: said.append((kind, sentence))
        model = SmallModel()
        model, optimizer = session.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1))
        print(json.dumps(said))
        """,
        data=2,
        activation_offload=True,
    )

    ((kind, sentence),), others = told
    assert others == [], "one trainer says it for all"
    assert kind == "activation_offload"
    assert sentence.startswith(
        "activation_offload moves nothing here: this trainer computes on"
    )
    assert "4 layers of SmallModel" in sentence
