"""Trainers that are right and that are wrong, simulated in one process with a known truth.

Each rank computes the gradient of its part of a batch; what is wrong is done to these.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
import torch
from torch import nn

from smtc_lab.metrics.parity import TWIN_MARGIN, ParityResult, judge_ranks
from smtc_lab.metrics.parity_trace import ParityTrace

STEPS = 8
BATCH = 16
SEEDS = range(3)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Compute these small models as quickly as on a machine with nothing else to do."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


Gradients = list[list[torch.Tensor]]
Combine = Callable[[Gradients, int], list[torch.Tensor]]


def mlp(*, batch_norm: bool = False) -> nn.Module:
    inner = [nn.Linear(24, 48), nn.BatchNorm1d(48)] if batch_norm else [nn.Linear(24, 48)]
    return nn.Sequential(nn.Linear(8, 24), nn.GELU(), *inner, nn.GELU(), nn.Linear(48, 4))


def attention() -> nn.Module:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    return nn.Sequential(nn.Unflatten(1, (1, 8)), layer, nn.Flatten(), nn.Linear(8, 4))


OPTIMIZERS = {
    "sgd": lambda them: torch.optim.SGD(them, lr=0.05, momentum=0.9),
    "adamw": lambda them: torch.optim.AdamW(them, lr=1e-3),
}
NORMALIZED = partial(mlp, batch_norm=True)
MODELS = {"mlp": mlp, "attention": attention}


def mean(found: Gradients, rank: int) -> list[torch.Tensor]:  # noqa: ARG001  the same on all
    """Return what an all-reduce gives every rank: the ranks' mean."""
    return [sum(each[1:], each[0]) / len(each) for each in zip(*found, strict=True)]


def summed(found: Gradients, rank: int) -> list[torch.Tensor]:
    return [each * len(found) for each in mean(found, rank)]


def one_forgotten(found: Gradients, rank: int) -> list[torch.Tensor]:
    """Return the mean, but of the last bias the rank's own."""
    return [*mean(found, rank)[:-1], found[rank][-1]]


def none_reduced(found: Gradients, rank: int) -> list[torch.Tensor]:
    return found[rank]


def train(  # noqa: PLR0913  what may be wrong, by name
    seed: int,
    make: Callable[[], nn.Module],
    optimizer: str,
    *,
    ranks: int = 1,
    permute: bool = False,
    combine: Combine = mean,
    wrong_data: bool = False,
) -> list[ParityTrace]:
    """Return what the ranks of a training record."""
    torch.manual_seed(seed)
    first = make()
    models = [make() for _ in range(ranks)]
    for model in models:
        model.load_state_dict(first.state_dict())
    optimizers = [OPTIMIZERS[optimizer](model.parameters()) for model in models]
    data = torch.Generator().manual_seed(seed)
    losses = np.zeros((ranks, STEPS))
    norms: list[list[list[float]]] = [[] for _ in range(ranks)]
    each = BATCH // ranks
    for step in range(STEPS):
        batch = torch.randn(BATCH, 8, generator=data)
        if permute:
            batch = batch[torch.randperm(BATCH, generator=torch.Generator().manual_seed(step))]
        found: Gradients = []
        for rank, model in enumerate(models):
            part = batch[rank * each : (rank + 1) * each]
            if wrong_data and rank == ranks - 1:
                part = batch[:each]
            model.zero_grad()
            loss = (model(part) - part[:, :4].sin()).square().mean()
            loss.backward()
            losses[rank, step] = float(loss.detach())
            found.append([one.grad.clone() for one in model.parameters()])
        for rank, model in enumerate(models):
            for one, gradient in zip(model.parameters(), combine(found, rank), strict=True):
                one.grad = gradient
            optimizers[rank].step()
            norms[rank].append(
                [float(one.detach().double().norm()) for one in model.parameters()]
            )
    return [
        ParityTrace(
            losses=losses[rank],
            names=tuple(name for name, _ in model.named_parameters()),
            norms=np.array(norms[rank]),
            weights={name: one.detach().numpy() for name, one in model.named_parameters()},
        )
        for rank, model in enumerate(models)
    ]


@cache
def one_and_twin(
    seed: int, make: Callable[[], nn.Module], optimizer: str
) -> tuple[ParityTrace, ParityTrace]:
    return train(seed, make, optimizer)[0], train(seed, make, optimizer, permute=True)[0]


def judged(
    seed: int, make: Callable[[], nn.Module], optimizer: str, **wrong: object
) -> ParityResult:
    one, twin = one_and_twin(seed, make, optimizer)
    ranks = train(seed, make, optimizer, **wrong)  # type: ignore[arg-type]
    return judge_ranks(ranks, one=one, twin=twin)


def count_of(found: list[ParityResult], *, same: bool | None) -> int:
    return sum(each.equal is same for each in found)


def test_trainers_that_are_right_pass() -> None:
    found = [
        judged(seed, make, optimizer, ranks=ranks)
        for make in MODELS.values()
        for optimizer in OPTIMIZERS
        for ranks in (2, 4)
        for seed in SEEDS
    ]

    assert count_of(found, same=True) == len(found) == 24
    assert all("equal to one process within" in each.verdict for each in found)


WRONG = {
    "summed": {"combine": summed},
    "one parameter is not reduced": {"combine": one_forgotten},
    "nothing is reduced": {"combine": none_reduced},
    "a rank has another's samples": {"wrong_data": True},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_trainers_that_are_wrong_are_caught(wrong: str) -> None:
    found = [
        judged(seed, make, optimizer, ranks=ranks, **WRONG[wrong])
        for make in MODELS.values()
        for optimizer in OPTIMIZERS
        for ranks in (2, 4)
        for seed in range(3)
    ]

    assert count_of(found, same=False) == len(found) == 24


def test_batch_norm_of_each_rank_is_caught() -> None:
    found = [
        judged(seed, NORMALIZED, optimizer, ranks=ranks)
        for optimizer in OPTIMIZERS
        for ranks in (2, 4)
        for seed in range(5)
    ]

    assert count_of(found, same=False) == len(found) == 20


def test_a_parameter_that_is_not_reduced_is_named_with_how_far_trainers_are_apart() -> None:
    result = judged(0, mlp, "sgd", ranks=2, combine=one_forgotten)

    assert result.first_parameter == "4.bias"
    assert result.rank_difference is not None
    assert result.rank_difference > (result.tolerance or 0)
    assert result.verdict.startswith("differs from one process from step 0 on, first in 4.bias")
    assert "; the trainers hold models" in result.verdict


def test_other_samples_are_told_by_the_first_loss() -> None:
    result = judged(0, mlp, "sgd", ranks=2, wrong_data=True)

    assert "; the trainers hold one model, but their first loss already" in result.verdict


def test_the_losses_of_trainers_are_averaged() -> None:
    result = judged(1, mlp, "sgd", ranks=4)

    assert result.loss_difference is not None
    assert result.loss_difference < 1e-5
    assert result.tolerance == TWIN_MARGIN * (result.noise_weight_difference or 0)


@pytest.fixture(scope="module")
def one() -> ParityTrace:
    return train(0, mlp, "sgd")[0]


@pytest.fixture(scope="module")
def twin() -> ParityTrace:
    return train(0, mlp, "sgd", permute=True)[0]


def moved(trace: ParityTrace, by: float) -> ParityTrace:
    weights = {name: values * np.float32(1 + by) for name, values in trace.weights.items()}
    return replace(trace, weights=weights)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda twin: replace(twin, losses=twin.losses * 1.1), "not the same samples"),
        (lambda twin: moved(twin, 0.1), "multiplies rounding too much"),
        (lambda twin: replace(twin, losses=twin.losses[:0]), "recorded no step"),
    ],
)
def test_a_twin_that_tells_nothing_is_not_judged_by(
    one: ParityTrace,
    twin: ParityTrace,
    change: Callable[[ParityTrace], ParityTrace],
    said: str,
) -> None:
    result = judge_ranks([moved(one, 1e-7)] * 2, one=one, twin=change(twin))

    assert result.equal is None
    assert result.verdict.startswith("not judged: ")
    assert said in result.verdict


def test_samples_that_could_not_be_permuted_are_told(one: ParityTrace) -> None:
    result = judge_ranks([moved(one, 1e-6)] * 2, one=one, twin=one)

    assert result.equal is None
    assert "permuting the samples of a batch changed nothing" in result.verdict


def test_weights_that_are_no_numbers_are_another_model(
    one: ParityTrace, twin: ParityTrace
) -> None:
    broken = moved(one, float("nan"))

    result = judge_ranks([broken, broken], one=one, twin=twin)

    assert result.equal is False
    assert result.weight_difference is None


def test_other_parameters_are_another_model(one: ParityTrace, twin: ParityTrace) -> None:
    renamed = replace(one, weights={f"module.{k}": v for k, v in one.weights.items()})

    result = judge_ranks([renamed, renamed], one=one, twin=twin)

    assert result.equal is False
    assert "6 parameters are in one process only" in result.verdict


def test_results_of_earlier_versions_are_read() -> None:
    kept = {
        "verdict": "another model than one process",
        "same": False,
        "ranks": 2,
        "steps": 8,
        "weight_difference": 1e-3,
        "twin_weight_difference": 1e-8,
        "tolerance": 3e-8,
        "twin_loss_difference": 1e-7,
        "rank_difference": None,
        "parameter": "4.bias",
    }

    result = ParityResult.model_validate_json(json.dumps(kept))

    assert (result.equal, result.first_parameter) == (False, "4.bias")
    assert (result.noise_weight_difference, result.noise_loss_difference) == (1e-8, 1e-7)
    assert ParityResult.model_validate_json(result.model_dump_json()) == result
