"""gRPC, each batch as the raw bytes of one message of a stream."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.dataservice.payloads import ReadyBatches
from notebooks.benchmarks.dataservice.peers.peer import LOOPBACK, Peer, forked_server
from notebooks.benchmarks.dataservice.peers.views import batch_view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from notebooks.benchmarks.dataservice.payloads import Batch, Payload

METHOD = "/smtc_lab.Batches/Stream"
"""What a client calls to get batches without end."""

UNLIMITED = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
"""Options of servers and channels: a batch is longer than gRPC lets through by default."""


@contextmanager
def _deliver(payload: Payload) -> Iterator[Iterator[Batch]]:
    with (
        forked_server(partial(_serve, payload)) as port,
        closing(channel_to(port)) as channel,
    ):
        yield (
            batch_view(
                memoryview(message)[payload.num_label_bytes :],
                memoryview(message)[: payload.num_label_bytes],
                payload,
            )
            for message in channel.unary_stream(METHOD)(b"")
        )


def _serve(payload: Payload, announce: Callable[[object], None]) -> None:
    serve_stream(lambda: _messages(payload), None, announce)


def _messages(payload: Payload) -> Iterator[bytes]:
    batches = ReadyBatches(payload)
    for number in itertools.count():
        images, labels = batches[number]
        yield b"".join((labels.numpy().data, images.numpy().data))


def channel_to(port: int) -> Any:  # noqa: ANN401  gRPC has no types
    """Return a channel to a server of this machine."""
    return import_module("grpc").insecure_channel(f"{LOOPBACK}:{port}", options=UNLIMITED)


def serve_stream(
    messages: Callable[[], Iterator[object]],
    serializer: Callable[[Any], bytes] | None,
    announce: Callable[[object], None],
) -> None:
    """Serve a stream of messages to each client that calls ``METHOD``, until SIGTERM.

    Args:
        messages: Makes the stream of one client.
        serializer: Makes bytes of a message; None: it is bytes.
        announce: Gets the port.
    """
    grpc = import_module("grpc")
    handler = grpc.unary_stream_rpc_method_handler(
        lambda _request, _context: messages(), response_serializer=serializer
    )
    service, method = METHOD.strip("/").split("/")
    server = grpc.server(ThreadPoolExecutor(max_workers=1), options=UNLIMITED)
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(service, {method: handler}),)
    )
    port = server.add_insecure_port(f"{LOOPBACK}:0")
    server.start()
    announce(port)
    server.wait_for_termination()


GRPC_BYTES = Peer(name="grpc", deliver=_deliver, modules=("grpc",))
"""gRPC without protobuf."""
