from __future__ import annotations

from typing import Any

import pytest
import torch

from smtc_lab.runtime.script.permuted import permute


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(1)


def test_all_parts_of_a_batch_are_permuted_alike() -> None:
    numbers = torch.arange(8)
    labels = numbers.clone()
    names = [str(number) for number in range(8)]
    batch = {"x": numbers, "more": (labels, names, numbers), "epoch": 3, "none": None}

    assert permute(batch, generator())
    assert numbers.tolist() != list(range(8))
    assert sorted(numbers.tolist()) == list(range(8))
    assert labels.tolist() == numbers.tolist() == [int(name) for name in names]


@pytest.mark.parametrize(
    "batch",
    [
        [torch.arange(8), torch.arange(7)],
        [torch.arange(8), ["one for all"]],
        [torch.arange(8), ({"boxes": object()},)],
        [torch.arange(1)],
        ["text", "text"],
        [torch.ones(4, requires_grad=True)],
    ],
)
def test_a_batch_whose_samples_are_not_known_stays(batch: list[Any]) -> None:
    before = repr(batch)

    assert not permute(batch, generator())
    assert repr(batch) == before
