"""The limit: bare sockets, received into one reused tensor. With TLS as well."""

from __future__ import annotations

import itertools
import secrets
import socket
import ssl
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING

import torch

from notebooks.benchmarks.dataservice.payloads import ReadyBatches
from notebooks.benchmarks.dataservice.peers.peer import LOOPBACK, Peer, forked_server
from smtc_lab.dataservice.protocol.tls import client_context, server_context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from notebooks.benchmarks.dataservice.payloads import Batch, Payload


@contextmanager
def _plain(payload: Payload) -> Iterator[Iterator[Batch]]:
    with (
        forked_server(partial(_serve, payload, None)) as port,
        closing(socket.create_connection((LOOPBACK, port))) as connection,
    ):
        yield _received(connection, payload)


@contextmanager
def _over_tls(payload: Payload) -> Iterator[Iterator[Batch]]:
    secret = secrets.token_bytes(32)
    with (
        forked_server(partial(_serve, payload, server_context(secret))) as port,
        closing(socket.create_connection((LOOPBACK, port))) as connection,
        closing(client_context(secret).wrap_socket(connection)) as encrypted,
    ):
        yield _received(encrypted, payload)


def _serve(
    payload: Payload, tls: ssl.SSLContext | None, announce: Callable[[object], None]
) -> None:
    batches = ReadyBatches(payload)
    with socket.create_server((LOOPBACK, 0)) as listener:
        announce(listener.getsockname()[1])
        connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if tls is not None:
        connection = tls.wrap_socket(connection, server_side=True)
    for number in itertools.count():
        images, labels = batches[number]
        _send(connection, labels.numpy().data, images.numpy().data)


def _send(connection: socket.socket, labels: memoryview, images: memoryview) -> None:
    images = images.cast("B")
    if isinstance(connection, ssl.SSLSocket):
        connection.sendall(labels)
        connection.sendall(images)
        return
    sent = connection.sendmsg([labels, images])
    # The labels fit into the socket's buffer.
    connection.sendall(images[sent - labels.nbytes :])


def _received(connection: socket.socket, payload: Payload) -> Iterator[Batch]:
    landing = torch.zeros(payload.num_bytes, dtype=torch.uint8)
    view = landing.numpy().data
    labels = landing[: payload.num_label_bytes].view(torch.int64)
    images = landing[payload.num_label_bytes :].view(payload.torch_dtype).view(payload.shape)
    flags = 0 if isinstance(connection, ssl.SSLSocket) else socket.MSG_WAITALL
    while True:
        received = 0
        while received < payload.num_bytes:
            size = connection.recv_into(view[received:], 0, flags)
            if not size:
                return
            received += size
        yield images, labels


RAW = Peer(name="raw", deliver=_plain)
"""Bare sockets."""

RAW_TLS = Peer(name="raw_tls", deliver=_over_tls)
"""Bare sockets with TLS."""
