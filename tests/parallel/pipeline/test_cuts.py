"""Stages of one model, one after the other in one process: wherever it is cut, it is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from smtc_lab.parallel.arguments import loss_of_output
from smtc_lab.parallel.pipeline.checks import split_batch
from smtc_lab.parallel.pipeline.cutting.pieces import Pieces
from smtc_lab.parallel.pipeline.cutting.recording import record
from smtc_lab.parallel.pipeline.plan import plan_stage
from smtc_lab.parallel.pipeline.stage import Interception, Stage
from tests.parallel.pipeline.models import MODELS, OF_TRANSFORMERS

if TYPE_CHECKING:
    from torch import nn

    from smtc_lab.parallel.pipeline.plan import StagePlan

CPU = torch.device("cpu")
LEAST_SHARE = 1e-4
"""A gradient with less of the norm of all is zero but for rounding, as that of a key's bias."""


def trained(model: nn.Module, plans: list[StagePlan], part: dict[str, Any], loss: Any) -> float:
    """Run forward and backward of all stages, as ranks would; return the loss."""
    interception = Interception(model)
    interception.follow(plans)
    sent: tuple[torch.Tensor, ...] = ()
    ran: list[tuple[tuple[torch.Tensor, ...], tuple[torch.Tensor, ...]]] = []
    for plan in plans:
        stage = Stage(interception, plan, [], loss_of=loss, microbatches=1, device=CPU)
        received = tuple(
            one.detach().clone().requires_grad_(shape.requires_grad)
            for one, shape in zip(sent, plan.inputs, strict=True)
        )
        sent = stage(*received, **part)
        sent = sent if isinstance(sent, tuple) else (sent,)
        assert [tuple(one.shape) for one in sent] == [shape.shape for shape in plan.outputs]
        assert [one.dtype for one in sent] == [shape.dtype for shape in plan.outputs]
        ran.append((received, sent))
    gradients: list[Any] = [None]
    for received, sent in reversed(ran):
        with_graph = [
            (one, given)
            for one, given in zip(sent, gradients, strict=True)
            if one.requires_grad
        ]
        if with_graph:
            torch.autograd.backward(*zip(*with_graph, strict=True))
        gradients = [
            torch.zeros_like(one) if one.grad is None else one.grad for one in received
        ]
    interception.close()
    return ran[-1][1][0].item()


def worst(found: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> float:
    total = torch.linalg.vector_norm(torch.stack([one.norm() for one in right.values()]))
    return max(
        float((found[name] - one).norm() / max(one.norm(), LEAST_SHARE * total))
        for name, one in right.items()
    )


def gradients_of(model: nn.Module) -> dict[str, torch.Tensor]:
    return {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("name", [*MODELS, *OF_TRANSFORMERS])
def test_every_cut_of_a_model_gives_the_gradients_of_the_whole(name: str) -> None:
    if name in OF_TRANSFORMERS:
        pytest.importorskip("transformers")
    torch.manual_seed(0)
    make, batch, loss = {**MODELS, **OF_TRANSFORMERS}[name]
    model, loss = make(), loss or loss_of_output
    (part,) = split_batch(*batch(), 1)
    output = model(*part["args"], **part["kwargs"])
    whole = loss(output, part["targets"])
    whole.backward()
    right = gradients_of(model)

    pieces = Pieces(
        record(
            model, (part["args"], part["kwargs"]), lambda out: loss(out, part["targets"]), CPU
        )
    )
    count = len(pieces)
    assert count >= 9

    for starts in [*([0, at] for at in range(1, count)), list(range(0, count, 3))]:
        ends = [*starts[1:], count]
        model.zero_grad()
        plans = [plan_stage(pieces, *ends_of) for ends_of in zip(starts, ends, strict=True)]
        found_loss = trained(model, plans, part, loss)

        where = [pieces.sequence[at].name for at in starts]
        assert found_loss == pytest.approx(whole.item(), rel=1e-5), where
        assert worst(gradients_of(model), right) < 2e-6, where


def test_a_skip_connection_is_sent_on_by_the_stages_between() -> None:
    make, batch, loss = MODELS["U-net"]
    (part,) = split_batch(*batch(), 1)
    recorded = record(make(), (part["args"], {}), lambda out: loss(out, part["targets"]), CPU)
    pieces = Pieces(recorded)
    names = [one.name for one in pieces.sequence]

    crossing = {
        name: [recorded.owner[label].name for label in pieces.cut(at).labels]
        for at, name in enumerate(names)
    }

    assert crossing["middle"] == ["down", "deep"]
    assert crossing["last"] == ["down", "up"]


class Changing(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(3))
        self.order = [0, 1, 2]

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        for number in self.order:
            values = self.layers[number](values)
        return values


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ([0, 2, 1], r"called Linear where it had called layers.1 \(Linear\) in its first"),
        ([0], r"called nothing more where it had called layers.1"),
    ],
)
def test_a_model_that_takes_another_way_later_is_refused(order: list[int], said: str) -> None:
    from smtc_lab.errors import EntryPointError

    model = Changing()
    part = {"args": (torch.ones(2, 4),), "kwargs": {}, "targets": None}
    pieces = Pieces(record(model, (part["args"], {}), lambda out: out.sum(), CPU))
    plans = [plan_stage(pieces, 0, 2), plan_stage(pieces, 2, 3)]
    model.order = order

    with pytest.raises(EntryPointError, match=said):
        trained(model, plans, part, lambda out, _: out.sum())
