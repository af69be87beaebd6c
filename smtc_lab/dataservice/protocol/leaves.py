"""The parts of a batch that travel as raw bytes: tensors, arrays, array scalars, bytes."""

from __future__ import annotations

import math
import re
import reprlib
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch

from smtc_lab.dataservice.batch_types.tensors import is_laid_out
from smtc_lab.dataservice.protocol.pickles import unpickled
from smtc_lab.dataservice.protocol.remedies import SAME_VERSION
from smtc_lab.errors import DataServiceError, ProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Share = Callable[[torch.Tensor], "int | None"]
    """Puts a tensor into memory that the peer sees; returns its offset there, or None."""

MAX_LEAF_BYTES = 2**32
"""The most bytes of one tensor, array or bytes object."""

# A memoryview of these can be cast to bytes at once.
_NUMPY_CAN_CAST = frozenset(
    {
        *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
        *(torch.float32, torch.float64),
    }
)

_MAX_ELEMENTS = 2**48
_NOTHING = memoryview(b"")

_TORCH_DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
        *(torch.uint16, torch.uint32, torch.uint64),
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
        *(torch.complex32, torch.complex64, torch.complex128),
        *(torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz),
    )
}
_DTYPE_NAMES = {dtype: name for name, dtype in _TORCH_DTYPES.items()}
# To make an array and a tensor of it takes half the time of views of a tensor. Types that numpy
# does not know lie in whole numbers of their size.
_STAND_INS = {
    dtype: np.dtype(name if hasattr(np, name) else f"u{dtype.itemsize}")
    for name, dtype in _TORCH_DTYPES.items()
}

# Numbers, text and times of fixed size: no objects, no records, so any bytes are a legal value.
_NUMPY_DTYPE = re.compile(r"[<>|=][biufcSUMm]\d{1,9}(\[(\d{1,9})?[A-Za-z]{1,2}\])?")


class Memory(Protocol):
    """Where the tensors of received batches lie."""

    is_pinned: bool
    """Whether accelerators read from it; then only ``take`` makes what they can read."""

    unpickles: bool
    """Whether the peer is trusted so far that its pickles are read."""

    def take(self, nbytes: int) -> torch.Tensor:
        """Return so many bytes of undefined content, with a storage of their own."""
        ...

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return a contiguous array of undefined content, with memory of its own."""
        ...

    def shared(self, offset: int, nbytes: int) -> torch.Tensor:
        """Return bytes that a data worker of this host has put into shared memory.

        Raises:
            ProtocolError: There is no such memory.
        """
        ...


@dataclass(frozen=True, slots=True)
class Leaf:
    """One part of a batch that is yet to be received."""

    tag: str
    """``T``: tensor, ``M``: tensor in shared memory, ``a``: array, ``s``: array scalar, ``b``:
    bytes, ``p``: a pickle."""

    dtype: torch.dtype | np.dtype[np.generic] | None
    """Type of its elements; None for bytes and pickles."""

    shape: tuple[int, ...]
    """Its shape; ``(length,)`` for bytes."""

    nbytes: int
    """Its bytes on the wire, at most ``MAX_LEAF_BYTES``."""

    shared: tuple[int, int] | None = None
    """Offset and bytes in shared memory; None: it is not there."""

    def allocate(self, memory: Memory) -> tuple[object, memoryview]:
        """Return the object with undefined content, and the memory that is to be filled.

        Every tensor has its own storage, so keeping one small tensor of a batch does not keep
        the whole batch in memory.

        Args:
            memory: Where tensors lie.
        """
        if self.dtype is None:
            octets = bytearray(self.nbytes)
            return octets, memoryview(octets)
        if not isinstance(self.dtype, torch.dtype):
            array = np.empty(self.shape, self.dtype)
            return array, _octets(array)
        if self.shared is not None:
            tensor = memory.shared(*self.shared).view(self.dtype).reshape(self.shape)
            return tensor, _NOTHING
        if memory.is_pinned or not self.nbytes:
            buffer = memory.take(self.nbytes)
            return buffer.view(self.dtype).reshape(self.shape), buffer.numpy().data
        array = memory.array(self.shape, _STAND_INS[self.dtype])
        tensor = torch.from_numpy(array)
        return tensor if tensor.dtype is self.dtype else tensor.view(self.dtype), _octets(array)

    def finish(self, landed: object, memory: Memory) -> object:
        """Return the value for an allocated object whose memory has been filled."""
        if isinstance(landed, bytearray):
            return (
                bytes(landed)
                if self.tag == "b"
                else unpickled(bytes(landed), is_allowed=memory.unpickles)
            )
        if self.tag == "s" and isinstance(landed, np.ndarray):
            return landed[()]
        return landed


def encode_leaf(
    value: object, buffers: list[memoryview], share: Share | None
) -> list[object] | None:
    """Return the description of a tensor, array, array scalar or bytes; append its memory.

    Args:
        value: Any object.
        buffers: Gets the bytes of the value, without a copy where it is contiguous.
        share: Puts a tensor into memory that the peer sees; see ``structure.encode``.

    Returns:
        The description, or None for an object of another kind: sparse, nested, quantized and
        laid out tensors and arrays of objects are, too.

    Raises:
        DataServiceError: A tensor or array of a kind that does not travel.
    """
    if type(value) is torch.Tensor:
        return _encode_tensor(value, buffers, share)
    if type(value) is np.ndarray or isinstance(value, np.generic):
        return None if value.dtype.kind == "O" else _encode_array(value, buffers)
    if type(value) is bytes:
        _append(buffers, memoryview(value))
        return ["b", len(value)]
    return None


def parse_leaf(description: list[object]) -> Leaf:
    """Return the leaf of a description from the network, after every check.

    Raises:
        ProtocolError: Unknown type, or a shape that is negative or too large.
    """
    tag = description[0]
    if tag in {"b", "p"} and len(description) == 2:
        shape = _shape(description[1:])
        return Leaf(str(tag), None, shape, _nbytes(shape, 1))
    if tag == "M" and len(description) >= 3:
        (offset,), shape = _shape(description[2:3]), _shape(description[3:])
        of_tensor = _torch_dtype(description[1])
        return Leaf("M", of_tensor, shape, 0, (offset, _nbytes(shape, of_tensor.itemsize)))
    if tag in {"T", "a", "s"} and len(description) >= 2:
        shape = _shape(description[2:])
        dtype = _torch_dtype(description[1]) if tag == "T" else _numpy_dtype(description[1])
        return Leaf(str(tag), dtype, shape, _nbytes(shape, dtype.itemsize))
    raise ProtocolError(
        f"A message describes a part as {reprlib.repr(description)}, which is not known. "
        f"{SAME_VERSION}"
    )


def _encode_tensor(
    tensor: torch.Tensor, buffers: list[memoryview], share: Share | None
) -> list[object] | None:
    name = _DTYPE_NAMES.get(tensor.dtype)
    if share is None and tensor.dtype in _NUMPY_CAN_CAST:
        # Most are plain: to try costs less than to ask for all that may be in the way.
        with suppress(RuntimeError, TypeError):
            _append(buffers, tensor.numpy().data.cast("B"))
            return ["T", name, *tensor.shape]
    if name is None or tensor.layout is not torch.strided or tensor.is_nested:
        return None
    if tensor.device.type != "cpu":
        raise DataServiceError(
            f"The batch holds a tensor on {tensor.device}, but data workers have only CPUs. "
            "Return CPU tensors from the dataset and move them in the training loop."
        )
    if is_laid_out(tensor):  # a type of its own, whose memory comes here again
        return None
    whole = tensor.detach()
    if whole.is_conj() or whole.is_neg() or not whole.is_contiguous():
        whole = whole.resolve_conj().resolve_neg().contiguous()
    offset = None if share is None else share(whole)
    if offset is not None:
        return ["M", name, offset, *tensor.shape]
    _append(buffers, whole.reshape(-1).view(torch.uint8).numpy().data)
    return ["T", name, *tensor.shape]


def _octets(array: np.ndarray) -> memoryview:
    """Return the memory of a contiguous array, as bytes."""
    return array.reshape(-1).view(np.uint8).data if array.nbytes else _NOTHING


def _encode_array(value: np.ndarray | np.generic, buffers: list[memoryview]) -> list[object]:
    array = np.asarray(value)
    if not _NUMPY_DTYPE.fullmatch(array.dtype.str):
        raise DataServiceError(
            f"The batch holds a numpy array of dtype {array.dtype}, which cannot be sent. Turn "
            "it into numbers, or into a list of plain values, in collate_fn."
        )
    if array.nbytes:
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        _append(buffers, flat.data)
    return ["s" if isinstance(value, np.generic) else "a", array.dtype.str, *array.shape]


def _append(buffers: list[memoryview], view: memoryview) -> None:
    if view.nbytes > MAX_LEAF_BYTES:
        raise DataServiceError(
            f"The batch holds a tensor of {view.nbytes} bytes, but at most {MAX_LEAF_BYTES} "
            "can be sent. Make smaller batches."
        )
    if view.nbytes:
        buffers.append(view)


def _shape(values: list[object]) -> tuple[int, ...]:
    shape = tuple(value for value in values if type(value) is int and value >= 0)
    if len(shape) != len(values) or len(shape) > 64:
        raise ProtocolError(
            f"A message describes the shape {reprlib.repr(values)}, but a shape is at most 64 "
            "whole numbers of at least 0. The peer is not a data server of this version."
        )
    return shape


def _nbytes(shape: tuple[int, ...], itemsize: int) -> int:
    # Empty tensors with huge other sizes have overflowing strides: bound those sizes as well.
    elements = math.prod(max(size, 1) for size in shape)
    nbytes = math.prod(shape) * itemsize
    if elements > _MAX_ELEMENTS or nbytes > MAX_LEAF_BYTES:
        raise ProtocolError(
            f"A message describes the shape {reprlib.repr(shape)}, {nbytes} bytes, but at most "
            f"{MAX_LEAF_BYTES} bytes are received. Make smaller batches."
        )
    return nbytes


def _torch_dtype(name: object) -> torch.dtype:
    dtype = _TORCH_DTYPES.get(name) if isinstance(name, str) else None
    if dtype is None:
        raise ProtocolError(
            f"A message describes a tensor of dtype {reprlib.repr(name)}, which is not known. "
            "Install the same version of smtc_lab and torch on all instances."
        )
    return dtype


def _numpy_dtype(name: object) -> np.dtype[np.generic]:
    try:
        if not isinstance(name, str) or not _NUMPY_DTYPE.fullmatch(name):
            raise ValueError("not a plain dtype")  # noqa: TRY301  one message for both cases
        return np.dtype(name)
    except (TypeError, ValueError) as error:
        raise ProtocolError(
            f"A message describes an array of dtype {reprlib.repr(name)}, which is not known. "
            "Install the same version of smtc_lab and numpy on all instances."
        ) from error
