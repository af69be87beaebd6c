from __future__ import annotations

import threading

import pytest
import torch

from smtc_lab.dataservice.protocol import landing
from smtc_lab.dataservice.protocol.landing import LandingPool

LARGE_BYTES = 2**20


def test_the_memory_of_a_tensor_that_is_gone_is_used_again() -> None:
    pool = LandingPool()
    tensor = pool.take(LARGE_BYTES)
    address = tensor.data_ptr()
    del tensor

    assert pool.take(LARGE_BYTES - 100).data_ptr() == address


def test_the_memory_of_a_tensor_that_is_kept_is_left_alone() -> None:
    pool = LandingPool()
    view = pool.take(LARGE_BYTES).view(torch.float32)[10:20]
    array = pool.take(LARGE_BYTES).numpy()
    view.fill_(7)
    array.fill(7)

    for _ in range(4):
        pool.take(LARGE_BYTES).fill_(0)

    assert view.tolist() == [7.0] * 10
    assert (array == 7).all()


def test_a_small_tensor_has_no_large_storage() -> None:
    assert LandingPool().take(100).untyped_storage().nbytes() == 100


def test_a_large_buffer_does_not_serve_a_much_smaller_tensor() -> None:
    pool = LandingPool()
    tensor = pool.take(8 * LARGE_BYTES)
    address = tensor.data_ptr()
    del tensor

    assert pool.take(LARGE_BYTES).data_ptr() != address


def test_no_more_memory_is_kept_than_the_limit() -> None:
    pool = LandingPool()
    tensors = [pool.take(landing.SMALL_BYTES) for _ in range(landing.MAX_FREE_BUFFERS + 20)]
    tensors.clear()

    pool.take(landing.SMALL_BYTES)

    assert len(pool._free) < landing.MAX_FREE_BUFFERS


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_pinned_memory_is_not_used_again_while_a_copy_from_it_is_under_way() -> None:
    pool = LandingPool(is_pinned=True)
    copies = []
    for number in range(64):
        tensor = pool.take(8 * LARGE_BYTES)
        tensor.fill_(number)
        copies.append(tensor.to("cuda", non_blocking=True))
        assert tensor.is_pinned()
        del tensor

    assert [int(copy.min()) for copy in copies] == list(range(64))
    assert [int(copy.max()) for copy in copies] == list(range(64))


def test_tensors_may_die_in_any_thread() -> None:
    pool = LandingPool()
    tensors = [pool.take(LARGE_BYTES)]
    address = tensors[0].data_ptr()
    thread = threading.Thread(target=tensors.clear)
    thread.start()
    thread.join()

    assert pool.take(LARGE_BYTES).data_ptr() == address
