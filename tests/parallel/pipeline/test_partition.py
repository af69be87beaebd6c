"""The cut of a sequence is the best one, fits, obeys pins, and says what bounds it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.errors import EntryPointError
from smtc_lab.parallel.pipeline.cutting.partition import best_partition
from smtc_lab.parallel.pipeline.cutting.ranges import PieceCost


def pieces_of(*costs: float, **fields: Any) -> list[PieceCost]:
    return [PieceCost(name=f"layer.{i}", cost=one, **fields) for i, one in enumerate(costs)]


def cuts(count: int, stages: int) -> list[list[tuple[int, int]]]:
    inside = itertools.combinations(range(1, count), stages - 1)
    return [list(zip([0, *at], [*at, count], strict=True)) for at in inside]


def step_cost(pieces: list[PieceCost], cut: list[tuple[int, int]], microbatches: int) -> float:
    times = [
        sum(one.cost for one in pieces[i:j]) + (pieces[i].send_cost if i else 0) for i, j in cut
    ]
    crossing = sum(pieces[i].send_cost for i, _ in cut[1:])
    return (microbatches + len(cut) - 1) * max(times) + crossing


def held(pieces: list[PieceCost], cut: list[tuple[int, int]], in_flight: list[int]) -> float:
    return max(
        sum(one.static_bytes + count * one.activation_bytes for one in pieces[i:j])
        for (i, j), count in zip(cut, in_flight, strict=True)
    )


@st.composite
def sequences(draw: st.DrawFn) -> list[PieceCost]:
    whole = st.integers(0, 30)
    return [
        PieceCost(
            name=f"layer.{i}",
            cost=draw(whole),
            send_cost=draw(st.sampled_from([0, 1, 5, 40])),
            static_bytes=draw(whole),
            activation_bytes=draw(st.integers(0, 3)),
        )
        for i in range(draw(st.integers(1, 9)))
    ]


@given(
    pieces=sequences(),
    part=st.floats(0, 1),
    microbatches=st.integers(1, 8),
    limit=st.sampled_from([None, 30, 60, 120]),
)
def test_no_cut_is_better_than_the_one_that_is_found(
    pieces: list[PieceCost], part: float, microbatches: int, limit: int | None
) -> None:
    stages = 1 + round(part * (len(pieces) - 1))
    in_flight = [min(microbatches, stages - stage) for stage in range(stages)]
    possible = [
        step_cost(pieces, cut, microbatches)
        for cut in cuts(len(pieces), stages)
        if limit is None or held(pieces, cut, in_flight) <= limit
    ]

    def found() -> Any:
        return best_partition(
            pieces, stages, microbatches=microbatches, limit_bytes=limit, in_flight=in_flight
        )

    if not possible:
        with pytest.raises(EntryPointError, match=r"bytes too large"):
            found()
        return
    partition = found()
    assert partition.step_cost == pytest.approx(min(possible), rel=1e-12)
    assert limit is None or max(partition.memory_bytes) <= limit


def test_200_modules_are_cut_into_8_stages_without_a_look_at_every_cut() -> None:
    pieces = [
        PieceCost(name=str(i), cost=1 + i * 7 % 13, send_cost=i * 5 % 11 / 20, static_bytes=1)
        for i in range(200)
    ]

    found = best_partition(pieces, 8, microbatches=8, limit_bytes=40)

    assert (
        len(found.memory_bytes) == 8
    )  # of 2 times 10 to the 12 cuts, so all would take for ever


def test_memory_weight_1_makes_the_fullest_stage_as_empty_as_can_be() -> None:
    pieces = [
        PieceCost(name=str(i), cost=cost, static_bytes=size)
        for i, (cost, size) in enumerate([(9, 1), (1, 1), (1, 1), (1, 9)])
    ]

    by_time = best_partition(pieces, 2)
    by_memory = best_partition(pieces, 2, memory_weight=1)

    assert by_time.starts == (0, 1)
    assert by_memory.starts == (0, 3)


def test_one_module_that_bounds_the_step_is_named() -> None:
    partition = best_partition(pieces_of(10, 10, 10, 41, 29), 4)

    assert partition.sentence == (
        "layer.3 alone is 41% of the step, so no cut into 4 stages is more than 2.4 times as "
        "fast as one device."
    )


def test_a_pinned_module_and_all_inside_it_stay_on_their_stage() -> None:
    names = ["emb", "block.0.a", "block.0.b", "block.1", "head"]
    pieces = [PieceCost(name=name, cost=1) for name in names]

    partition = best_partition(pieces, 2, pins={"block": 1, "block.0": 0})
    all_but = best_partition(pieces, 2, pins={"head": 1}, default_partition=0)

    assert partition.starts == (0, 3)
    assert all_but.starts == (0, 4)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"stages": 4}, r"4 stages, but .* sequence of 3 modules\. Take at most 3"),
        ({"memory_weight": 1.5}, r"memory_weight=1.5 is outside 0 to 1"),
        ({"pins": {"layer.9": 0}}, r"'layer.9' is pinned to stage 0, but no module .*layer.0"),
        ({"pins": {"layer.0": 2}}, r"layer.0=2 is no stage: .* from 0 to 1"),
        (
            {"pins": {"layer.0": 1, "layer.2": 0}},
            r"'layer.2' is on stage 0, but runs after 'la",
        ),
        ({"default_partition": 0}, r"none of them to stage 1 of 2"),
        (
            {"pins": {"layer.0": 1}},
            r"'layer.0': 1} pinned, some of the 2 stages would have no mod",
        ),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(EntryPointError, match=said):
        best_partition(pieces_of(1, 1, 1), **{"stages": 2, **options})


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (
            14,
            r"14 bytes: stage . is 6 bytes too large, .*layer.. with 10. Take at least 3 stag",
        ),
        (
            8,
            r"8 bytes: stage . is 12 bytes too large.* Split that module, take a smaller batch",
        ),
    ],
)
def test_a_stage_that_does_not_fit_is_told_with_what_would(limit: int, said: str) -> None:
    with pytest.raises(EntryPointError, match=said):
        best_partition(pieces_of(1, 1, 1, static_bytes=10), 2, limit_bytes=limit)
