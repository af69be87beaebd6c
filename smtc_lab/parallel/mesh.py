"""The process groups of trainers that share a model along several dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from smtc_lab.instance.mesh import MeshPlace, mesh_place, mesh_sizes

if TYPE_CHECKING:
    from smtc_lab.instance.mesh import TrainerLayout


class TrainerMesh:
    """The ranks of a job as a mesh: pipeline, data, shard, tensor, from outside."""

    def __init__(self, layout: TrainerLayout) -> None:
        """Lay out the ranks of the default group, which has as many as the layout says."""
        sizes = mesh_sizes(layout)
        self._ranks = torch.arange(dist.get_world_size()).reshape(sizes)
        self._groups: dict[tuple[str, ...], Any] = {}
        self.place = mesh_place(dist.get_rank(), layout)
        """Where this rank stands."""

    def ranks(self, *names: str) -> list[int]:
        """Return the ranks that stand where this one does, but for the dimensions of names."""
        at = tuple(
            slice(None) if name in names else number
            for name, number in zip(MeshPlace._fields, self.place, strict=True)
        )
        return [int(rank) for rank in self._ranks[at].flatten()]

    def group(self, *names: str) -> Any:  # noqa: ANN401  a process group, or None
        """Return the group of these ranks; None: there is no other.

        All of them ask for it in one order.
        """
        ranks = self.ranks(*names)
        if len(ranks) == 1:
            return None
        if len(ranks) == dist.get_world_size():
            return dist.group.WORLD
        if names not in self._groups:
            self._groups[names] = dist.new_group(ranks, use_local_synchronization=True)
        return self._groups[names]
