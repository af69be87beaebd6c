"""How the trainers of a job share its model, and where one of them stands among the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class TrainerLayout:
    """How the trainers of a job share its model: its ``distribution`` with no number open."""

    data: int
    """Replicas of the model; times ``shard``, ``pipeline`` and ``tensor`` all trainers."""

    shard: int = 1
    """Trainers that share the parameters of one replica, by consecutive ranks."""

    pipeline: int = 1
    """Trainers that each run a stage, or some, of one replica."""

    microbatches: int = 1
    """Parts of a batch that go through the stages one after the other."""

    schedule: str = "1f1b"
    """In which order they do."""

    memory_weight: float = 0.0
    """What stages are cut by: 0 time, 1 memory."""

    tensor: int = 1
    """Trainers that each have a part of every layer, by consecutive ranks."""

    activation_checkpointing: bool = False
    """Whether layers keep their inputs alone and are computed again for the backward pass."""

    activation_offload: bool = False
    """Whether what layers keep for the backward pass waits in host memory."""

    pins: Mapping[str, int] = field(default_factory=dict)
    """Stage of a module and all inside it, by its name."""

    default_partition: int | None = None
    """Stage of all other modules; None: where it is best."""

    limit_bytes: float | None = None
    """What each trainer of a pipeline may hold; None: there is no limit."""


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
