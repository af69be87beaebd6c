"""Parameters of stages, shared by the ranks that run the same with other batches (FSDP2)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtc_lab.parallel.optimizer import move_to
from smtc_lab.parallel.units import shard_units

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from smtc_lab.parallel.pipeline.cutting.calls import ModuleCall, Recording
    from smtc_lab.parallel.pipeline.placement import ParameterPlacement
    from smtc_lab.parallel.pipeline.plan import StagePlan


def shard_stages(  # noqa: PLR0913  what a stage has
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    *,
    recording: Recording,
    plans: Sequence[StagePlan],
    placement: ParameterPlacement,
    mesh: Any,  # noqa: ANN401  a device mesh of torch's
) -> ParameterPlacement:
    """Shard what this rank's stages run as a whole, and return where parameters are then.

    Each module that runs is sharded with all in it, its repeated layers one by one. Parameters
    of several ranks, and those that other code reads beside the module that has them, stay
    whole.

    Args:
        model: The model with this rank's stages.
        optimizer: It steps the shards from now on.
        recording: The model as it was seen.
        plans: The stages of this rank.
        placement: Where its parameters are.
        mesh: The ranks that share them; of two dimensions the first has replicas.
    """
    from torch.distributed.fsdp import fully_shard  # noqa: PLC0415  a second, others do without

    names = {
        id(placement.parameters[number]): placement.names[number] for number in placement.own
    }
    layers = {id(one) for one in shard_units(model)}
    for module in _modules(recording, plans, placement):
        inside = [one for one in module.modules() if id(one) in layers and one is not module]
        for part in (*inside, module):
            if any(True for _ in part.parameters()):
                fully_shard(part, mesh=mesh, reshard_after_forward=True)
    move_to(optimizer, names, model)
    sharded = dict(model.named_parameters(remove_duplicate=False))
    own = set(placement.own)
    return replace(
        placement,
        parameters=tuple(
            sharded[placement.names[number]] if number in own else one
            for number, one in enumerate(placement.parameters)
        ),
    )


def _modules(
    recording: Recording, plans: Sequence[StagePlan], placement: ParameterPlacement
) -> list[torch.nn.Module]:
    """Return the modules whose parameters are this rank's alone, and read by nothing else."""
    around = _read_in(recording.root)
    opened = {
        id(event.call.module) for plan in plans for event in plan.events if event.kind == "open"
    }
    numbers = {
        id(placement.parameters[number]): number
        for number in placement.own
        if len(placement.ranks[number]) == 1
    }
    chosen: dict[int, torch.nn.Module] = {}
    for plan in plans:
        for event in plan.events:
            module = event.call.module
            held = [numbers.get(id(one)) for one in module.parameters()]
            if (
                event.kind == "run"
                and held
                and id(module) not in opened
                and all(
                    number is not None
                    and all(id(module) in one for one in around.get(number, ()))
                    for number in held
                )
            ):
                chosen[id(module)] = module
    inner = {
        id(one) for module in chosen.values() for one in module.modules() if one is not module
    }
    return [module for key, module in chosen.items() if key not in inner]


def _read_in(root: ModuleCall) -> dict[int, list[set[int]]]:
    """Return for each parameter the modules around each call that reads it, by ``id``."""
    found: dict[int, list[set[int]]] = {}
    for call in root.walk():
        if not call.parameters:
            continue
        modules, at = {id(call.module)}, call.parent
        while at is not None:
            modules.add(id(at.module))
            at = at.parent
        for number in call.parameters:
            found.setdefault(number, []).append(modules)
    return found
