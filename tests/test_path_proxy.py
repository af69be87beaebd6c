"""The proxy that browser tests put in front of Jupyter, in front of one that echoes."""

from __future__ import annotations

import contextlib
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlparse

import pytest

from tests.kit.browser.jupyter import Server
from tests.kit.browser.proxied import running_proxy
from tests.kit.runs import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

STREAM = "/user/ann/stream?x=1"
UPGRADE = "Upgrade: websocket\r\nConnection: Upgrade"


def server_of(listening: socket.socket) -> Server:
    port = listening.getsockname()[1]
    return Server(
        url=f"http://127.0.0.1:{port}/user/ann/", token="", root=Path(), runs_root=Path()
    )


@pytest.fixture
def echo() -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, args=(listening,), daemon=True).start()
        yield server_of(listening)
        listening.shutdown(socket.SHUT_RDWR)


def serve(listening: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listening.accept()
            threading.Thread(target=send_back, args=(connection,), daemon=True).start()


def send_back(connection: socket.socket) -> None:
    with connection, contextlib.suppress(OSError):
        while data := connection.recv(1 << 16):
            connection.sendall(data)


def asked(server: Server, path: str, headers: str = "Connection: keep-alive") -> socket.socket:
    connection = socket.create_connection(
        ("127.0.0.1", urlparse(server.url).port or 0), timeout=PATIENCE_S
    )
    connection.sendall(f"GET {path} HTTP/1.1\r\n{headers}\r\n\r\n".encode())
    return connection


def told(connection: socket.socket, end: bytes) -> bytes:
    """Return what comes until it ends so, or until nothing more comes."""
    data = b""
    while not data.endswith(end) and (piece := connection.recv(1 << 16)):
        data += piece
    return data


def test_a_web_socket_is_passed_on_both_ways_and_counted(echo: Server) -> None:
    payload = bytes(range(256)) * 4000 + b"\r\n\r\n"

    with running_proxy(echo, latency_s=0.01) as proxy:
        with asked(proxy.seen(echo), STREAM, UPGRADE) as connection:
            head = told(connection, b"\r\n\r\n")
            connection.sendall(payload)

            assert told(connection, b"\r\n\r\n") == payload
            assert UPGRADE.encode() in head
            wait_until(lambda: proxy.still_open("/stream") == [1], what="the news of it")

        wait_until(lambda: proxy.still_open("/stream") == [], what="the end of the socket")
        assert proxy.opened("/stream") == [1]
        assert proxy.opened("/other") == []


def test_a_request_has_a_connection_of_its_own_and_says_where_it_is_from(echo: Server) -> None:
    with running_proxy(echo) as proxy, asked(proxy.seen(echo), "/user/ann/lab") as connection:
        head = told(connection, b"\r\n\r\n")

    assert b"Connection: close" in head
    assert b"keep-alive" not in head
    assert b"X-Forwarded-For: 127.0.0.1" in head


def test_what_lies_outside_of_the_path_is_answered_by_the_proxy(echo: Server) -> None:
    with running_proxy(echo) as proxy:
        with asked(proxy.seen(echo), "/lab") as connection:
            assert told(connection, b"-").startswith(b"HTTP/1.1 404")

        wait_until(lambda: proxy.strays == ["/lab"], what="the news of it")


def test_a_server_that_is_gone_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        gone = server_of(listening)

    with running_proxy(gone) as proxy, asked(proxy.seen(gone), "/user/ann/") as connection:
        assert told(connection, b"-").startswith(b"HTTP/1.1 503")


def test_a_cut_ends_what_is_open_and_keeps_others_out_until_it_is_mended(echo: Server) -> None:
    with running_proxy(echo) as proxy:
        seen = proxy.seen(echo)
        with asked(seen, STREAM, UPGRADE) as connection:
            told(connection, b"\r\n\r\n")
            proxy.cut()
            with contextlib.suppress(ConnectionResetError):
                assert told(connection, b"-") == b""
        with contextlib.suppress(ConnectionResetError), asked(seen, STREAM) as connection:
            assert told(connection, b"-") == b""
        proxy.mend()
        with asked(seen, STREAM) as connection:
            assert told(connection, b"\r\n\r\n")


def test_a_server_that_says_nothing_for_too_long_is_left(echo: Server) -> None:
    with running_proxy(echo, idle_s=0.1) as proxy, asked(proxy.seen(echo), STREAM) as silent:
        assert told(silent, b"\r\n\r\n")
        assert told(silent, b"-") == b""
