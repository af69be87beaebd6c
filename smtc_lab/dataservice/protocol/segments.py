"""Shared memory between a trainer and one of its own data workers: batches without a copy.

The trainer makes one file in memory for each data worker before it forks it. The data worker
puts each large tensor at a place of its own in it; the trainer's tensor is that memory. A place
is used again once the trainer's tensor is gone, so a batch may be kept for as long as one
likes.
"""

from __future__ import annotations

import mmap
import os
import weakref
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from smtc_lab.dataservice.protocol.landing import SMALL_BYTES
from smtc_lab.dataservice.protocol.remedies import SAME_VERSION
from smtc_lab.errors import ProtocolError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GRAIN_BYTES = 2**16
_MAX_IDLE_BYTES = 2**29
_MAX_IDLE_PLACES = 8


class SharedFile:
    """A file in memory that a trainer and one data worker have open."""

    def __init__(self) -> None:
        self._descriptor = os.memfd_create("smtc_lab batches", os.MFD_CLOEXEC)
        weakref.finalize(self, os.close, self._descriptor)

    def map(self, offset: int, nbytes: int) -> mmap.mmap:
        """Return the memory of the file from an offset on; the file must be that long."""
        return mmap.mmap(self._descriptor, nbytes, offset=offset)

    def grow(self, nbytes: int) -> None:
        """Make the file at least so long."""
        if os.fstat(self._descriptor).st_size < nbytes:
            os.ftruncate(self._descriptor, nbytes)

    def size(self) -> int:
        """Return how long the file is, in bytes."""
        return os.fstat(self._descriptor).st_size


class _Stretch:
    """Some bytes of the file, as the data worker sees them."""

    def __init__(self, offset: int, memory: mmap.mmap) -> None:
        self.offset = offset
        self.array = np.frombuffer(memory, np.uint8)
        self._memory = memory
        self.is_here = True
        """Whether a tensor of the data worker is there."""
        self.is_there = False
        """Whether the trainer has it."""

    @property
    def is_free(self) -> bool:
        """Whether nobody uses it."""
        return not (self.is_here or self.is_there)

    def empty(self) -> None:
        """Give its memory back to the system until it is used again."""
        self._memory.madvise(mmap.MADV_REMOVE)


class SharedPlaces:
    """The data worker's side: where tensors lie until the trainer gives them back."""

    def __init__(self, file: SharedFile) -> None:
        self._file = file
        self._places: dict[int, _Stretch] = {}
        self._by_address: dict[int, _Stretch] = {}
        self._end = 0
        # Tensors die in any line of the dataset's own code.
        self._died: SimpleQueue[int] = SimpleQueue()

    def take(self, nbytes: int) -> torch.Tensor:
        """Return so many bytes of undefined content, shared where they are many."""
        if nbytes < SMALL_BYTES:
            return torch.empty(nbytes, dtype=torch.uint8)
        self._collect()
        place = self._free(nbytes) or self._new(nbytes)
        place.is_here = True
        lease = place.array[:nbytes]
        weakref.finalize(lease, self._died.put, place.offset).atexit = False
        return torch.from_numpy(lease)

    def share(self, tensor: torch.Tensor) -> int | None:
        """Let the trainer have a contiguous tensor; return its offset, None: it is small.

        One that lies elsewhere, or that the trainer has already, is copied.
        """
        nbytes = tensor.nbytes
        if nbytes < SMALL_BYTES:
            return None
        place = self._by_address.get(tensor.data_ptr())
        if place is None or place.array.nbytes < nbytes or not place.is_here or place.is_there:
            copy = self.take(nbytes)
            copy.copy_(tensor.reshape(-1).view(torch.uint8))
            place = self._by_address[copy.data_ptr()]
        place.is_there = True
        return place.offset

    def release(self, offset: int) -> None:
        """Take note that the trainer has given a place back."""
        place = self._places.get(offset)
        if place is None:
            return
        place.is_there = False
        idle = [one for one in self._places.values() if one.is_free]
        most_bytes = max(_MAX_IDLE_BYTES, _MAX_IDLE_PLACES * place.array.nbytes)
        if sum(one.array.nbytes for one in idle) > most_bytes:
            idle[0].empty()

    def _free(self, nbytes: int) -> _Stretch | None:
        """Return the free place that was used last: its pages are the likeliest in a cache."""
        for place in reversed(self._places.values()):
            if place.is_free and nbytes <= place.array.nbytes <= 2 * nbytes:
                return place
        return None

    def _new(self, nbytes: int) -> _Stretch:
        capacity = -(-nbytes // _GRAIN_BYTES) * _GRAIN_BYTES
        offset, self._end = self._end, self._end + capacity
        self._file.grow(self._end)
        place = _Stretch(offset, self._file.map(offset, capacity))
        self._places[offset] = place
        self._by_address[place.array.ctypes.data] = place
        return place

    def _collect(self) -> None:
        """Note which tensors of the data worker are gone."""
        while True:
            try:
                offset = self._died.get_nowait()
            except Empty:
                return
            self._places[offset].is_here = False


class SharedViews:
    """The trainer's side: tensors that are the data worker's memory."""

    is_pinned = False
    """Accelerators read from it like from any other memory."""
    unpickles = True
    """The peer was forked from this process."""

    def __init__(self, file: SharedFile) -> None:
        self._file = file
        self._mapped: dict[int, NDArray[np.uint8]] = {}
        self._returned: SimpleQueue[int] = SimpleQueue()

    def take(self, nbytes: int) -> torch.Tensor:
        """Return fresh memory."""
        return torch.empty(nbytes, dtype=torch.uint8)

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return fresh memory: all that comes over the connection is small."""
        return np.empty(shape, dtype)

    def shared(self, offset: int, nbytes: int) -> torch.Tensor:
        """Return the tensor at a place of the file.

        Raises:
            ProtocolError: The file does not reach that far.
        """
        mapped = self._mapped.get(offset)
        if mapped is None or mapped.nbytes < nbytes:
            if (
                offset % mmap.ALLOCATIONGRANULARITY
                or offset + max(nbytes, 1) > self._file.size()
            ):
                raise ProtocolError(
                    f"A message speaks of {nbytes} bytes of shared memory at {offset}, but "
                    f"there are {self._file.size()} bytes in all. {SAME_VERSION}"
                )
            mapped = np.frombuffer(self._file.map(offset, nbytes), np.uint8)
            self._mapped[offset] = mapped
        lease = mapped[:nbytes]
        weakref.finalize(lease, self._returned.put, offset).atexit = False
        return torch.from_numpy(lease)

    def returned(self) -> list[int]:
        """Return the places whose tensors are gone since the last call."""
        offsets: list[int] = []
        while True:
            try:
                offsets.append(self._returned.get_nowait())
            except Empty:
                return offsets
