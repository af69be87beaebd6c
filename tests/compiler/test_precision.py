"""bf16 surrounds a model's calls only, and what a precision means is measured."""

from __future__ import annotations

import copy

import pytest
import torch

from smtc_lab.compiler.precision import matmul_error, set_matmul_precision, use_bfloat16


def test_a_model_under_bf16_returns_float32_and_computes_in_bfloat16() -> None:
    seen = []

    class Watching(torch.nn.Linear):
        def forward(self, it: torch.Tensor) -> dict[str, torch.Tensor]:
            output = super().forward(it)
            seen.append(output.dtype)
            return {"logits": output}

    model = Watching(4, 2)
    data = torch.ones(3, 4)
    undo = use_bfloat16(model)

    mixed = model(data)["logits"]
    undo()
    plain = model(data)["logits"]

    assert seen == [torch.bfloat16, torch.float32]
    assert mixed.dtype is torch.float32
    assert (mixed - plain).abs().max() < 0.1


def test_a_copy_of_a_model_under_bf16_is_the_plain_model() -> None:
    model = torch.nn.Linear(4, 2)
    use_bfloat16(model)
    data = torch.randn(3, 4)

    copied = copy.deepcopy(model)

    assert torch.equal(copied(data), torch.nn.functional.linear(data, model.weight, model.bias))


def test_full_precision_is_measured_as_full() -> None:
    before = torch.get_float32_matmul_precision()
    try:
        set_matmul_precision("highest")
        assert 0 < matmul_error(torch.device("cpu")) < 2e-6
        set_matmul_precision("bf16")
        assert torch.get_float32_matmul_precision() == "highest"
    finally:
        torch.set_float32_matmul_precision(before)


@pytest.mark.parametrize("precision", ["high", "medium"])
def test_a_lower_precision_is_never_worse_than_bfloat16(precision: str) -> None:
    before = torch.get_float32_matmul_precision()
    try:
        set_matmul_precision(precision)
        assert matmul_error(torch.device("cpu")) < 6e-3
    finally:
        torch.set_float32_matmul_precision(before)
