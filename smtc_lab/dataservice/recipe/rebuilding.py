"""What recipes name where memory is made tensors and arrays again. Pickles look here for it."""

from __future__ import annotations

import functools
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class StorageMemory:
    """The memory of one or several tensors; in a pickle it stands for a storage."""

    def __init__(self, memory: Any) -> None:  # noqa: ANN401  an array of bytes
        self._memory = memory

    def __reduce__(self) -> tuple[Any, tuple[Any]]:
        return storage, (pickle.PickleBuffer(self._memory),)


def storage(memory: Any) -> torch.UntypedStorage:  # noqa: ANN401  a buffer
    """Return memory that came as the storage of tensors; it is not copied."""
    return torch.frombuffer(memory, dtype=torch.uint8).untyped_storage()


def tensor(  # noqa: PLR0913, PLR0917  a pickle names no arguments
    shared: torch.UntypedStorage,
    dtype: torch.dtype,
    offset: int,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    requires_grad: bool,  # noqa: FBT001  as above
) -> torch.Tensor:
    """Return a tensor as it was."""
    made = torch.empty(0, dtype=dtype).set_(shared, offset, size, stride)
    return made.requires_grad_(requires_grad) if requires_grad else made


def mapped(
    path: str,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    offset: int,
    mode: Any,  # noqa: ANN401  numpy's own
) -> np.memmap[Any, Any]:
    """Return an array that lies in a file of this instance."""
    return np.memmap(path, dtype, mode, offset, shape)


def cached(function: Callable[..., object], parameters: Mapping[str, Any]) -> object:
    """Return a function of ``functools`` that keeps what another one returns; empty."""
    return functools.lru_cache(**parameters)(function)
