"""Mixed precision of the script's own, and of ours, on a GPU: as plain torch trains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch import nn
from torch.nn import functional

from smtc_lab.compiler.backends import step_maker
from smtc_lab.spec.compiler import TrainingCompilerConfig

if TYPE_CHECKING:
    from smtc_lab.compiler.step import CompiledStep, TrainStep
    from smtc_lab.errors import CompilerError
    from smtc_lab.spec.compiler import Precision

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("code_cache", "fresh_dynamo")]

DEVICE = "cuda"
STEPS = 20
MOST_APART = 0.02
"""Of a loss. A kernel that keeps what plain torch rounds to half precision is a bit off."""


def made() -> tuple[nn.Module, torch.optim.Optimizer, list[torch.Tensor]]:
    torch.manual_seed(0)
    layers = [nn.Linear(64, 256), nn.LayerNorm(256), nn.GELU(), nn.Linear(256, 256), nn.GELU()]
    model = nn.Sequential(*layers, nn.Linear(256, 1)).to(DEVICE)
    batches = [torch.randn(128, 64) for _ in range(STEPS)]
    return model, torch.optim.AdamW(model.parameters(), lr=3e-3), batches


def loss_of(model: nn.Module, batch: torch.Tensor) -> torch.Tensor:
    return functional.mse_loss(model(batch).float(), batch[:, :4].sum(dim=1, keepdim=True))


def compiled(
    train_step: TrainStep,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    *,
    backend: str,
    precision: Precision = "highest",
) -> CompiledStep:
    def refuse(error: CompilerError) -> None:
        raise error

    config = TrainingCompilerConfig(backend=backend, precision=precision)
    return step_maker(train_step, model, optimizer, not_xla="not here")(backend, config, refuse)


@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_a_scaled_loss_in_float16_falls_as_in_plain_torch(backend: str) -> None:
    def trained(backend: str | None) -> tuple[list[float], float]:
        # Gradients overflow at first: steps are left out until the scale is low enough.
        scaler = torch.amp.GradScaler(DEVICE, init_scale=2.0**24, growth_interval=8)
        model, optimizer, batches = made()

        def train_step(
            model: nn.Module, optimizer: torch.optim.Optimizer, batch: torch.Tensor
        ) -> torch.Tensor:
            optimizer.zero_grad()
            with torch.autocast(DEVICE, torch.float16):
                loss = loss_of(model, batch)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            return loss.detach()

        if backend is None:
            losses = [train_step(model, optimizer, it.to(DEVICE)) for it in batches]
        else:
            step = compiled(train_step, model, optimizer, backend=backend)
            losses = [step(it) for it in batches]
            step.wait()
            facts = step.facts()
            assert (facts["device"], facts["fused_optimizer"]) == (DEVICE, True)
            step.leave()
        return [float(loss) for loss in losses], scaler.get_scale()

    plain, plain_scale = trained(None)
    losses, scale = trained(backend)

    assert losses == pytest.approx(plain, rel=MOST_APART)
    assert losses[-1] < losses[0] / 2
    assert scale == plain_scale < 2.0**24


@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_the_precision_bf16_is_autocast_around_the_model(backend: str) -> None:
    def plain_step(
        model: nn.Module, optimizer: torch.optim.Optimizer, batch: torch.Tensor
    ) -> torch.Tensor:
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        optimizer.step()
        return loss.detach()

    def under_autocast(
        model: nn.Module, optimizer: torch.optim.Optimizer, batch: torch.Tensor
    ) -> torch.Tensor:
        with torch.autocast(DEVICE, torch.bfloat16):
            return plain_step(model, optimizer, batch)

    model, optimizer, batches = made()
    plain = [float(under_autocast(model, optimizer, it.to(DEVICE))) for it in batches]
    model, optimizer, batches = made()
    step = compiled(plain_step, model, optimizer, backend=backend, precision="bf16")
    losses = [float(step(it)) for it in batches]
    step.leave()

    assert losses == pytest.approx(plain, rel=MOST_APART)
    assert losses[-1] < losses[0] / 2
    assert {it.dtype for it in model.parameters()} == {torch.float32}
