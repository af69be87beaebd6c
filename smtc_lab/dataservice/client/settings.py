"""What a client is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.dataservice.placement import ServerAddress
    from smtc_lab.dataservice.protocol.messages import Asker
    from smtc_lab.dataservice.recipe.packing import Recipe
    from smtc_lab.dataservice.source import LoaderSource
    from smtc_lab.metrics.records.records import LoaderRecord


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientSettings:
    """What a client is made of."""

    recipe: Recipe | None
    """What servers are sent of the loader; None: there are no servers."""

    asker: Callable[[], Asker]
    """Returns what servers are told of the trainer."""

    tell_kept: Callable[[str], None]
    """Tells why the trainer itself prepares the batches, though there are servers."""

    source: LoaderSource
    """What its batches are made of, for the trainer's own data workers."""

    servers: tuple[ServerAddress, ...]
    """Data servers to ask."""

    secret: bytes | None
    """The job's secret."""

    num_local_workers: int
    """Data workers of the trainer itself."""

    is_auto: bool
    """Whether their number follows what is measured; ``num_local_workers`` is the first one."""

    own_workers: int
    """Data workers of the trainer itself, at least 1, where no server can make the batches."""

    most_local_workers: int
    """What ``get_worker_info`` tells them of their number; it does not change."""

    are_vcpus: bool
    """Whether each of them is held to one vCPU where those are emulated; else they are few that
    stand for all."""

    keeps_local_workers: bool
    """Whether those live on between epochs, or see the dataset anew in each epoch."""

    credits_per_link: int | None
    """Requests that one data worker may hold, at least 1; None: what its speed asks for."""

    tls: bool
    """Whether connections to servers are encrypted."""

    allow_pickle: bool
    """Whether pickles of servers are read."""

    is_pinned: bool
    """Whether received batches lie in pinned memory."""

    journal: Callable[[dict[str, Any]], object] | None
    """Gets what happens to each request; None: nobody wants to know."""

    record: Callable[[LoaderRecord], None] | None
    """Gets what was seen of each server."""

    notify: Callable[[str], None] | None
    """Gets one sentence for each fault that was mended; None: the log gets it."""
