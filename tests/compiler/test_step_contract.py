"""A training step does the same under every backend that runs in this process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from smtc_lab.compiler.eager import EagerStep
from smtc_lab.compiler.inductor.backend import InductorStep
from smtc_lab.spec.compiler import TrainingCompilerConfig

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from smtc_lab.compiler.step import CompiledStep, TrainStep

sys.path.insert(0, str(Path(__file__).parent))
import step_contract

NAMES = [check.__name__.removeprefix("check_") for check in step_contract.CHECKS]


def make_eager(
    train_step: TrainStep, model: torch.nn.Module, optimizer: torch.optim.Optimizer
) -> CompiledStep:
    return EagerStep(
        train_step, model, optimizer, config=TrainingCompilerConfig(backend="eager")
    )


def make_inductor(
    train_step: TrainStep, model: torch.nn.Module, optimizer: torch.optim.Optimizer
) -> CompiledStep:
    config = TrainingCompilerConfig(backend="inductor")
    return InductorStep(train_step, model, optimizer, config=config)


@pytest.mark.parametrize("check", step_contract.CHECKS, ids=NAMES)
def test_eager(check: Callable[..., None]) -> None:
    check(make_eager)


@pytest.mark.usefixtures("code_cache", "fresh_dynamo")
@pytest.mark.parametrize("check", step_contract.CHECKS, ids=NAMES)
def test_inductor(check: Callable[..., None]) -> None:
    check(make_inductor)
