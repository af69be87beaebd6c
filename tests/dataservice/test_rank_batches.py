from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.dataservice.rank_batches import RankBatches
from smtc_lab.errors import DataServiceError


def ranks(
    num_samples: int,
    batch_size: int,
    num_ranks: int,
    *,
    shuffle: bool = True,
    drop_last: bool = False,
) -> list[list[list[int]]]:
    return [
        list(
            RankBatches(
                num_samples,
                batch_size=batch_size,
                rank=rank,
                num_ranks=num_ranks,
                seed=3,
                shuffle=shuffle,
                drop_last=drop_last,
            )
        )
        for rank in range(num_ranks)
    ]


@given(
    num_samples=st.integers(1, 200), batch_size=st.integers(1, 9), num_ranks=st.integers(1, 8)
)
def test_every_sample_comes_once_and_every_rank_has_equally_many_batches(
    num_samples: int, batch_size: int, num_ranks: int
) -> None:
    if num_samples < num_ranks:
        return
    found = ranks(num_samples, batch_size, num_ranks)

    assert sorted(n for rank in found for batch in rank for n in batch) == list(
        range(num_samples)
    )
    assert len({len(rank) for rank in found}) == 1
    assert all(1 <= len(batch) <= max(2, batch_size) for rank in found for batch in rank)


@given(num_samples=st.integers(8, 100), num_ranks=st.integers(1, 8))
def test_the_ranks_together_take_the_batches_of_one_process(
    num_samples: int, num_ranks: int
) -> None:
    several = ranks(num_samples, 2, num_ranks, drop_last=True)
    (one,) = ranks(num_samples, 2 * num_ranks, 1, drop_last=True)

    together = [[n for part in parts for n in part] for parts in zip(*several, strict=True)]
    assert together == one


def test_each_epoch_has_an_order_of_its_own_and_can_be_taken_up_again() -> None:
    batches = RankBatches(50, batch_size=5, rank=1, num_ranks=2, seed=1, shuffle=True)

    first, second = list(batches), list(batches)
    batches.set_epoch(0)

    assert first != second
    assert list(batches) == first


def test_fewer_samples_than_ranks_are_refused() -> None:
    with pytest.raises(DataServiceError, match="3 samples for 4 trainers"):
        RankBatches(3, batch_size=1, rank=0, num_ranks=4, seed=0)
