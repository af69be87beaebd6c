"""Which torch can run the schedules, and what else a pipeline refuses at once."""

from __future__ import annotations

import pytest
import torch

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.pipeline.checks import check_model
from smtc_lab.parallel.pipeline.schedules import check_torch


@pytest.mark.parametrize("version", ["2.9.1", "2.12.1"])
def test_a_torch_that_does_not_run_every_pipeline_is_refused_with_the_first_that_does(
    version: str,
) -> None:
    with pytest.raises(EntryPointError, match=r"Install torch 2\.13 or newer"):
        check_torch(version)


@pytest.mark.parametrize("version", ["2.13.0+cpu", "2.15.1+cu132", "3.0"])
def test_a_later_torch_is_taken(version: str) -> None:
    check_torch(version)


def test_batch_normalization_is_refused_by_the_name_of_its_module() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))

    with pytest.raises(EntryPointError, match=r"1 .*BatchNorm1d"):
        check_model(model, torch.optim.SGD(model.parameters(), lr=0.1))


def test_an_optimizer_of_all_parameters_at_once_is_refused() -> None:
    model = torch.nn.Linear(4, 4)

    with pytest.raises(EntryPointError, match="LBFGS searches along all parameters"):
        check_model(model, torch.optim.LBFGS(model.parameters()))
