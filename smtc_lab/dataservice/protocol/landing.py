"""Memory that large tensors are received into, used again when their tensors are gone.

Fresh memory costs more than the network: the kernel clears each page of it, which was measured
to cost four times the copy itself.
"""

from __future__ import annotations

import math
import threading
import weakref
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from smtc_lab.dataservice.protocol.remedies import SAME_VERSION
from smtc_lab.errors import ProtocolError

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALL_BYTES = 2**17
"""Below this, malloc keeps memory itself and reuse gains nothing."""

MAX_FREE_BUFFERS = 32
MAX_FREE_BYTES = 2**30
"""What is kept for the next tensors at most; the rest goes back to the system."""

_PAGE_BYTES = 4096


class LandingPool:
    """Buffers of one client. Safe to use from all threads.

    A tensor may be kept for as long as one likes: its buffer comes back when its storage, with
    every view and numpy array of it, is gone.
    """

    def __init__(self, *, is_pinned: bool = False, unpickles: bool = False) -> None:
        """Make an empty pool.

        Args:
            is_pinned: Whether accelerators read from the memory. torch's own pool of pinned
                memory is used then, which waits for copies that are still under way.
            unpickles: Whether the peer is trusted so far that its pickles are read.
        """
        self.unpickles = unpickles
        """Whether the peer is trusted so far that its pickles are read."""
        self.is_pinned = is_pinned
        """Whether accelerators read from the memory."""
        self._taking = threading.Lock()
        self._free: list[NDArray[np.uint8]] = []
        self._free_bytes = 0
        # Tensors die in any thread, also amid garbage collection, where no lock may be taken.
        self._returned: SimpleQueue[NDArray[np.uint8]] = SimpleQueue()

    def take(self, nbytes: int) -> torch.Tensor:
        """Return ``nbytes`` bytes of undefined content, as a tensor with its own storage."""
        if self.is_pinned or nbytes < SMALL_BYTES:
            return torch.empty(nbytes, dtype=torch.uint8, pin_memory=self.is_pinned)
        return torch.from_numpy(self.array((nbytes,), np.dtype(np.uint8)))

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return a contiguous array of undefined content, with memory of its own, not pinned.

        The memory is in use for as long as the array or a tensor made of it is.
        """
        nbytes = math.prod(shape) * dtype.itemsize
        if nbytes < SMALL_BYTES:
            return np.empty(shape, dtype)
        with self._taking:
            buffer = self._find(nbytes)
        if buffer is None:
            capacity = -(-nbytes // _PAGE_BYTES) * _PAGE_BYTES
            buffer = torch.empty(capacity, dtype=torch.uint8).numpy()
        # torch holds the lease for as long as the storage lives, and nobody else does.
        lease: NDArray[Any] = np.ndarray(shape, dtype, buffer.data)
        weakref.finalize(lease, self._returned.put, buffer).atexit = False
        return lease

    def shared(self, offset: int, nbytes: int) -> torch.Tensor:
        """Refuse: what comes over the network is in nobody's shared memory.

        Raises:
            ProtocolError: Always.
        """
        raise ProtocolError(
            f"A message speaks of shared memory ({nbytes} bytes at {offset}), but there is "
            f"none on this connection. {SAME_VERSION}"
        )

    def _find(self, nbytes: int) -> NDArray[np.uint8] | None:
        while not self._returned.empty():
            self._free.append(self._returned.get_nowait())
            self._free_bytes += self._free[-1].nbytes
        while len(self._free) > MAX_FREE_BUFFERS or self._free_bytes > MAX_FREE_BYTES:
            self._free_bytes -= self._free.pop(0).nbytes
        # Latest first: its pages are the likeliest to be in the processor's cache.
        for index in range(len(self._free) - 1, -1, -1):
            if nbytes <= self._free[index].nbytes <= 2 * nbytes:
                self._free_bytes -= self._free[index].nbytes
                return self._free.pop(index)
        return None
