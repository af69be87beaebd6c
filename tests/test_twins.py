"""What twins allow, and what they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from tests.twins import SLACK, distance, no_toss, twins

if TYPE_CHECKING:
    from tests.twins import Result, Toss


def learned(
    toss: Toss = no_toss,
    *,
    dtype: torch.dtype = torch.float32,
    order: tuple[int, ...] = (0, 1, 2, 3, 4, 5),
    momentum: float = 0.9,
) -> Result:
    """Train towards a loss of zero, which has lost most of its digits when it is near."""
    weights = torch.linspace(-0.3, 0.5, 6)[list(order)].to(dtype)
    model = torch.nn.Linear(6, 1, bias=False, dtype=dtype)
    model.weight.data = weights[None]
    velocity = torch.zeros_like(model.weight)
    samples = torch.linspace(-1, 1, 6) * torch.arange(1, 17)[:, None] / 8
    losses = []
    for batch in samples[:, list(order)].to(dtype).split(4):
        toss(model)
        loss = model(torch.tanh(batch)).square().mean()
        with torch.no_grad():
            velocity = momentum * velocity + torch.autograd.grad(loss, model.weight)[0]
            model.weight -= 0.1 * velocity
        losses.append(loss.detach())
    return {"losses": torch.stack(losses)}


@pytest.mark.parametrize(
    "other",
    [
        {"dtype": torch.float64},
        {"order": (5, 4, 3, 2, 1, 0)},
        {"order": (2, 0, 5, 1, 4, 3)},
    ],
    ids=str,
)
def test_another_precision_or_order_of_sums_is_as_near_as_twins(other: dict[str, Any]) -> None:
    assert distance(learned(**other), learned(), twins(learned)) < 1


def test_a_run_that_learns_otherwise_is_farther_than_twins() -> None:
    wrong = learned(momentum=0.899)

    assert distance(wrong, learned(), twins(learned)) > 10 * SLACK


def test_where_all_twins_agree_a_few_units_in_the_last_place_are_allowed() -> None:
    one = {"a": torch.tensor([1.0])}

    assert distance({"a": torch.tensor([1 + 2.0**-21])}, one, [one]) == 1
    assert distance({"a": torch.tensor([1.001])}, one, [one]) > SLACK
