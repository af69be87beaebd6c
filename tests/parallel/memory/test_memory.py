"""What a step needs, told before it runs: right to 10 % of what a process really takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

import smtc_lab
from smtc_lab.errors import CatalogError, EntryPointError
from smtc_lab.parallel.activations.recompute import recompute
from smtc_lab.parallel.memory.memory import SEES_MOVES, memory
from smtc_lab.parallel.memory.optimizer_bytes import optimizer_bytes
from smtc_lab.parallel.memory.trace import trace_step
from tests.parallel.memory.models import FREED_GOES_BACK, MODELS
from tests.parallel.small_model import SmallModel

if TYPE_CHECKING:
    from smtc_lab.metrics.memory.needs import MemoryNeeds

ROOT = Path(__file__).parents[3]
NEAR = 0.1

MEASURE = """
import ctypes, gc, json, sys
import torch
from tests.parallel.memory.models import MODELS

make, batch, loss_of = MODELS[sys.argv[1]]
torch.manual_seed(0)
torch.set_num_threads(1)

def status(name):
    text = open("/proc/self/status").read()
    return 1024 * int(text.partition(name + ":")[2].split()[0])

warm = torch.nn.Linear(8, 8)  # what torch loads with a first step is not the model's
adamw = torch.optim.AdamW(warm.parameters())
warm(torch.ones(2, 8)).sum().backward()
adamw.step()
del warm, adamw
gc.collect()
ctypes.CDLL(None).mlockall(7)  # what a busy machine would take away meanwhile, code above all
before = status("VmRSS")
model = make()
inputs, targets = batch()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(3):
    optimizer.zero_grad()
    output = model(inputs)  # scripts have a name for it, which keeps it until the next step
    loss_of(output, targets).backward()
    optimizer.step()
open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
for step in range(2):
    optimizer.zero_grad()
    output = model(inputs)  # scripts have a name for it, which keeps it until the next step
    loss_of(output, targets).backward()
    optimizer.step()
print(json.dumps({"peak": status("VmHWM") - before}))
"""


def measured_bytes(name: str) -> int:
    """Return what a process takes for training a model, above what it has before."""
    ended = subprocess.run(
        [sys.executable, "-c", MEASURE, name],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            **FREED_GOES_BACK,
        },
        capture_output=True,
        text=True,
        check=True,
        timeout=150,
    )
    return int(json.loads(ended.stdout.splitlines()[-1])["peak"])


def layers(count: int) -> nn.Module:
    """Return a model of so many layers of 256 MiB, each of which FSDP2 gathers by itself."""
    return nn.Sequential(
        *(nn.Sequential(nn.Linear(8192, 8192, bias=False)) for _ in range(count))
    )


def needs_of(name: str, **options: Any) -> MemoryNeeds:
    make, batch, loss_of = MODELS[name]
    model = make()
    optimizer = torch.optim.AdamW(model.parameters())
    return memory(model, batch(), loss_of, optimizer=optimizer, **options)


@pytest.mark.timeout(200)
@pytest.mark.parametrize("name", MODELS)
def test_what_one_device_needs_is_what_a_process_takes(name: str) -> None:
    predicted = needs_of(name, devices=(), device="cpu").strategies[0].peak_bytes

    assert predicted == pytest.approx(measured_bytes(name), rel=NEAR)


def test_parts_are_those_of_the_model_and_its_optimizer() -> None:
    model = nn.Sequential(nn.Linear(100, 200), nn.Tanh(), nn.Linear(200, 10))
    size = 4 * (100 * 200 + 200 + 200 * 10 + 10)
    batch = (torch.randn(16, 100), torch.randint(10, (16,)))
    needs = memory(model, batch, nn.functional.cross_entropy, devices=(2,))
    alone = needs.strategies[0]

    assert needs.batch_size == 16
    assert (alone.parameter_bytes, alone.gradient_bytes) == (size, size)
    assert alone.optimizer_bytes == 2 * size
    # inputs, tanh's output, log-softmax, targets are the batch's
    assert alone.activation_bytes == 4 * 16 * (200 + 10) + 4
    by_name = {(one.strategy, one.devices): one for one in needs.strategies}
    shard, data = by_name["shard", 2], by_name["data", 2]
    assert shard.parameter_bytes == pytest.approx(size / 2)
    assert shard.optimizer_bytes == pytest.approx(size)
    assert data.parameter_bytes == size
    assert by_name["tensor", 2].note.startswith("A formula")


def test_a_model_is_left_as_it_was() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    given = {name: value.data_ptr() for name, value in model.state_dict().items()}
    random = torch.random.get_rng_state()

    memory(model, (torch.randn(8, 4, device="meta"), None), lambda out, _: out.sum())

    after = model.state_dict()
    assert all(torch.equal(after[name], value) for name, value in before.items())
    assert {name: value.data_ptr() for name, value in after.items()} == given
    assert all(value.grad is None for value in model.parameters())
    assert not optimizer.state
    assert torch.equal(torch.random.get_rng_state(), random)


def test_activations_are_freed_while_gradients_come() -> None:
    make, batch, loss_of = MODELS["wide"]
    inputs, targets = batch()
    trace = trace_step(make(), inputs, targets, loss_of)

    assert trace.gradient_bytes == trace.parameter_bytes
    assert trace.gradients.max() <= trace.gradient_bytes
    assert trace.peak_bytes() < trace.gradient_bytes + trace.peak_bytes(0.0)
    assert trace.peak_bytes(0.0) >= trace.activation_bytes


@pytest.mark.parametrize(
    ("make", "state", "all_at_once", "on_accelerator"),
    [
        (torch.optim.AdamW, 2.0, False, False),
        (torch.optim.AdamW, 2.0, True, True),
        (lambda p: torch.optim.AdamW(p, amsgrad=True), 3.0, True, True),
        (lambda p: torch.optim.SGD(p, lr=0.1), 0.0, False, False),
        (lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), 1.0, False, False),
    ],
)
def test_an_optimizer_tells_what_it_keeps_by_a_step_of_its_kind(
    make: Any, state: float, *, all_at_once: bool, on_accelerator: bool
) -> None:
    optimizer = make(nn.Linear(3, 3).parameters())
    taken = optimizer_bytes(optimizer, on_accelerator=on_accelerator)

    assert taken.state == state
    assert taken.steps_all_at_once is all_at_once
    assert not optimizer.state


def test_devices_that_fit_come_cheapest_first_with_the_first_strategy_that_does() -> None:
    with torch.device("meta"):
        large = layers(40)
    batch = (torch.empty(8, 8192, device="meta"), None)
    needs = memory(large, batch, lambda out, _: out.mean())
    alone = needs.strategies[0]

    assert alone.peak_bytes > 40 * 4 * 4 * 8192**2, "parameters, gradients, two moments"
    assert needs.fits
    prices = [one.usd_per_hour for one in needs.fits if one.usd_per_hour is not None]
    assert prices == sorted(prices)
    for fit in needs.fits:
        assert fit.peak_bytes <= fit.usable_bytes
        if fit.usable_bytes < alone.peak_bytes:
            assert fit.strategy in {"shard", "tensor", "pipeline"}
    assert needs.fits[0].instance_type in str(needs)
    assert smtc_lab.MemoryNeeds.model_validate_json(needs.model_dump_json()) == needs


def test_advice_follows_the_order_of_aws() -> None:
    small = needs_of("wide", instance_type="ml.p3.2xlarge").advice
    assert "train data parallel" in small[0]

    with torch.device("meta"):
        wide = nn.Sequential(nn.Linear(16, 16), nn.ReLU())
    samples = 2**27
    long = memory(
        wide,
        (torch.empty(samples, 16, device="meta"), None),
        lambda out, _: out.mean(),
        instance_type="ml.p3.2xlarge",
    ).advice
    assert "a batch of about" in long[0]

    with torch.device("meta"):
        large = layers(40)
    huge = memory(
        large,
        (torch.empty(1, 8192, device="meta"), None),
        lambda out, _: out.mean(),
        instance_type="ml.p3.2xlarge",
    ).advice
    assert "with a batch of 1 either" in huge[0]
    assert 'distribution={"shard": 4}' in huge[1]


tells_of_moves = pytest.mark.skipif(
    not SEES_MOVES, reason="of this torch nothing is told, see the next test"
)


def test_nothing_is_told_of_moves_that_a_torch_does_not_show() -> None:
    (alone, *_) = offloading().strategies
    assert (alone.offloaded is not None) == SEES_MOVES


def offloading(**options: Any) -> MemoryNeeds:
    """Return what eight layers need of which a batch makes much more than they have."""
    with torch.device("meta"):
        model = SmallModel(width=64, layers=8)
    batch = torch.empty(1_600_000, 8), torch.empty(1_600_000, 4)
    on_meta = tuple(one.to("meta") for one in batch)
    return memory(model, on_meta, nn.functional.mse_loss, devices=(2, 4), **options)


@tells_of_moves
def test_activations_in_host_memory_leave_one_layer_on_each_device() -> None:
    needs = offloading(instance_type="ml.p3.2xlarge")
    alone = needs.strategies[0]
    layer = 1_600_000 * 4 * (64 + 128 + 128)  # its input, and what gelu and down keep
    # the input of the last layer, and what the loss keeps
    outside = alone.activation_bytes - 8 * layer

    assert alone.offloaded is not None
    assert alone.offloaded.host_bytes == 8 * layer
    assert alone.offloaded.activation_bytes == outside + layer
    assert alone.peak_bytes > alone.activation_bytes
    assert outside + layer < alone.offloaded.peak_bytes < outside + 2 * layer
    for one in needs.strategies:
        assert one.offloaded is not None
        assert one.offloaded.peak_bytes < one.peak_bytes
        assert one.offloaded.host_bytes > 0
    assert "peak offloaded" in str(needs)
    assert smtc_lab.MemoryNeeds.model_validate_json(needs.model_dump_json()) == needs


@tells_of_moves
def test_inputs_of_layers_that_are_computed_again_can_be_moved_too() -> None:
    model = SmallModel(width=64, layers=8)
    recompute(model)
    batch = torch.empty(1_600, 8), torch.empty(1_600, 4)
    alone = memory(model, batch, nn.functional.mse_loss, devices=()).strategies[0]

    assert alone.offloaded is not None
    assert alone.offloaded.host_bytes == 8 * 1_600 * 4 * 64


@tells_of_moves
def test_host_memory_comes_before_more_devices_where_it_is_enough() -> None:
    batch, host, spread = offloading(instance_type="ml.p3.2xlarge").advice

    assert "a batch of about" in batch
    assert host.startswith('With distribution={"activation_offload": true} one device of 14.4')
    assert "15.3 GiB of activations wait in host memory" in host
    assert spread.startswith("Over 2 devices")


@tells_of_moves
def test_a_model_that_decides_by_values_is_told_with_host_memory_too() -> None:
    class Decides(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(64, 64)

        def forward(self, values: torch.Tensor) -> torch.Tensor:
            chosen = torch.nonzero(values[:, 0] > 0).flatten()
            out: torch.Tensor = values.index_add(0, chosen, self.linear(values[chosen]).tanh())
            return out

    torch.manual_seed(0)
    model = nn.Sequential(*(nn.Sequential(Decides()) for _ in range(4)))
    batch = torch.randn(64, 64), None
    random = torch.random.get_rng_state()
    (alone,) = memory(model, batch, lambda out, _: out.sum(), devices=()).strategies

    assert alone.offloaded is not None
    assert alone.offloaded.host_bytes > 0
    assert alone.offloaded.activation_bytes < alone.activation_bytes
    assert all(one.grad is None for one in model.parameters())
    assert torch.equal(torch.random.get_rng_state(), random)


def test_an_operation_that_torch_cannot_imagine_is_seen_with_a_real_step() -> None:
    class Unimagined(nn.Linear):
        def forward(self, values: torch.Tensor) -> torch.Tensor:
            if type(values) is not torch.Tensor:  # as a product of experts before torch 2.15
                raise RuntimeError("there is no kernel of shapes alone")
            return super().forward(values)

    batch = torch.randn(64, 64), None
    told = [
        memory(kind(64, 64), batch, lambda out, _: out.mean(), devices=()).strategies[0]
        for kind in (Unimagined, nn.Linear)
    ]

    assert told[0].peak_bytes == told[1].peak_bytes


def test_what_cannot_be_is_refused() -> None:
    model = nn.Linear(4, 4)

    with pytest.raises(EntryPointError, match=r"The batch is a Tensor, but a loss function"):
        memory(model, torch.ones(2, 4), lambda out, _: out.mean())
    with pytest.raises(EntryPointError, match=r"The loss function returned a tensor of shape"):
        memory(model, (torch.ones(2, 4), None), lambda out, _: out)
    with pytest.raises(CatalogError, match=r"Instance type 'ml.p9' is not one of"):
        memory(
            model, (torch.ones(2, 4), None), lambda out, _: out.mean(), instance_type="ml.p9"
        )
