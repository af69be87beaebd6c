"""Gradients and loss of a pipeline as of one process: summed where shared, clipped whole."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.parallel.gradients import total_norm
from smtc_lab.parallel.group import on_the_wire

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from smtc_lab.parallel.pipeline.building import Built
    from smtc_lab.parallel.pipeline.placement import ParameterPlacement
    from smtc_lab.parallel.tensor.parts import TensorParts


@contextmanager
def summed(
    placement: ParameterPlacement,
    subgroups: Mapping[tuple[int, ...], Any],
) -> Iterator[None]:
    """Sum gradients that come inside of parameters that several ranks hold, over these alone.

    What the parameters had before is summed already, and added afterwards.
    """
    shared = [
        (placement.parameters[number], subgroups[ranks])
        for ranks, numbers in placement.shared.items()
        if placement.rank in ranks
        for number in numbers
        if placement.parameters[number].requires_grad
    ]
    before = [value.grad for value, _ in shared]
    for value, _ in shared:
        value.grad = None
    yield
    for (value, ranks), had in zip(shared, before, strict=True):
        gradient = torch.zeros_like(value) if value.grad is None else value.grad.contiguous()
        dist.all_reduce(gradient, group=ranks)
        value.grad = gradient if had is None else had.add_(gradient)


def loss_everywhere(
    losses: Sequence[torch.Tensor],
    built: Built,
    group: Any,  # noqa: ANN401  a process group, or None
    device: torch.device,
) -> torch.Tensor:
    """Return the mean loss of a batch on each rank; the last stage has its parts."""
    total = torch.zeros((), dtype=torch.float32, device=device)
    for loss in losses:
        total += loss.detach().float()
    dist.broadcast(total, group=group, group_src=built.last_rank)
    return total


def grad_norm(
    placement: ParameterPlacement,
    norm_type: float,
    group: Any,  # noqa: ANN401  a process group, or None
    parts: TensorParts | None = None,
) -> torch.Tensor:
    """Return the norm of the gradients of all ranks.

    A parameter that several ranks hold counts once; ``parts`` are those of layers that ranks
    share beside the stages.
    """
    counted = [
        (placement.names[number], gradient)
        for number, ranks in enumerate(placement.ranks)
        if ranks[0] == placement.rank
        and (gradient := placement.parameters[number].grad) is not None
    ]
    is_largest = norm_type == float("inf")
    if parts is None:
        total = total_norm([one for _, one in counted], norm_type)
        total = on_the_wire(total if is_largest else total**norm_type)
    else:
        total = parts.norm_power(counted, norm_type)
    dist.all_reduce(total, dist.ReduceOp.MAX if is_largest else dist.ReduceOp.SUM, group=group)
    return total if is_largest else total ** (1 / norm_type)
