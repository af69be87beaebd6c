"""Where a trainer stands among those that share a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from smtc_lab.instance.description import TrainerLayout


class MeshPlace(NamedTuple):
    """Numbers of a trainer along each dimension of its job's mesh, each from 0.

    Ranks count through ``tensor`` first, so that those that exchange most are on one instance,
    and through ``pipeline`` last.
    """

    pipeline: int
    """Its place among those that run the stages of one replica."""

    data: int
    """Its replica."""

    shard: int
    """Its place among those that share the parameters of a replica or of a stage."""

    tensor: int
    """Its place among those that share each layer."""


def mesh_sizes(layout: TrainerLayout) -> MeshPlace:
    """Return how many trainers there are along each dimension."""
    return MeshPlace(layout.pipeline, layout.data, layout.shard, layout.tensor)


def mesh_place(rank: int, layout: TrainerLayout) -> MeshPlace:
    """Return where a trainer stands.

    Args:
        rank: Its rank, from 0.
        layout: How the trainers share the model.
    """
    numbers = []
    for size in reversed(mesh_sizes(layout)):
        rank, number = divmod(rank, size)
        numbers.append(number)
    return MeshPlace(*reversed(numbers))


def num_batches(layout: TrainerLayout) -> int:
    """Return how many batches a step takes: stages and parts of layers take the same."""
    return layout.data * layout.shard


def batch_place(rank: int, layout: TrainerLayout) -> int:
    """Return which of these batches a trainer takes, from 0."""
    place = mesh_place(rank, layout)
    return place.data * layout.shard + place.shard


def counts_samples(rank: int, layout: TrainerLayout) -> bool:
    """Whether a trainer speaks for its batch: of those that take the same, one does."""
    place = mesh_place(rank, layout)
    return place.pipeline == 0 and place.tensor == 0
