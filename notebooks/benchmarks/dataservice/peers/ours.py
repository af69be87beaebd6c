"""Our data service: over TCP, over TLS, from many servers, and through shared memory."""

from __future__ import annotations

import secrets
import signal
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.dataservice.payloads import DecodedBatches
from notebooks.benchmarks.dataservice.peers.peer import LOOPBACK, Peer, forked_server
from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.dataservice.serving.server import DataServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from notebooks.benchmarks.dataservice.payloads import Batch, Payload

FAN_IN = (1, 2, 4, 8, 16, 64)
"""Numbers of servers that are compared."""


@contextmanager
def _deliver(
    payload: Payload,
    *,
    num_servers: int = 0,
    num_data_workers: int = 1,
    num_local_workers: int = 0,
    tls: bool = False,
) -> Iterator[Iterator[Batch]]:
    dataset, secret = DecodedBatches(payload), secrets.token_bytes(32)
    options = {"secret": secret, "num_data_workers": num_data_workers, "tls": tls}
    with ExitStack() as stack:
        addresses = [
            stack.enter_context(forked_server(partial(serve, options)))
            for _ in range(num_servers)
        ]
        loader: DataLoader[Batch] = DataLoader(
            dataset,
            batch_size=None,
            servers=addresses,
            secret=secret,
            num_local_workers=num_local_workers,
            tls=tls,
        )
        stack.callback(loader.close)
        yield iter(loader)


def serve(options: Mapping[str, Any], announce: Callable[[object], None]) -> None:
    """Serve as ``DataServer`` does with some options; for ``forked_server``."""
    server = DataServer(host=LOOPBACK, **options)
    signal.signal(signal.SIGTERM, lambda *_: server.stop())
    announce(server.address)
    server.serve_forever()


OURS_TCP = Peer(name="ours_tcp", deliver=partial(_deliver, num_servers=1, num_data_workers=2))
"""One server with two data workers, over TCP."""

OURS_TLS = Peer(
    name="ours_tls", deliver=partial(_deliver, num_servers=1, num_data_workers=2, tls=True)
)
"""The same, encrypted."""

OURS_LOCAL = Peer(name="ours_local", deliver=partial(_deliver, num_local_workers=2))
"""Two data workers of the trainer itself, through shared memory."""

OURS_FAN_IN = tuple(
    Peer(name=f"ours_{number}_servers", deliver=partial(_deliver, num_servers=number))
    for number in FAN_IN
)
"""Servers with one data worker each, over TCP."""
