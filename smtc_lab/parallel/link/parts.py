"""The parts of a model that FSDP2 has sharded, by the meshes of their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch


def _sharded(part: torch.nn.Module) -> Iterator[Any]:
    return (one for one in part.parameters() if hasattr(one, "device_mesh"))


def mesh_of_part(part: torch.nn.Module) -> Any:  # noqa: ANN401  torch's own
    """Return the mesh that a part is sharded over; None: it has no parameter of its own."""
    return next((one.device_mesh for one in _sharded(part)), None)


def replicas_of_part(part: torch.nn.Module) -> Any:  # noqa: ANN401  torch's own
    """Return the group of ranks that have the same shards; None: there is one replica."""
    for one in _sharded(part):
        if one.device_mesh.ndim > 1 and one.placements[0].is_replicate():
            return one.device_mesh.get_group(0)
    return None
