"""What a checkpoint of all trainers holds is loaded, also where an optimizer learnt nothing."""

from __future__ import annotations

import pytest
import torch

from smtc_lab.parallel.full_state import full_state, load_full_state


def trained(learning_rate: float, momentum: float) -> dict[str, object]:
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=momentum)
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    return {"model": model, "optimizer": optimizer}


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_one_process_loads_what_it_saved(momentum: float) -> None:
    first, second = trained(0.1, momentum), trained(0.5, momentum)

    assert load_full_state(second, (full_state(first), 3)) == ({}, 3)

    one, other = full_state(first), full_state(second)
    assert other["optimizer"]["param_groups"] == one["optimizer"]["param_groups"]
    torch.testing.assert_close(other["model"], one["model"], rtol=0, atol=0)
    torch.testing.assert_close(
        other["optimizer"]["state"], one["optimizer"]["state"], rtol=0, atol=0
    )
