"""A model wrapped for its layout: DDP, FSDP2, or HSDP on a mesh of two dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.nn.parallel import DistributedDataParallel

from smtc_lab.instance.mesh import mesh_sizes
from smtc_lab.parallel.optimizer import move_to
from smtc_lab.parallel.replicas import take_from_first
from smtc_lab.parallel.units import shard_units

if TYPE_CHECKING:
    from smtc_lab.instance.mesh import TrainerLayout

_MIB = 2**20
_FIRST_BUCKET_MIB = 1.0
"""torch's first bucket; a smaller limit for the others is refused by its compiler."""
_DEFAULT_BUCKET_MIB = 25.0
_BUCKETS = 8


def replicate(
    model: torch.nn.Module,
    device: torch.device,
    *,
    finds_unused: bool,
    group: Any = None,  # noqa: ANN401  a process group
) -> DistributedDataParallel:
    """Return a model whose gradients are averaged over a group; None: over all trainers."""
    return DistributedDataParallel(
        model,
        process_group=group,
        device_ids=None if device.type == "cpu" else [device.index],
        bucket_cap_mb=bucket_mib(model),
        gradient_as_bucket_view=True,  # else each gradient lies in memory twice
        find_unused_parameters=finds_unused,
    )


def bucket_mib(model: torch.nn.Module) -> float:
    """Return how many MiB of gradients are reduced at once, at most.

    An eighth of them, so that most of a small model's communication is hidden by its backward
    pass too: with torch's own 25 MiB nothing is, below about 50.
    """
    gradients = sum(
        one.numel() * one.element_size() for one in model.parameters() if one.requires_grad
    )
    return min(_DEFAULT_BUCKET_MIB, max(_FIRST_BUCKET_MIB, gradients / _BUCKETS / _MIB))


def shard(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    layout: TrainerLayout,
    device: torch.device,
    *,
    is_bf16: bool,
) -> torch.nn.Module:
    """Shard a model in place, layer by layer, and let the optimizer step the shards.

    All trainers begin with the values of rank 0, as under DDP; those that have parts of layers
    began with them.

    Args:
        model: The model, on its device.
        optimizer: Its optimizer.
        layout: Shards, and replicas of them.
        device: Device of this trainer.
        is_bf16: Whether parameters are gathered as bfloat16; gradients are reduced as float32.
    """
    from torch.distributed.fsdp import (  # noqa: PLC0415  a second, which replicas do without
        MixedPrecisionPolicy,
        fully_shard,
    )

    if layout.tensor == 1:
        take_from_first((*model.parameters(), *model.buffers()), None)
    names = {id(one): name for name, one in model.named_parameters()}
    policy = MixedPrecisionPolicy()
    if is_bf16:
        policy = MixedPrecisionPolicy(
            param_dtype=torch.bfloat16, reduce_dtype=torch.float32, output_dtype=torch.float32
        )
    mesh = mesh_of(layout, device)
    for module in (*shard_units(model), model):
        fully_shard(module, mesh=mesh, mp_policy=policy)
    move_to(optimizer, names, model)
    return model


def mesh_of(layout: TrainerLayout, device: torch.device) -> DeviceMesh:
    """Return the mesh of a sharded layout: one dimension, or two where shards are replicated.

    Two dimensions mean replicas of shards to torch, never shards over both.
    """
    names = ("shard",) if layout.data == 1 else ("data", "shard")
    if layout.tensor * layout.pipeline > 1:
        of_all = mesh_sizes(layout)
        whole = init_device_mesh(device.type, of_all, mesh_dim_names=of_all._fields)
        return whole[names]
    sizes = tuple(getattr(layout, name) for name in names)
    return init_device_mesh(device.type, sizes, mesh_dim_names=names)
