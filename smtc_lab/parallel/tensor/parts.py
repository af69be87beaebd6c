"""A model of whose layers this rank has its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.gradients import total_norm
from smtc_lab.parallel.group import on_the_wire
from smtc_lab.parallel.replicas import take_from_first
from smtc_lab.parallel.tensor.plans.table import PLANS
from smtc_lab.parallel.tensor.splitter import Splitter
from smtc_lab.parallel.units import shard_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from smtc_lab.parallel.tensor.split import Split

WHOLE = (torch.optim.LBFGS, getattr(torch.optim, "Muon", ()), torch.optim.Adafactor)
"""Optimizers that look at whole parameters, or at all at once."""


@dataclass(frozen=True, kw_only=True)
class TensorParts:
    """How the parts of the ranks that share layers make whole parameters."""

    splits: Mapping[str, Split]
    """How each divided parameter is cut, by its name in the model."""

    group: Any
    """The process group of these ranks."""

    rank: int
    """This rank in it."""

    ranks: int
    """How many there are."""

    divided: int
    """Values of the model that are divided; this rank has its part of them."""

    total: int
    """Values of the model's parameters."""

    def whole(self, name: str, value: torch.Tensor) -> torch.Tensor:
        """Return the whole of which the ranks have parts; all ask for it together.

        Args:
            name: Name of a parameter; what is learnt of it is cut as it is.
            value: This rank's part, or a value that each rank has.
        """
        split = self.splits.get(name)
        if split is None:
            return value
        own = value.detach().contiguous()
        parts = [torch.empty_like(own) for _ in range(self.ranks)]
        dist.all_gather(parts, own, group=self.group)
        return split.whole(parts)

    def part(self, name: str, whole: torch.Tensor) -> torch.Tensor:
        """Return this rank's part of a whole."""
        split = self.splits.get(name)
        return whole if split is None else split.part(whole, self.rank, self.ranks)

    def whole_shape(self, name: str, shape: torch.Size) -> tuple[int, ...]:
        """Return the shape of the whole of a part of some shape."""
        split = self.splits.get(name)
        return tuple(shape) if split is None else split.whole_shape(shape, self.ranks)

    def norm_power(
        self, gradients: Iterable[tuple[str, torch.Tensor]], norm_type: float
    ) -> torch.Tensor:
        """Return the norm of gradients over these ranks, to the power of its type.

        Args:
            gradients: Names of parameters, and this rank's gradients of them.
            norm_type: As for ``torch.nn.utils.clip_grad_norm_``; of infinity it is the norm.
        """
        is_largest = norm_type == float("inf")
        found: dict[bool, list[torch.Tensor]] = {False: [], True: []}
        for name, gradient in gradients:
            found[name in self.splits].append(gradient)
        whole, divided = (
            on_the_wire(total_norm(found[one], norm_type)) for one in (False, True)
        )
        if not is_largest:
            whole, divided = whole**norm_type, divided**norm_type
        dist.all_reduce(
            divided, dist.ReduceOp.MAX if is_largest else dist.ReduceOp.SUM, group=self.group
        )
        return torch.maximum(whole, divided) if is_largest else whole + divided


def divide(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    group: Any,  # noqa: ANN401  a process group
) -> TensorParts:
    """Leave this rank its parts of the layers of a model; the rest stays whole.

    All trainers of the job call it: they begin with the values of rank 0. Those that share
    layers draw the same random numbers from now on.

    Args:
        model: The whole model, on each rank, with values.
        optimizer: Its optimizer; it steps the parts from now on.
        group: The ranks that share layers.

    Raises:
        EntryPointError: No block of the model is known, or one cannot be divided so.
    """
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    _check(model, optimizer, ranks)
    take_from_first((*model.parameters(), *model.buffers()), None)
    total = sum(one.numel() for one in model.parameters())
    splitter = Splitter(model, optimizer, group=group, rank=rank, ranks=ranks)
    for name, module in list(model.named_modules()):
        for plan in PLANS:
            if plan.knows(module):
                plan.split(module, name or type(module).__name__, splitter)
                break
        if isinstance(module, torch.nn.TransformerEncoder):
            module.use_nested_tensor = False  # attention with parts of its heads takes none
    if not splitter.splits:
        raise EntryPointError(_nothing_known(model, ranks))
    _draw_alike(group)
    splits = {
        name: splitter.splits[id(one)]
        for name, one in model.named_parameters()
        if id(one) in splitter.splits
    }
    parts = sum(one.numel() for name, one in model.named_parameters() if name in splits)
    return TensorParts(
        splits=splits,
        group=group,
        rank=rank,
        ranks=ranks,
        divided=parts * ranks,
        total=total,
    )


def _check(model: torch.nn.Module, optimizer: torch.optim.Optimizer, ranks: int) -> None:
    for name, value in model.named_parameters():
        if value.is_meta:
            raise EntryPointError(
                f"The parameter {name} is on the meta device and has no values. Give the model "
                "on the CPU: what other trainers have is freed here."
            )
    if isinstance(optimizer, WHOLE):
        raise EntryPointError(
            f"{type(optimizer).__name__} looks at whole parameters, but with tensor={ranks} "
            "each trainer has a part of them. Take an optimizer that steps each value by "
            "itself, such as AdamW."
        )


def _nothing_known(model: torch.nn.Module, ranks: int) -> str:
    names = {id(module): name for name, module in model.named_modules()}
    kinds: dict[str, str] = {}
    for one in shard_units(model) or [model]:
        kinds.setdefault(type(one).__name__, names[id(one)] or "the model")
    seen = ", ".join(f"{name} ({kind})" for kind, name in list(kinds.items())[:5])
    known = "; ".join(plan.what for plan in PLANS)
    return (
        f"tensor={ranks} divides layers of blocks that are known, and {type(model).__name__} "
        f"has none of a size that {ranks} trainers can share: {seen}. Known are {known}. Build "
        "it of these, or take shard in place of tensor."
    )


def _draw_alike(group: Any) -> None:  # noqa: ANN401  as above
    """Let ranks draw the same random numbers, as the first would: dropout between blocks."""
    state = torch.get_rng_state()
    take_from_first([state], group)
    torch.set_rng_state(state)
    if torch.cuda.is_available():
        state = torch.cuda.get_rng_state()
        take_from_first([state], group)
        torch.cuda.set_rng_state(state)
