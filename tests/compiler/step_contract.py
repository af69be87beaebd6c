"""What holds for a training step under every backend; run by each backend's own tests.

Each ``check_*`` takes ``make_step(train_step, model, optimizer) -> CompiledStep``. A backend
that wants a process of its own runs ``CHECKS`` there.

Nearly all checks train one and the same network, so that a backend with a cache compiles once.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from tests.twins import SLACK, ULP, distance, no_toss, twins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from smtc_lab.compiler.step import CompiledStep, TrainStep
    from tests.twins import Result, Toss

    MakeStep = Callable[[TrainStep, nn.Module, torch.optim.Optimizer], CompiledStep]

NUM_TOKENS = 11
BATCH_SIZE = 4
BF16_ULP = float(torch.finfo(torch.bfloat16).eps)


class Net(nn.Module):
    """A bit of everything: tied weights, a frozen one, buffers that change with each step."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(NUM_TOKENS, 8)
        self.hidden = nn.Linear(8, 8)
        self.norm = nn.BatchNorm1d(8)
        self.scale = nn.Parameter(torch.full((8,), 0.5), requires_grad=False)
        self.head = nn.Linear(8, NUM_TOKENS, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, batch: dict[str, Any]) -> torch.Tensor:
        hidden = self.embedding(batch["tokens"]).mean(dim=1)
        hidden = self.norm(torch.tanh(self.hidden(hidden))) * self.scale
        return functional.cross_entropy(self.head(hidden), batch["nested"][0])


class SmallNet(nn.Module):
    """Next to nothing, for what each backend compiles anew."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(NUM_TOKENS, 4))
        self.hidden = nn.Linear(4, 4)

    def forward(self, batch: dict[str, Any]) -> torch.Tensor:
        return self.hidden(self.table[batch["tokens"][:, 0]]).tanh().sum()


class CheckpointedNet(SmallNet):
    """A network that computes its activations again in the backward pass."""

    def forward(self, batch: dict[str, Any]) -> torch.Tensor:
        return checkpoint(super().forward, batch, use_reentrant=False)


def batches(count: int, *, sizes: Iterable[int] = ()) -> list[dict[str, Any]]:
    generator = torch.Generator().manual_seed(1)
    sizes = [*sizes, *[BATCH_SIZE] * count][:count]
    return [
        {
            "tokens": torch.randint(0, NUM_TOKENS, (size, 3), generator=generator),
            "nested": (torch.randint(0, NUM_TOKENS, (size,), generator=generator),),
        }
        for size in sizes
    ]


def plain_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, batch: dict[str, Any]
) -> torch.Tensor:
    optimizer.zero_grad()
    loss = model(batch)
    loss.backward()
    optimizer.step()
    return loss


def adamw(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), lr=0.05)


def sgd(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def check_losses_and_weights_equal_the_eager_ones(make_step: MakeStep) -> None:
    for make_optimizer in (adamw, sgd):
        compare(make_step, plain_step, make_optimizer=make_optimizer)


def check_a_loss_is_read_by_float(make_step: MakeStep) -> None:
    model = make_net()
    step = make_step(plain_step, model, adamw(model))

    loss = step(batches(1)[0])
    step.wait()

    assert 0 < float(loss.detach()) < 100


def check_gradients_accumulate(make_step: MakeStep) -> None:
    def train_step(
        model: nn.Module, optimizer: torch.optim.Optimizer, batch: dict[str, Any]
    ) -> torch.Tensor:
        optimizer.zero_grad()
        losses = []
        for _ in range(2):
            losses.append(model(batch) / 2)
            losses[-1].backward()
        optimizer.step()
        return sum(losses)

    compare(make_step, train_step)


def check_gradients_are_clipped(make_step: MakeStep) -> None:
    def train_step(
        model: nn.Module, optimizer: torch.optim.Optimizer, batch: dict[str, Any]
    ) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.01)
        optimizer.step()
        return loss

    compare(make_step, train_step, make_optimizer=sgd)


def check_a_scheduler_changes_the_learning_rate(make_step: MakeStep) -> None:
    def with_scheduler() -> TrainStep:
        schedulers: list[torch.optim.lr_scheduler.LRScheduler] = []

        def train_step(
            model: nn.Module, optimizer: torch.optim.Optimizer, batch: dict[str, Any]
        ) -> torch.Tensor:
            if not schedulers:
                schedulers.append(torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.1))
            loss = plain_step(model, optimizer, batch)
            schedulers[0].step()
            return loss

        return train_step

    compare(make_step, make_train_step=with_scheduler)


def check_mixed_precision_by_the_script(make_step: MakeStep) -> None:
    def train_step(
        model: nn.Module, optimizer: torch.optim.Optimizer, batch: dict[str, Any]
    ) -> torch.Tensor:
        optimizer.zero_grad()
        with torch.autocast(batch["tokens"].device.type, torch.bfloat16):
            loss = model(batch)
        loss.backward()
        optimizer.step()
        return loss

    # Whatever is computed again in the backward pass is so at the same precision.
    compare(make_step, train_step, make_model=CheckpointedNet, ulp=BF16_ULP)


def check_activations_are_computed_again(make_step: MakeStep) -> None:
    compare(make_step, plain_step, make_model=CheckpointedNet)


def check_a_smaller_last_batch(make_step: MakeStep) -> None:
    compare(make_step, plain_step, make_model=SmallNet, data=batches(4, sizes=[4, 4, 3, 2]))


def check_tied_weights_stay_tied(make_step: MakeStep) -> None:
    model = make_net()
    step = make_step(plain_step, model, adamw(model))
    step(batches(1)[0])
    step.wait()

    assert model.head.weight is model.embedding.weight
    assert sum(1 for _ in model.parameters()) == sum(1 for _ in Net().parameters())


def check_what_needs_no_gradient_stays(make_step: MakeStep) -> None:
    model = make_net()
    step = make_step(plain_step, model, adamw(model))
    step(batches(1)[0])
    step.wait()
    step.leave()

    assert model.scale.tolist() == [0.5] * 8
    assert int(model.norm.num_batches_tracked) == 1


def check_training_goes_on_eagerly_after_leaving(make_step: MakeStep) -> None:
    data = batches(4)
    model = make_net()
    optimizer = adamw(model)
    step = make_step(plain_step, model, optimizer)

    losses = [step(it).detach() for it in data[:2]]
    step.leave()
    losses += [plain_step(model, optimizer, it).detach() for it in data[2:]]

    assert_same(losses, model, partial(learned_eagerly, plain_step, data=data))
    assert {it.device.type for it in model.parameters()} == {"cpu"}


CHECKS: tuple[Callable[[MakeStep], None], ...] = tuple(
    check for name, check in sorted(globals().items()) if name.startswith("check_")
)


def make_net() -> Net:
    torch.manual_seed(0)
    return Net()


def compare(  # noqa: PLR0913  what differs between the checks, by name
    make_step: MakeStep,
    train_step: TrainStep | None = None,
    *,
    make_train_step: Callable[[], TrainStep] | None = None,
    make_model: Callable[[], nn.Module] = Net,
    make_optimizer: Callable[[nn.Module], torch.optim.Optimizer] = adamw,
    data: list[dict[str, Any]] | None = None,
    ulp: float = ULP,
) -> None:
    """Train eagerly and under the backend, and compare every loss and all state."""
    data = data or batches(4)

    def new_train_step() -> TrainStep:
        found = make_train_step() if make_train_step else train_step
        assert found is not None
        return found

    def eagerly(toss: Toss) -> Result:
        made = {"make_model": make_model, "make_optimizer": make_optimizer}
        return learned_eagerly(new_train_step(), toss, data=data, **made)

    torch.manual_seed(0)
    model = make_model()
    step = make_step(new_train_step(), model, make_optimizer(model))
    losses = [step(it).detach() for it in data]
    step.wait()
    step.leave()

    assert_same(losses, model, eagerly, ulp=ulp)


def learned_eagerly(
    train_step: TrainStep,
    toss: Toss,
    *,
    data: list[dict[str, Any]],
    make_model: Any = Net,
    make_optimizer: Any = adamw,
) -> Result:
    """Return what an eager run ends with; the model is tossed before each step."""
    torch.manual_seed(0)
    model = make_model()
    optimizer = make_optimizer(model)
    losses = []
    for it in data:
        toss(model)
        losses.append(train_step(model, optimizer, it).detach())
    return learned(losses, model)


def learned(losses: list[torch.Tensor], model: nn.Module) -> Result:
    """Return what a run ended with: each loss, and all state."""
    return {
        **{f"loss of step {step}": loss for step, loss in enumerate(losses)},
        **model.state_dict(),
    }


def assert_same(
    losses: list[torch.Tensor],
    model: nn.Module,
    eagerly: Callable[[Toss], Result],
    ulp: float = ULP,
) -> None:
    """See that a run ended as near an eager one as others do that sum in another order."""
    expected = eagerly(no_toss)
    apart = distance(learned(losses, model), expected, twins(eagerly, ulp=ulp))
    assert apart <= SLACK, f"{apart} times as far from eager as its twins"
