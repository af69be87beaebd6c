"""Ranks of a mesh: pipeline from outside, then data, shard, and tensor inside."""

from __future__ import annotations

from smtc_lab.instance.mesh import (
    TrainerLayout,
    batch_place,
    counts_samples,
    mesh_place,
    num_batches,
)

MESH = TrainerLayout(data=2, shard=3, pipeline=2, tensor=2)
RANKS = range(2 * 3 * 2 * 2)


def test_ranks_count_through_parts_of_layers_first_and_through_stages_last() -> None:
    places = [mesh_place(rank, MESH) for rank in RANKS]

    assert len(set(places)) == len(RANKS)
    assert places == sorted(places)
    assert places[1] == (0, 0, 0, 1)
    assert places[2] == (0, 0, 1, 0)
    assert places[12] == (1, 0, 0, 0)


def test_stages_and_parts_of_layers_take_the_same_batch_and_one_counts_it() -> None:
    takers: dict[int, list[int]] = {}
    for rank in RANKS:
        takers.setdefault(batch_place(rank, MESH), []).append(rank)

    assert list(takers) == list(range(num_batches(MESH)))
    assert takers[1] == [2, 3, 14, 15]
    assert [rank for rank in RANKS if counts_samples(rank, MESH)] == [0, 2, 4, 6, 8, 10]
