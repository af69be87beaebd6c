"""Scripts with several optimizers: which of their steps make a step of the training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.runtime.conftest import RunScript

BEGIN = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(torch.ones(12, 2)), batch_size=4)
    model = torch.nn.Linear(2, 1)
    first, second = (torch.optim.SGD(model.parameters(), lr=0.1) for _ in range(2))

    def step(optimizer, batch):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
"""
ONE_AFTER_THE_OTHER = """
    for optimizer in (first, second, first):
        for (batch,) in loader:
            step(optimizer, batch)
"""
IN_TURNS_ON_BATCHES_OF_THEIR_OWN = """
    others = iter(DataLoader(TensorDataset(torch.ones(6, 2)), batch_size=2))
    for (batch,) in loader:
        step(first, batch)
        step(second, *next(others))
"""
MANY_STEPS_WITHIN_ONE = """
    for epoch in range(2):
        for (batch,) in loader:
            if epoch:
                inner = torch.optim.SGD(model.parameters(), lr=0.1)
                for _ in range(3):
                    step(inner, batch)
            step(first, batch)
"""


@pytest.mark.parametrize(
    ("body", "samples"),
    [
        (ONE_AFTER_THE_OTHER, [4] * 9),
        (IN_TURNS_ON_BATCHES_OF_THEIR_OWN, [4, 2 + 4, 2 + 4]),
        (MANY_STEPS_WITHIN_ONE, [4] * 6),
    ],
)
def test_an_optimizer_that_goes_on_where_another_ended_makes_steps(
    run_warm: RunScript, body: str, samples: list[int]
) -> None:
    ended = run_warm(BEGIN + body)

    assert [step.num_samples for step in ended.steps] == samples
    assert all(0 < step.data_wait_s <= step.step_time_s for step in ended.steps)


@pytest.mark.parametrize("steps", [4, 5])
def test_they_end_at_max_steps_together(run_warm: RunScript, steps: int) -> None:
    ended = run_warm(BEGIN + ONE_AFTER_THE_OTHER, SMTC_MAX_STEPS=str(steps))

    assert [step.num_samples for step in ended.steps] == [4] * steps


def test_the_time_of_an_emulated_device_counts_for_each(run_warm: RunScript) -> None:
    ended = run_warm(BEGIN + ONE_AFTER_THE_OTHER, SMTC_DEVICE_STEP_TIME_S="0.02")

    assert all(step.step_time_s >= 0.02 for step in ended.steps)
