"""Scripts that step no optimizer of torch's are timed by other means, which they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.runtime.conftest import RunScript

BY_HAND = """
    import torch

    model = torch.nn.Linear(2, 1)
    for step in range(6):
        model.zero_grad()
        model(torch.ones(4, 2)).sum().backward()
        for parameter in model.parameters():
            parameter.data.add_(parameter.grad, alpha=-0.1)
    print("trained")
"""
BY_HAND_WITH_LOADER = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Linear(2, 1)
    train = DataLoader(TensorDataset(torch.ones(10, 2)), batch_size=4)
    validate = DataLoader(TensorDataset(torch.ones(64, 2)), batch_size=64)
    for epoch in range(2):
        for (batch,) in train:
            model.zero_grad()
            for part in batch.split(2):
                model(part).sum().backward()
            for parameter in model.parameters():
                parameter.data.add_(parameter.grad, alpha=-0.1)
        for (batch,) in validate:
            model(batch)
"""
TRIAL_FIRST = """
    import torch

    model = torch.nn.Linear(2, 1)
    model(torch.ones(4, 2)).sum().backward()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        for part in range(2):
            model(torch.ones(4, 2)).sum().backward()
        optimizer.step()
"""
EVALUATIONS = """
    import itertools
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train = DataLoader(TensorDataset(torch.ones(10, 2)), batch_size=4)
    validate = DataLoader(TensorDataset(torch.ones(64, 2)), batch_size=16)

    @torch.no_grad()
    def check(batches):  # as Lightning does, which asks for no batch beyond those that it wants
        for (batch,) in itertools.islice(validate, batches):
            model(batch)

    check(2)
    for epoch in range(2):
        for (batch,) in train:
            optimizer.zero_grad()
            model(batch).sum().backward()
            optimizer.step()
        check(4)
"""


def told(ended: Any) -> list[str]:
    return [event.message for event in ended.events if event.kind == "steps"]


def test_a_loop_that_applies_its_gradients_itself_is_timed_by_backward(
    run_warm: RunScript,
) -> None:
    ended = run_warm(BY_HAND)

    assert [step.step for step in ended.steps] == list(range(6))
    assert {step.num_samples for step in ended.steps} == {None}
    (how,) = told(ended)
    assert how.endswith("from the end of one backward() to the end of the next.")
    assert how in ended.printed


def test_with_a_dataloader_such_a_step_ends_with_the_next_batch(run_warm: RunScript) -> None:
    ended = run_warm(BY_HAND_WITH_LOADER)

    assert [step.num_samples for step in ended.steps] == [4, 4, 2, 4, 4, 2]
    assert all(0 < step.data_wait_s <= step.step_time_s for step in ended.steps)
    (how,) = told(ended)
    assert how.endswith("from asking for a batch to asking for the next one.")


@pytest.mark.parametrize("steps", [1, 3])
def test_it_ends_at_max_steps(run_warm: RunScript, steps: int) -> None:
    ended = run_warm(BY_HAND, SMTC_MAX_STEPS=str(steps))

    assert "trained" not in ended.printed
    assert len(ended.steps) == steps
    assert len(told(ended)) == 1


def test_a_backward_pass_before_the_optimizer_is_made_is_no_step(run_warm: RunScript) -> None:
    ended = run_warm(TRIAL_FIRST)

    assert [step.step for step in ended.steps] == list(range(4))
    assert told(ended) == []


def test_batches_of_evaluations_are_no_samples_of_the_next_step(run_warm: RunScript) -> None:
    ended = run_warm(EVALUATIONS)

    assert [step.num_samples for step in ended.steps] == [4, 4, 2, 4, 4, 2]


def test_torchs_own_batches_are_counted_to_the_last_one(run_warm: RunScript) -> None:
    ended = run_warm(EVALUATIONS, SMTC_MAX_STEPS="5")

    assert {record.server for record in ended.loader} == {"torch"}
    assert sum(record.batches for record in ended.loader) == 2 + 3 + 4 + 2
