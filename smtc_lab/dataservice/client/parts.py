"""What a client is made of, and how that ends: no part of it knows the client."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    from smtc_lab.dataservice.client.epoch import Epoch
    from smtc_lab.dataservice.client.journal import Journal
    from smtc_lab.dataservice.client.ledger import Ledger
    from smtc_lab.dataservice.client.local import LocalWorkers
    from smtc_lab.dataservice.client.reception import Reception
    from smtc_lab.dataservice.client.remote import RemoteServers
    from smtc_lab.dataservice.client.statistics import LoaderStatistics


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that must end with a client. None of it, and no thread, knows the client."""

    ledger: Ledger
    reception: Reception
    journal: Journal
    local: LocalWorkers
    remote: RemoteServers
    statistics: LoaderStatistics
    epochs: list[Epoch]
    owner_pid: int
    keeps_local_workers: bool


def hand_over_records(parts: Parts) -> None:
    """Record what was seen of each server."""
    parts.statistics.add_sent_again(parts.ledger.take_sent_again())
    parts.statistics.hand_over(parts.ledger.crew.share)


def abandon(parts: Parts, epoch: Epoch) -> None:
    """End an epoch; also called by a finalizer, in any thread."""
    parts.journal.ended(epoch)
    epoch.cancel()
    if (
        parts.owner_pid == os.getpid()
        and not parts.keeps_local_workers
        and all(other.is_cancelled for other in parts.epochs)
    ):
        parts.local.stop(wait=False)


def close(parts: Parts) -> None:
    """End everything of a client; also called by a finalizer, in any thread, and at exit."""
    if parts.owner_pid != os.getpid():
        return  # a forked process shares the sockets, but must not end them
    parts.ledger.fail(
        DataServiceError(
            "The dataloader was closed while it was iterated over. Iterate over it again."
        )
    )
    for epoch in parts.epochs:
        epoch.cancel()
    parts.remote.close()
    parts.local.stop()
    parts.reception.close()
    hand_over_records(parts)
