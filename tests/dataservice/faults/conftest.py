from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

# Servers are forked while the trainer's threads run. One that needed a module which a thread
# was importing at that moment would wait for ever, and this module is imported at first use.
import smtc_lab.dataservice.protocol.tls  # noqa: F401  see above
from smtc_lab.dataservice.dataloader import DataLoader
from tests.dataservice.faults.proxy import Proxy
from tests.dataservice.faults.trial import (
    BATCH_SIZE,
    LEAST_CREDITS,
    MOST_CREDITS,
    Trial,
    order_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from smtc_lab.dataservice.placement import ServerAddress
    from tests.dataservice.faults.trial import Noisy


@pytest.fixture
def begin(secret: bytes) -> Iterator[Callable[..., Trial]]:
    """Make loaders that are watched; all are closed after the test.

    A data worker gets ``num_credits``; None: as many as the loader likes.
    """
    begun: list[Trial] = []

    def make(
        dataset: Noisy,
        servers: Sequence[ServerAddress] = (),
        *,
        num_local_workers: int = 0,
        num_workers: int = 1,
        num_credits: int | None = LEAST_CREDITS,
        **arguments: Any,
    ) -> Trial:
        trial = Trial(dataset, MOST_CREDITS if num_credits is None else num_credits)
        trial.loader = DataLoader(
            dataset,
            BATCH_SIZE,
            sampler=order_of(dataset),
            num_workers=num_workers,  # torch's own checks want it beside prefetch_factor
            num_local_workers=num_local_workers,
            prefetch_factor=num_credits,
            seed=1,
            servers=servers,
            secret=secret,
            notify=trial.events.append,
            journal=trial.journal.append,
            **arguments,
        )
        begun.append(trial)
        return trial

    yield make
    for trial in begun:
        trial.loader.close()


@pytest.fixture
def proxied() -> Iterator[Callable[..., Proxy]]:
    """Put a proxy before a server; all are closed after the test."""
    proxies: list[Proxy] = []

    def make(target: ServerAddress, **options: Any) -> Proxy:
        proxies.append(Proxy(target, **options))
        return proxies[-1]

    yield make
    for proxy in proxies:
        proxy.close()
