"""Batches go over the wire and back unchanged."""

from __future__ import annotations

import math
from collections import OrderedDict, namedtuple
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.dataservice.batch_types.registry import made_again
from smtc_lab.dataservice.protocol import wire
from smtc_lab.dataservice.protocol.wire import Kind
from smtc_lab.errors import DataServiceError
from tests.kit.wire import raw, received


class Point(NamedTuple):
    x: int
    y: Any


class Outer:
    class Inner(NamedTuple):
        value: int


def there_and_back(value: object) -> Any:
    frame = received(raw(value))
    assert frame is not None
    assert (frame.kind, frame.number) == (Kind.BATCH, 7)
    return frame.value


plain = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text()
keys = st.text() | st.integers() | st.tuples(st.integers(), st.text()) | st.none()
values = st.recursive(
    plain | st.binary(),
    lambda parts: (
        st.lists(parts)
        | st.lists(parts).map(tuple)
        | st.dictionaries(keys, parts)
        | st.dictionaries(keys, parts).map(OrderedDict)
        | st.builds(Point, st.integers(), parts)
    ),
    max_leaves=12,
)


def equal(one: object, other: object) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, float) and isinstance(other, float):
        return (math.isnan(one) and math.isnan(other)) or one.hex() == other.hex()
    if isinstance(one, dict) and isinstance(other, dict):
        return all(map(equal, one, other)) and equal([*one.values()], [*other.values()])
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    return one == other


@given(value=values)
def test_every_nested_value_comes_back_as_it_was(value: object) -> None:
    assert equal(there_and_back(value), value)


@pytest.mark.parametrize(
    "dtype",
    [
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
        *(torch.uint16, torch.uint32, torch.uint64, torch.float16, torch.bfloat16),
        *(torch.float32, torch.float64, torch.complex64, torch.complex128),
        torch.float8_e4m3fn,
    ],
    ids=str,
)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (5,), (2, 3, 4)], ids=str)
def test_tensors_of_all_dtypes_and_shapes_come_back(
    dtype: torch.dtype, shape: tuple[int, ...]
) -> None:
    nbytes = math.prod(shape) * dtype.itemsize
    tensor = torch.randint(0, 2, (nbytes,), dtype=torch.uint8).view(dtype).reshape(shape)

    came = there_and_back(tensor)

    assert (came.dtype, came.shape) == (dtype, tensor.shape)
    assert torch.equal(came.reshape(-1).view(torch.uint8), tensor.reshape(-1).view(torch.uint8))


def test_tensors_that_are_no_plain_memory_are_made_so() -> None:
    base = torch.arange(24.0).reshape(4, 6)
    views = [base.t(), base[::2, 1:4], base[0].expand(3, 6), base.to(torch.complex64).conj()]

    assert all(map(torch.equal, there_and_back(views), views))


@pytest.mark.parametrize(
    "tensor",
    [
        torch.rand(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
        torch.rand(2, 3, 4, 5, 6).contiguous(memory_format=torch.channels_last_3d),
        torch.rand(300, 200).t(),
        torch.arange(24.0).reshape(4, 6).t().to(torch.complex64).conj(),
        torch.rand(2, 3, 4).permute(2, 0, 1).to(torch.bfloat16),
    ],
    ids=lambda tensor: str(tuple(tensor.shape)),
)
def test_a_tensor_keeps_the_order_of_its_dimensions_in_memory(tensor: torch.Tensor) -> None:
    came, inside = there_and_back([tensor, {"inside": tensor}])

    for one in (came, inside["inside"]):
        assert torch.equal(one, tensor)
        assert one.stride() == tensor.stride()
        assert not one._is_view()


@pytest.mark.parametrize("is_last", [False, True])
def test_a_tensor_that_wants_a_gradient_still_wants_it(*, is_last: bool) -> None:
    tensor = torch.rand(2, 3, 4, 5)
    if is_last:
        tensor = tensor.contiguous(memory_format=torch.channels_last)

    came = there_and_back(tensor.requires_grad_())

    assert torch.equal(came, tensor)
    assert came.stride() == tensor.stride()
    assert came.requires_grad
    assert came.is_leaf


def test_a_tensor_whose_gradient_goes_back_to_the_data_worker_is_refused() -> None:
    computed = torch.ones(2, requires_grad=True) * 2

    with pytest.raises(
        DataServiceError, match=r"shape \[2\] that requires a gradient.*\.detach"
    ):
        there_and_back({"x": computed})


@pytest.mark.parametrize("order", [[0, 0], [1], [0, 2], ["a", 0], [0, 1, 2]])
def test_an_order_of_other_dimensions_is_refused(order: list[Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        made_again("laid_out", [False, *order], [torch.zeros(2, 3)])


def test_every_tensor_has_a_storage_of_its_own() -> None:
    images, labels = there_and_back((torch.zeros(1000), torch.zeros(4)))

    assert images.untyped_storage().nbytes() == 4000
    assert labels.untyped_storage().nbytes() == 16


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=">i4").reshape(2, 3),
        np.array(3.5),
        np.array(["a", "bcd"]),
        np.array([b"x"]),
        np.array(["2026-11-20"], dtype="M8[D]"),
        np.asfortranarray(np.ones((2, 3))),
        np.zeros((0, 4), dtype=np.float16),
        np.array([""]),
    ],
    ids=lambda array: array.dtype.str,
)
def test_numpy_arrays_come_back(array: np.ndarray[Any, Any]) -> None:
    came = there_and_back(array)

    assert (came.dtype, came.shape) == (array.dtype, array.shape)
    assert np.array_equal(came, array)


def test_numpy_scalars_stay_numpy_scalars() -> None:
    came = there_and_back([np.float64(0.1), np.int8(3), np.str_("ü")])

    assert [type(value) for value in came] == [np.float64, np.int8, np.str_]
    assert came == [0.1, 3, "ü"]


def test_named_tuples_of_the_script_come_back_as_its_own_class() -> None:
    came = there_and_back([Point(1, 2), Outer.Inner(3)])

    assert [type(value) for value in came] == [Point, Outer.Inner]


def test_named_tuples_that_this_process_does_not_know_have_their_fields() -> None:
    came = there_and_back(namedtuple("Unknown", "a b")(1, 2))  # noqa: PYI024  made at run time

    assert (type(came).__name__, came.a, came.b) == ("Unknown", 1, 2)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([object()], r"builtins\.object.*num_workers=0.*register_type.*allow_pickle"),
        (torch.nn.Parameter(torch.zeros(2)), r"Parameter, which cannot be sent"),
        (torch.zeros(2, device="meta"), r"tensor on meta.*Return CPU tensors"),
        (np.array([object()]), r"builtins\.object, which cannot be sent"),
        (np.zeros(2, dtype=[("a", "i4")]), r"numpy array of dtype .*collate_fn"),
        (10**5000, r"a number that cannot be written.*64 bits"),
    ],
    ids=["object", "parameter", "meta", "objects", "records", "large number"],
)
def test_what_cannot_be_sent_is_named_with_a_remedy(value: object, said: str) -> None:
    with pytest.raises(DataServiceError, match=said):
        wire.pack(Kind.BATCH, 0, value)


def test_a_structure_that_is_too_deep_is_refused_by_the_sender() -> None:
    value: list[Any] = []
    for _ in range(100):
        value = [value]

    with pytest.raises(DataServiceError, match=r"more than 64 deep.*flatter"):
        wire.pack(Kind.BATCH, 0, value)


def test_the_end_between_two_messages_is_no_error() -> None:
    assert received(b"") is None
