from __future__ import annotations

import secrets
import socket
import threading
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.dataservice.protocol import handshake
from smtc_lab.dataservice.protocol.handshake import (
    NO_RECIPE,
    VERSION,
    ServerHandshake,
    asked_for,
    greet,
    proof,
    prove_to_server,
)
from smtc_lab.errors import HandshakeError

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = bytes(range(32))
RECIPE = bytes(range(16))


def answering(reply: Callable[[socket.socket], None]) -> tuple[socket.socket, threading.Thread]:
    ours, theirs = socket.socketpair()

    def run() -> None:
        with theirs:
            reply(theirs)

    thread = threading.Thread(target=run)
    thread.start()
    return ours, thread


def serve(secret: bytes) -> Callable[[socket.socket], None]:
    def reply(connection: socket.socket) -> None:
        server = ServerHandshake(secret)
        while server.data_worker is None:
            try:
                connection.sendall(server.feed(connection.recv(server.wanted_bytes)))
            except HandshakeError:
                return

    return reply


def client_proof(secret: bytes, server_greeting: bytes, client_nonce: bytes) -> bytes:
    server_nonce = server_greeting[-32:]
    nonces = {"client_nonce": client_nonce, "server_nonce": server_nonce}
    asked = asked_for(3, RECIPE)
    return asked + proof(secret, b"client", **nonces, asked=asked)


def test_two_holders_of_the_secret_accept_each_other() -> None:
    connection, thread = answering(serve(SECRET))

    with connection:
        prove_to_server(connection, SECRET, data_worker=3, recipe=RECIPE)

        assert connection.gettimeout() is None
    thread.join()


def test_the_server_learns_what_is_asked_for() -> None:
    server, nonce = ServerHandshake(SECRET), secrets.token_bytes(32)

    greeting = server.feed(greet(nonce))
    server.feed(client_proof(SECRET, greeting, nonce))

    assert (server.data_worker, server.recipe) == (3, RECIPE)


def test_a_client_with_another_secret_is_refused() -> None:
    connection, thread = answering(serve(SECRET))

    with connection, pytest.raises(HandshakeError, match="holds another secret"):
        prove_to_server(connection, bytes(32))
    thread.join()


def test_a_server_with_another_secret_is_refused() -> None:
    def pretend(connection: socket.socket) -> None:
        connection.recv(44, socket.MSG_WAITALL)
        connection.sendall(greet(bytes(32)))
        connection.recv(52, socket.MSG_WAITALL)
        connection.sendall(bytes(32))

    connection, thread = answering(pretend)

    with connection, pytest.raises(HandshakeError, match="server did not prove"):
        prove_to_server(connection, SECRET)
    thread.join()


def test_a_server_that_reflects_the_proof_is_refused() -> None:
    def reflect(connection: socket.socket) -> None:
        connection.sendall(connection.recv(44, socket.MSG_WAITALL))
        connection.sendall(connection.recv(52, socket.MSG_WAITALL)[20:])

    connection, thread = answering(reflect)

    with connection, pytest.raises(HandshakeError, match="server did not prove"):
        prove_to_server(connection, SECRET)
    thread.join()


@pytest.mark.parametrize(
    "asked", [asked_for(4, RECIPE), asked_for(3, NO_RECIPE)], ids=["data worker", "recipe"]
)
def test_a_proof_for_something_else_is_refused(asked: bytes) -> None:
    server, nonce = ServerHandshake(SECRET), secrets.token_bytes(32)
    greeting = server.feed(greet(nonce))
    shown = client_proof(SECRET, greeting, nonce)

    with pytest.raises(HandshakeError, match="did not prove"):
        server.feed(asked + shown[len(asked) :])

    assert server.data_worker is None


def test_a_proof_of_an_earlier_connection_is_refused() -> None:
    first, second, nonce = ServerHandshake(SECRET), ServerHandshake(SECRET), bytes(32)
    shown = client_proof(SECRET, first.feed(greet(nonce)), nonce)
    second.feed(greet(nonce))

    with pytest.raises(HandshakeError, match="did not prove"):
        second.feed(shown)


def test_another_version_is_named() -> None:
    greeting = bytearray(greet(bytes(32)))
    greeting[11] = 9

    with pytest.raises(
        HandshakeError, match=rf"speaks version 9 .* version {VERSION}.*Install"
    ):
        ServerHandshake(SECRET).feed(bytes(greeting))


def test_a_server_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake, "DEADLINE_S", 0.05)
    ours, theirs = socket.socketpair()

    with ours, theirs, pytest.raises(HandshakeError, match=r"did not answer within 0\.05 s"):
        prove_to_server(ours, SECRET)


@given(data=st.binary(min_size=1, max_size=100))
def test_a_stranger_gets_not_one_byte(data: bytes) -> None:
    server, sent = ServerHandshake(SECRET), b""

    try:
        while data and server.wanted_bytes > 0:
            part, data = data[: server.wanted_bytes], data[server.wanted_bytes :]
            sent += server.feed(part)
    except HandshakeError as error:
        assert "Check the port" in str(error)  # noqa: PT017  both ends are legal

    assert sent == b""
    assert server.data_worker is None
