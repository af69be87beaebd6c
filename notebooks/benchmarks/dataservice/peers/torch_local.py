"""torch's own dataloader with two data workers on this machine; no network."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from torch.utils.data import DataLoader

from notebooks.benchmarks.dataservice.payloads import DecodedBatches
from notebooks.benchmarks.dataservice.peers.peer import Peer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notebooks.benchmarks.dataservice.payloads import Batch, Payload


@contextmanager
def _deliver(payload: Payload) -> Iterator[Iterator[Batch]]:
    loader: DataLoader[Batch] = DataLoader(
        DecodedBatches(payload), batch_size=None, num_workers=2
    )
    # Its data workers end when the iterator is collected.
    yield iter(loader)


TORCH = Peer(name="torch", deliver=_deliver)
"""``torch.utils.data.DataLoader(num_workers=2)``."""
