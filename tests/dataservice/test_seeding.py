from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.dataservice.seeding import (
    preserved_random_state,
    sample_seeds,
    seed_sample,
    stream_seed,
)

words = st.integers(0, 2**64 - 1)


def drawn() -> list[float]:
    return [torch.rand(()).item(), float(np.random.rand()), random.random()]  # noqa: NPY002, S311  what transforms use


def test_the_seeds_of_a_sample_never_change_between_versions() -> None:
    assert sample_seeds(1, 2, 3) == (15042326973487382245, 11237723670331788791, 3345134951)


@given(seed=words, epoch=words, position=words)
def test_equal_places_draw_equal_numbers(seed: int, epoch: int, position: int) -> None:
    with preserved_random_state():
        seed_sample(seed, epoch, position)
        first = drawn()
        seed_sample(seed, epoch, position)

        assert drawn() == first


def test_neighbouring_places_draw_different_numbers() -> None:
    seen = set()
    with preserved_random_state():
        for place in [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)]:
            seed_sample(*place)
            seen.update(drawn())

    assert len(seen) == 12


def test_negative_seeds_are_legal() -> None:
    assert sample_seeds(-1, 0, 0) == sample_seeds(2**64 - 1, 0, 0)


def test_ranks_draw_different_numbers_and_the_first_keeps_the_seed() -> None:
    assert stream_seed(7, 0) == 7
    assert len({stream_seed(7, rank) for rank in range(16)}) == 16


def test_the_random_state_is_given_back_after_an_error() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()

    def fail() -> None:
        with preserved_random_state():
            seed_sample(1, 2, 3)
            raise KeyError

    with pytest.raises(KeyError):
        fail()

    assert torch.equal(torch.get_rng_state(), before)
