"""Which rank holds which parameter, and what of a model is left on a rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.group import on_the_wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.parallel.pipeline.cutting.calls import Recording
    from smtc_lab.parallel.pipeline.peers import Peers
    from smtc_lab.parallel.pipeline.plan import StagePlan


@dataclass(frozen=True, kw_only=True)
class ParameterPlacement:
    """Where the parameters and buffers of a model are."""

    names: tuple[str, ...]
    """Names of the parameters, by number."""

    parameters: tuple[torch.nn.Parameter, ...]
    """As the script made them, by number; those of other ranks are not kept anywhere."""

    ranks: tuple[tuple[int, ...], ...]
    """Ranks that hold each parameter, by its number; the first one speaks for it."""

    module_ranks: dict[int, int]
    """Rank whose stage runs a module, by its ``id``; the first rank has all others."""

    rank: int
    """This rank, in the group."""

    @property
    def own(self) -> list[int]:
        """Numbers of the parameters that this rank holds."""
        return [number for number, at in enumerate(self.ranks) if self.rank in at]

    @property
    def shared(self) -> dict[tuple[int, ...], list[int]]:
        """Numbers of the parameters that several ranks hold, by these ranks."""
        found: dict[tuple[int, ...], list[int]] = {}
        for number, at in enumerate(self.ranks):
            if len(at) > 1:
                found.setdefault(at, []).append(number)
        return dict(sorted(found.items()))


def place(
    recording: Recording, plans: Sequence[StagePlan], rank_of: Sequence[int], rank: int
) -> ParameterPlacement:
    """Return where everything is.

    Args:
        recording: The model as it was seen.
        plans: Its stages.
        rank_of: Rank of each stage.
        rank: This rank.
    """
    ranks: list[tuple[int, ...]] = []
    for number in range(len(recording.parameters)):
        using = [
            at for plan, at in zip(plans, rank_of, strict=True) if number in plan.parameters
        ]
        ranks.append(tuple(sorted(set(using))) or (0,))
    modules: dict[int, int] = {}
    for call in recording.root.walk():
        at = next(
            at
            for plan, at in zip(plans, rank_of, strict=True)
            if min(call.first_piece, plans[-1].end - 1) < plan.end
        )
        modules.setdefault(id(call.module), at)
    return ParameterPlacement(
        names=recording.names,
        parameters=recording.parameters,
        ranks=tuple(ranks),
        module_ranks=modules,
        rank=rank,
    )


def settle(
    model: torch.nn.Module,
    placement: ParameterPlacement,
    device: torch.device,
    group: Any,  # noqa: ANN401  a process group, or None
    peers: Peers,
) -> None:
    """Leave on this rank what its stages need, with the values of the first rank.

    Raises:
        EntryPointError: A parameter has no values.
    """
    for name, value in zip(placement.names, placement.parameters, strict=True):
        if value.is_meta:
            raise EntryPointError(
                f"The parameter {name} is on the meta device and has no values. Give the model "
                "on the CPU: what other stages need is freed here."
            )
    if not placement.rank:
        peers.begin_alike(placement.parameters)
    with torch.no_grad():
        for number, value in enumerate(placement.parameters):
            _from_first(value, placement, number, group)
    own = set(placement.own)
    left: dict[int, torch.nn.Parameter] = {}
    for number, value in enumerate(placement.parameters):
        if number in own:
            value.data = value.data.to(device)
        else:
            left[id(value)] = torch.nn.Parameter(
                torch.empty_like(value, device="meta"), requires_grad=value.requires_grad
            )
    _leave_out(model, left, device)


def _leave_out(
    model: torch.nn.Module, left: dict[int, torch.nn.Parameter], device: torch.device
) -> None:
    """Put others in place of some parameters, by ``id``, and move the buffers."""
    for module in model.modules():
        parameters, buffers = module._parameters, module._buffers  # noqa: SLF001  both are changed
        for name, value in parameters.items():
            if value is not None and id(value) in left:
                parameters[name] = left[id(value)]
        for name, buffer in buffers.items():
            if buffer is not None:
                buffers[name] = buffer.to(device)


def _from_first(
    value: torch.Tensor,
    placement: ParameterPlacement,
    number: int,
    group: Any,  # noqa: ANN401  as above
) -> None:
    """Take the first rank's value of a parameter, where another one holds it."""
    for rank in placement.ranks[number]:
        if not rank or placement.rank not in {0, rank}:
            continue
        sent = on_the_wire(value.detach())
        if placement.rank:
            dist.recv(sent, group=group, group_src=0)
            value.copy_(sent)
        else:
            dist.send(sent.contiguous(), group=group, group_dst=rank)


def keep_own(
    optimizer: torch.optim.Optimizer, placement: ParameterPlacement
) -> list[list[str]]:
    """Let an optimizer step the parameters of this rank alone; return the names that it had.

    It stays the same object, with the same groups, of which some may be empty.

    Returns:
        Names of the parameters of each group, as of one process.
    """
    number_of = {id(one): number for number, one in enumerate(placement.parameters)}
    own = set(placement.own)
    names = []
    for group in optimizer.param_groups:
        numbers = [number_of[id(one)] for one in group["params"]]
        names.append([placement.names[number] for number in numbers])
        group["params"][:] = [
            placement.parameters[number] for number in numbers if number in own
        ]
    kept = {id(placement.parameters[number]) for number in own}
    for value in [one for one in optimizer.state if id(one) not in kept]:
        del optimizer.state[value]
    return names


def with_own(placement: ParameterPlacement) -> ParameterPlacement:
    """Return the placement without the parameters of others, so that nothing keeps them."""
    own = set(placement.own)
    nothing = torch.nn.Parameter(torch.empty(0), requires_grad=False)
    return ParameterPlacement(
        names=placement.names,
        parameters=tuple(
            one if number in own else nothing for number, one in enumerate(placement.parameters)
        ),
        ranks=placement.ranks,
        module_ranks=placement.module_ranks,
        rank=placement.rank,
    )
