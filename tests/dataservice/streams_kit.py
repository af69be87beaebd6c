"""What the tests of streams are built from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from smtc_lab.dataservice.seeding import preserved_random_state
from smtc_lab.dataservice.source import StreamPlace, StreamSource, source_of

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED = 7


@pytest.fixture(autouse=True)
def random_state_is_given_back() -> Iterator[None]:
    """Hold for every test of a module that imports it."""
    with preserved_random_state():
        yield


def stream_number() -> int:
    """Return the stream that this code iterates."""
    info = get_worker_info()
    return info.id if info else 0


class Uneven(IterableDataset[Any]):
    """Streams of given lengths."""

    def __init__(self, *lengths: int) -> None:
        self.lengths = lengths

    def __iter__(self) -> Iterator[Any]:
        number = stream_number()
        return ((number, sample) for sample in range(self.lengths[number]))


def place(
    position: int, *, stream: int = 0, num_streams: int = 1, epoch: int = 0
) -> StreamPlace:
    """Return where a batch lies, by default in the only stream of the first epoch."""
    return StreamPlace(SEED, epoch, stream, num_streams, position)


def source(dataset: Any, **arguments: Any) -> StreamSource:
    """Return what a data worker makes batches from."""
    served = source_of(DataLoader(dataset, **arguments))
    assert isinstance(served, StreamSource)
    return served


def plain(batch: Any) -> Any:
    """Return a batch as values that can be compared."""
    if isinstance(batch, torch.Tensor):
        return batch.tolist()
    return [plain(each) for each in batch] if isinstance(batch, list | tuple) else batch
