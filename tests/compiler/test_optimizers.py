"""An optimizer is made fused in place, and computes the same."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
import torch

from smtc_lab.compiler.optimizers import FusedOptimizer

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeOptimizer = Callable[[Any], torch.optim.Optimizer]

OPTIMIZERS: dict[str, MakeOptimizer] = {
    "sgd": lambda it: torch.optim.SGD(it, lr=0.1, momentum=0.9, nesterov=True),
    "adam": lambda it: torch.optim.Adam(it, lr=0.01, amsgrad=True),
    "adamw": lambda it: torch.optim.AdamW(it, lr=0.01, weight_decay=0.1),
    "adagrad": lambda it: torch.optim.Adagrad(it, lr=0.1),
}


def take_steps(model: torch.nn.Module, optimizer: torch.optim.Optimizer, count: int) -> None:
    data = torch.linspace(-1, 1, 12).reshape(3, 4)
    for _ in range(count):
        optimizer.zero_grad()
        model(data).square().sum().backward()
        optimizer.step()


def assert_same_weights(model: torch.nn.Module, other: torch.nn.Module) -> None:
    for one, two in zip(model.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(one, two, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
@pytest.mark.parametrize("steps_before", [0, 3])
def test_a_fused_optimizer_computes_the_same(make: MakeOptimizer, steps_before: int) -> None:
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 3)
    plain = copy.deepcopy(model)
    optimizer, plain_optimizer = make(model.parameters()), make(plain.parameters())
    take_steps(model, optimizer, steps_before)

    fused = FusedOptimizer(optimizer)
    take_steps(model, optimizer, 3)
    fused_steps_were_fused = optimizer.param_groups[0]["fused"]
    fused.undo()
    take_steps(model, optimizer, 3)

    take_steps(plain, plain_optimizer, steps_before + 6)
    assert fused.problem is None
    assert fused_steps_were_fused is True
    assert not optimizer.param_groups[0]["fused"]
    assert_same_weights(model, plain)


def test_undoing_twice_keeps_what_the_script_chose() -> None:
    model = torch.nn.Linear(4, 3)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)

    fused = FusedOptimizer(optimizer)
    fused.undo()
    fused.undo()

    assert optimizer.param_groups[0]["fused"] is True


def test_an_optimizer_without_a_kernel_says_so_and_stays() -> None:
    optimizer = torch.optim.Adadelta(torch.nn.Linear(4, 3).parameters())

    fused = FusedOptimizer(optimizer)

    assert fused.problem == "torch has no fused kernel for Adadelta."
    assert "fused" not in optimizer.param_groups[0]


def test_complex_parameters_are_not_fused() -> None:
    parameter = torch.nn.Parameter(torch.zeros(2, dtype=torch.complex64))

    fused = FusedOptimizer(torch.optim.AdamW([parameter]))

    assert fused.problem is not None
    assert "not for torch.complex64 on cpu" in fused.problem


def test_a_subclass_may_have_a_formula_of_its_own() -> None:
    class MyAdam(torch.optim.Adam):
        pass

    fused = FusedOptimizer(MyAdam(torch.nn.Linear(4, 3).parameters()))

    assert fused.problem == "torch has no fused kernel for MyAdam."
