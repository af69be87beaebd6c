"""Model and optimizer of a pipeline as one process has them, gathered and spread out again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.full_state import full_state as of_whole
from smtc_lab.parallel.full_state import packed, unpacked
from smtc_lab.parallel.gradients import is_sharded
from smtc_lab.parallel.group import on_the_wire
from smtc_lab.parallel.optimizer import sharded_like

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.parallel.pipeline.building import Built
    from smtc_lab.parallel.pipeline.peers import Peers
    from smtc_lab.parallel.pipeline.placement import ParameterPlacement


def full_state(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    built: Built | None,
    group: Any,  # noqa: ANN401  a process group, or None
    peers: Peers,
) -> dict[str, Any]:
    """Return ``model`` and ``optimizer`` as of one process, on the first rank; else nothing.

    Args:
        model: The model, of which this rank has its stages.
        optimizer: Its optimizer.
        built: How it is cut; None: each rank still has all of it.
        group: The ranks of the pipeline.
        peers: Those that run the same stages elsewhere; of the first replica all call it.
    """
    if built is None:
        return _uncut_state(model, optimizer, group, peers)
    own = _own_state(model, optimizer, built.placement, peers)
    if not peers.is_first:
        return {}
    parts = _to_first(own, group)
    if dist.get_rank(group):
        return {}
    values, learnt = {}, {}
    for part in parts:
        values.update(part["model"])
        learnt.update(part["state"])
    names = list(model.state_dict(keep_vars=True))
    groups = [
        {**{key: value for key, value in one.items() if key != "params"}, "params": list(of)}
        for one, of in zip(optimizer.param_groups, built.groups, strict=True)
    ]
    return {
        "model": {name: values[name] for name in names},
        "optimizer": {
            "state": {
                name: learnt[name] for of in built.groups for name in of if name in learnt
            },
            "param_groups": groups,
        },
    }


def load_full_state(  # noqa: PLR0913  options by name
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    built: Built,
    state: Mapping[str, Any] | None,
    *,
    group: Any,  # noqa: ANN401  as above
    peers: Peers,
) -> None:
    """Give each rank its part of what one process has.

    The first rank has it; of the ranks that hold the same stages, the first asks it.

    Raises:
        EntryPointError: Something is missing in it, or has another shape.
    """
    placement = built.placement
    part: dict[str, Any] = {}
    if peers.is_first:
        part = _asked_for(model, placement, group, peers, state)
    part = peers.spread(part)
    if part["missing"]:
        raise EntryPointError(part["missing"])
    _load_model(model, part["model"])
    if part["groups"]:
        _load_optimizer(optimizer, placement, part)


def _load_model(model: torch.nn.Module, values: dict[str, Any]) -> None:
    """Give a model values by name; of what is sharded this rank takes its shard."""
    for name, value in model.state_dict(keep_vars=True).items():
        if name in values and is_sharded(value):
            value.detach().copy_(sharded_like(values.pop(name), value))
    model.load_state_dict(values, strict=False)


def _asked_for(
    model: torch.nn.Module,
    placement: ParameterPlacement,
    group: Any,  # noqa: ANN401  as above
    peers: Peers,
    state: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return this rank's part of what the pipeline's first has, or what is missing."""
    missing = "" if placement.rank else _missing(model, peers, state or {})
    (told,) = _from_first([{"missing": missing}] * dist.get_world_size(group), group)
    if told["missing"]:
        return told
    needs = _to_first({"names": _held(model, placement)}, group)
    parts = []
    if not placement.rank:
        assert state is not None  # noqa: S101  it was looked at
        parts = [
            _part_of(state, need["names"], placement, rank) for rank, need in enumerate(needs)
        ]
    (part,) = _from_first(parts, group)
    return {"missing": "", **part}


def _uncut_state(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    group: Any,  # noqa: ANN401  as above
    peers: Peers,
) -> dict[str, Any]:
    """Return the state of a model of which each rank of a pipeline still has all stages."""
    if peers.parts is not None:
        from smtc_lab.parallel.tensor.model import TensorModel  # noqa: PLC0415  others do without

        whole = TensorModel(
            model, optimizer, peers.parts, wrapped=model, speaks=peers.is_first_replica
        ).full_state()
    elif dist.get_rank(group) or not peers.is_first:
        whole = {}
    else:
        whole = of_whole({"model": model, "optimizer": optimizer})
    dist.barrier(group=group)
    return whole


def _own_state(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    placement: ParameterPlacement,
    peers: Peers,
) -> dict[str, Any]:
    """Return what this rank speaks for, as of one process."""
    speaks = {
        id(placement.parameters[number]): placement.names[number]
        for number in placement.own
        if placement.ranks[number][0] == placement.rank
    }
    buffers = _buffers(model, placement)
    values = {
        name: _copied(peers.whole(name, value, value))
        for name, value in model.state_dict(keep_vars=True).items()
        if id(value) in speaks
        or (
            not isinstance(value, torch.nn.Parameter) and buffers.get(name, 0) == placement.rank
        )
    }
    learnt = {
        (name := speaks[id(one)]): {
            key: _copied(peers.whole(name, value, one)) for key, value in found.items()
        }
        for one, found in optimizer.state.items()
        if id(one) in speaks
    }
    return {"model": values, "state": learnt}


def _buffers(model: torch.nn.Module, placement: ParameterPlacement) -> dict[str, int]:
    """Return the rank that each buffer is computed on, by name."""
    return {
        f"{prefix}.{name}" if prefix else name: placement.module_ranks.get(id(module), 0)
        for prefix, module in model.named_modules(remove_duplicate=False)
        for name in module._buffers  # noqa: SLF001  persistent or not
    }


def _held(model: torch.nn.Module, placement: ParameterPlacement) -> list[str]:
    """Return the names in the model's state that this rank has values for."""
    own = {id(placement.parameters[number]) for number in placement.own}
    return [
        name
        for name, value in model.state_dict(keep_vars=True).items()
        if id(value) in own or not isinstance(value, torch.nn.Parameter)
    ]


def _missing(model: torch.nn.Module, peers: Peers, state: Mapping[str, Any]) -> str:
    """Return what a state has not, or not in the right shape; empty: it has all."""
    if "model" not in state or "optimizer" not in state:
        return (
            f"The state has {', '.join(sorted(state)) or 'nothing'}, but a pipeline needs "
            "model and optimizer. Load what full_state() returned."
        )
    for name, value in model.state_dict(keep_vars=True).items():
        found = state["model"].get(name)
        if found is None:
            return f"The state has no {name}. Load what was saved of this model."
        if not isinstance(value, torch.Tensor):
            continue
        if (found_shape := tuple(found.shape)) != (shape := peers.shape(name, value)):
            return (
                f"{name} is of shape {found_shape} in the state, but of {shape} in the model. "
                "Load what was saved of this model."
            )
    return ""


def _part_of(
    state: Mapping[str, Any], names: list[str], placement: ParameterPlacement, rank: int
) -> dict[str, Any]:
    own = {
        name
        for name, ranks in zip(placement.names, placement.ranks, strict=True)
        if rank in ranks
    }
    learnt = state["optimizer"].get("state", {})
    return {
        "model": {name: state["model"][name] for name in names},
        "state": {name: learnt[name] for name in learnt if name in own},
        "groups": state["optimizer"].get("param_groups", []),
    }


def _load_optimizer(
    optimizer: torch.optim.Optimizer, placement: ParameterPlacement, part: dict[str, Any]
) -> None:
    names = {
        id(placement.parameters[number]): placement.names[number] for number in placement.own
    }
    groups, state, count = [], {}, 0
    for mine, given in zip(optimizer.param_groups, part["groups"], strict=True):
        numbers = []
        for value in mine["params"]:
            if (learnt := part["state"].get(names[id(value)])) is not None:
                state[count] = {
                    key: sharded_like(_copied(one), value)
                    if isinstance(one, torch.Tensor) and one.shape == value.shape
                    else _copied(one)
                    for key, one in learnt.items()
                }
            numbers.append(count)
            count += 1
        groups.append({**given, "params": numbers})
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def _copied(value: Any) -> Any:  # noqa: ANN401  any part of a state
    """Return a value that training on does not change."""
    return value.detach().to("cpu", copy=True) if isinstance(value, torch.Tensor) else value


def _to_first(mine: dict[str, Any], group: Any) -> list[dict[str, Any]]:  # noqa: ANN401  as above
    """Return what each rank has, on the first; read as safely as a checkpoint."""
    if dist.get_rank(group):
        _send(mine, 0, group)
        return []
    ranks = range(1, dist.get_world_size(group))
    return [mine, *(_receive(rank, group) for rank in ranks)]


def _from_first(parts: list[dict[str, Any]], group: Any) -> list[dict[str, Any]]:  # noqa: ANN401  as above
    """Return this rank's part of what the first one has."""
    if dist.get_rank(group):
        return [_receive(0, group)]
    for rank in range(1, len(parts)):
        _send(parts[rank], rank, group)
    return parts[:1]


def _send(value: dict[str, Any], rank: int, group: Any) -> None:  # noqa: ANN401  as above
    sent = packed(value)
    dist.send(on_the_wire(torch.tensor([sent.numel()])), group=group, group_dst=rank)
    dist.send(on_the_wire(sent), group=group, group_dst=rank)


def _receive(rank: int, group: Any) -> dict[str, Any]:  # noqa: ANN401  as above
    length = on_the_wire(torch.zeros(1, dtype=torch.int64))
    dist.recv(length, group=group, group_src=rank)
    sent = on_the_wire(torch.zeros(int(length), dtype=torch.uint8))
    dist.recv(sent, group=group, group_src=rank)
    read: dict[str, Any] = unpacked(sent)
    return read
