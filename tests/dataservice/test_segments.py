from __future__ import annotations

import torch

from smtc_lab.dataservice.protocol.segments import SharedFile, SharedPlaces, SharedViews

LARGE_BYTES = 2**20


def test_a_tensor_of_the_data_worker_is_the_trainers_own_without_a_copy() -> None:
    file = SharedFile()
    places, views = SharedPlaces(file), SharedViews(file)
    made = places.take(LARGE_BYTES).fill_(7)

    offset = places.share(made)

    assert offset is not None
    assert torch.equal(views.shared(offset, LARGE_BYTES), made)
    made.fill_(8)
    assert int(views.shared(offset, LARGE_BYTES)[0]) == 8


def test_a_tensor_that_the_trainer_has_already_is_copied() -> None:
    file = SharedFile()
    places, views = SharedPlaces(file), SharedViews(file)
    made = places.take(LARGE_BYTES).fill_(7)
    first = places.share(made)

    second = places.share(made)

    assert first is not None
    assert second is not None
    views.shared(first, LARGE_BYTES).fill_(0)
    assert int(views.shared(second, LARGE_BYTES).min()) == 7


def test_a_place_is_used_again_when_neither_side_needs_it() -> None:
    file = SharedFile()
    places, views = SharedPlaces(file), SharedViews(file)
    offset = places.share(torch.ones(LARGE_BYTES, dtype=torch.uint8))
    assert offset is not None
    theirs = views.shared(offset, LARGE_BYTES)
    other = places.share(torch.zeros(LARGE_BYTES, dtype=torch.uint8))
    assert other != offset
    assert views.returned() == []

    del theirs
    for returned in views.returned():
        places.release(returned)

    assert places.share(torch.zeros(LARGE_BYTES, dtype=torch.uint8)) == offset


def test_a_small_tensor_is_not_shared() -> None:
    assert SharedPlaces(SharedFile()).share(torch.zeros(4)) is None
