"""What a client is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.dataservice.placement import ServerAddress
    from smtc_lab.dataservice.source import LoaderSource
    from smtc_lab.metrics.records import LoaderRecord


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientSettings:
    """What a client is made of."""

    loader: str
    """Name of the loader in the script."""

    source: LoaderSource
    """What its batches are made of, for the trainer's own data workers."""

    servers: tuple[ServerAddress, ...]
    """Data servers to ask."""

    secret: bytes | None
    """The job's secret."""

    num_local_workers: int
    """Data workers of the trainer itself."""

    keeps_local_workers: bool
    """Whether those live on between epochs, or see the dataset anew in each epoch."""

    credits_per_link: int
    """Requests that one data worker may hold, at least 1."""

    record: Callable[[LoaderRecord], None] | None
    """Gets what was seen of each server."""

    notify: Callable[[str], None] | None
    """Gets one sentence for each fault that was mended; None: the log gets it."""
