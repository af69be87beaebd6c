"""The batches that every peer delivers: made before anything is measured, known by heart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils.data import Dataset

if TYPE_CHECKING:
    from numpy.typing import NDArray

Batch = tuple[torch.Tensor, torch.Tensor]
"""Images and labels; ``labels[0]`` is the number of the batch."""

_NUM_BATCHES = 10**9


@dataclass(frozen=True, kw_only=True, slots=True)
class Payload:
    """What one batch consists of."""

    name: str
    """Its letter in tables and figures."""

    shape: tuple[int, ...]
    """Shape of the images; there are as many labels as images."""

    dtype: str
    """Type of the images, as numpy calls it; labels are int64."""

    num_distinct: int
    """How many batches are made; they come in turn."""

    @property
    def num_labels(self) -> int:
        """Labels of a batch."""
        return self.shape[0]

    @property
    def num_label_bytes(self) -> int:
        """Bytes of the labels of a batch."""
        return self.num_labels * 8

    @property
    def num_image_bytes(self) -> int:
        """Bytes of the images of a batch."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    @property
    def num_bytes(self) -> int:
        """Bytes of a batch."""
        return self.num_image_bytes + self.num_label_bytes

    @property
    def torch_dtype(self) -> torch.dtype:
        """Type of the images, as torch calls it."""
        dtype: torch.dtype = getattr(torch, self.dtype)
        return dtype

    def value(self, index: int) -> int:
        """Return the number that every pixel of a batch has."""
        return (index % self.num_distinct * 7 + 1) % 251


PAYLOADS = {
    payload.name: payload
    for payload in (
        Payload(name="tiny", shape=(8, 1), dtype="float32", num_distinct=4),
        Payload(name="a", shape=(64, 1, 28, 28), dtype="float32", num_distinct=32),
        Payload(name="b", shape=(256, 3, 224, 224), dtype="uint8", num_distinct=4),
        Payload(name="c", shape=(256, 3, 224, 224), dtype="float32", num_distinct=3),
    )
}
"""All payloads by name: 96 bytes, 0.2, 38.5 and 154 MB."""


class DecodedBatches(Dataset[Any]):
    """The same as arrays, as decoders return them, for dataloaders.

    torch moves a tensor that a data worker returns to shared memory once and for good: ready
    tensors would be delivered without being touched, which those of a real dataset never are.
    """

    def __init__(self, payload: Payload) -> None:
        self._batches = ReadyBatches(payload)

    def __len__(self) -> int:
        """More than anybody takes."""
        return len(self._batches)

    def __getitem__(self, index: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return batch number ``index``."""
        images, labels = self._batches[index]
        return images.numpy(), labels.numpy()


class ReadyBatches(Dataset[Batch]):
    """A dataset whose samples are batches that lie ready, so that only their way costs time."""

    def __init__(self, payload: Payload) -> None:
        self._num_labels = payload.num_labels
        # numpy, because torch would fill large tensors with threads, and servers are forked.
        self._images = [
            torch.from_numpy(np.full(payload.shape, payload.value(number), payload.dtype))
            for number in range(payload.num_distinct)
        ]

    def __len__(self) -> int:
        """More than anybody takes."""
        return _NUM_BATCHES

    def __getitem__(self, index: int) -> Batch:
        """Return batch number ``index``."""
        labels = np.zeros(self._num_labels, np.int64)
        labels[0] = index
        return self._images[index % len(self._images)], torch.from_numpy(labels)
