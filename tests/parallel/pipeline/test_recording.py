"""One pass without memory tells what modules cost, and leaves the model as it was."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.pipeline.cutting.pieces import Pieces, activation_bytes, flops
from smtc_lab.parallel.pipeline.cutting.recording import record
from tests.parallel.pipeline.models import MODELS

if TYPE_CHECKING:
    from smtc_lab.parallel.pipeline.cutting.calls import Recording

CPU = torch.device("cpu")
ROOT = Path(__file__).parents[3]

LARGE = """
import json
import torch
from torch import nn
from smtc_lab.parallel.pipeline.cutting.partition import best_partition
from smtc_lab.parallel.pipeline.cutting.pieces import Pieces
from smtc_lab.parallel.pipeline.cutting.recording import record

class Large(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(32_000, 2048)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(2048, 16, 8192, batch_first=True) for _ in range(198)
        )
        self.head = nn.Linear(2048, 32_000)
    def forward(self, words):
        values = self.embedding(words)
        for layer in self.layers:
            values = layer(values)
        return self.head(values)

with torch.device("meta"):
    model = Large()
words = torch.ones(4, 128, dtype=torch.int64)
recorded = record(model, ((words,), {}), lambda out: out.float().mean(), torch.device("cpu"))
pieces = Pieces(recorded)
partition = best_partition(pieces.costs(flops_per_byte=100), 8, microbatches=16)
status = open("/proc/self/status").read()  # ru_maxrss is also that of whoever started this
print(json.dumps({
    "parameters": sum(one.numel() for one in model.parameters()),
    "peak_bytes": 1024 * int(status.partition("VmHWM:")[2].split()[0]),
    "slowest": max(partition.costs) / partition.total_cost,
}))
"""


def recorded(name: str, device: torch.device = CPU) -> tuple[nn.Module, Recording]:
    make, batch, loss = MODELS[name]
    model, (inputs, targets) = make(), batch()
    return model, record(model, ((inputs,), {}), lambda out: loss(out, targets), device)


# How long it takes is measured by ``smtc-lab bench parallel``.
def test_10_billion_parameters_are_cut_without_memory() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LARGE], cwd=ROOT, capture_output=True, text=True, check=True
    )

    said = json.loads(ended.stdout.splitlines()[-1])

    assert said["parameters"] > 10e9
    assert said["peak_bytes"] < 1e9
    assert said["slowest"] < 0.128  # an eighth is 0.125


@pytest.mark.parametrize("name", ["language", "U-net", "reused"])
def test_operations_are_those_that_torch_counts(name: str) -> None:
    model, found = recorded(name)
    _make, batch, loss = MODELS[name]
    inputs, targets = batch()
    with FlopCounterMode(display=False) as counter:
        loss(model(inputs), targets).backward()

    counted = sum(
        count
        for packet, count in counter.get_flop_counts()["Global"].items()
        if "attention" not in str(packet)
    )
    attention = sum(
        one.forward_flops + one.backward_flops
        for one in found.root.walk()
        if isinstance(one.module, nn.MultiheadAttention)
    )
    projections = 2 * 3 * 4 * 32 * 32 * 48 * 8 if name == "language" else 0

    assert flops(found.root) - attention + projections == counted


def test_a_recording_leaves_the_model_as_it_was() -> None:
    make, batch, loss = MODELS["language"]
    model, (inputs, targets) = make(), batch()
    before = {name: (id(one), one.clone()) for name, one in model.named_parameters()}

    record(model, ((inputs,), {}), lambda out: loss(out, targets), CPU)

    after = dict(model.named_parameters())
    assert after.keys() == before.keys()
    for name, (identity, value) in before.items():
        assert id(after[name]) == identity
        assert after[name].grad is None
        assert torch.equal(after[name], value)
    assert all("forward" not in module.__dict__ for module in model.modules())
    assert model.head.weight is model.embedding.weight


def test_activations_are_what_the_backward_pass_keeps() -> None:
    model = nn.Sequential(nn.Linear(10, 20), nn.Tanh(), nn.Linear(20, 5))
    found = record(model, ((torch.ones(3, 10),), {}), lambda out: out.sum(), CPU)

    kept = {one.name: activation_bytes(one) for one in found.root.walk()}

    # inputs of the first layer, and what tanh returned, which is the input of the last one
    assert kept == {"": 4 * (30 + 60), "0": 4 * 30, "1": 4 * 60, "2": 0}


def test_a_module_that_decides_by_values_is_seen_with_a_real_microbatch() -> None:
    class Deciding(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, values: torch.Tensor) -> torch.Tensor:
            values = self.first(values)
            if values.sum() > 1e9:
                raise RuntimeError
            out: torch.Tensor = self.last(values)
            return out

    model = Deciding()
    found = record(model, ((torch.ones(2, 4),), {}), lambda out: out.sum(), CPU)

    assert not found.is_without_values
    assert [one.name for one in Pieces(found).sequence] == ["first", "last"]
    assert model.first.weight.grad is None


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (lambda out: out, r"a tensor of shape \(2, 4\), but a pipeline needs one number"),
        (lambda out: out.sum().detach(), r"shape \(\), but a pipeline needs one number that"),
        (lambda _: 1.0, r"returned a float"),
    ],
)
def test_a_loss_that_is_none_is_refused(loss: object, said: str) -> None:
    with pytest.raises(EntryPointError, match=said):
        record(nn.Linear(4, 4), ((torch.ones(2, 4),), {}), loss, CPU)  # type: ignore[arg-type]


def test_tensors_that_a_module_leaves_elsewhere_are_found_and_told() -> None:
    class Leaving(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.own = nn.Parameter(torch.ones(4))
            self.left: torch.Tensor | None = None

        def forward(self, values: torch.Tensor) -> torch.Tensor:
            self.left = values * self.own
            return values + self.own

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.leaving, self.last = nn.Linear(4, 4), Leaving(), nn.Linear(4, 4)

        def forward(self, values: torch.Tensor) -> torch.Tensor:
            values = self.last(self.leaving(self.first(values)))
            assert self.leaving.left is not None
            return values + self.leaving.left

    found = record(Model(), ((torch.ones(2, 4),), {}), lambda out: out.sum(), CPU)
    pieces = Pieces(found)

    assert pieces.cut(1).hidden is None
    assert str(pieces.cut(2).hidden).startswith("leaving (Leaving) hands tensors to later")
