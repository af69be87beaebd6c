"""Both ends of a connection prove that they hold the job's secret, before any data.

Client and server exchange nonces; then the client, and after it the server, sends the
HMAC-SHA256 of its role, the version, both nonces, the data worker asked for and the recipe that
it is to work by. Messages have
fixed lengths, so nothing is set aside for a stranger, and one who sends no legal greeting gets
not one byte. The roles in the proofs make a reflected proof worthless. The messages that follow
are neither encrypted nor signed: use it where nobody can alter packets.
"""

from __future__ import annotations

import hmac
import secrets
import struct
import time
from typing import TYPE_CHECKING

from smtc_lab.errors import HandshakeError

if TYPE_CHECKING:
    import socket

MAGIC = b"SMTCdata"
VERSION = 2
"""Version of handshake and messages; both sides must speak the same."""

DEADLINE_S = 2.0
"""Seconds within which a handshake must be complete."""

NO_RECIPE = bytes(16)
"""Of a client that wants no batches."""

_GREETING = struct.Struct("!8sI32s")
_ASKED = struct.Struct("!I16s")
_PROOF_BYTES = 32


def greet(nonce: bytes) -> bytes:
    """Return the first message of either side."""
    return _GREETING.pack(MAGIC, VERSION, nonce)


def asked_for(data_worker: int, recipe: bytes) -> bytes:
    """Return what a client asks for, as it is sent before its proof."""
    return _ASKED.pack(data_worker, recipe)


def proof(
    secret: bytes, role: bytes, *, client_nonce: bytes, server_nonce: bytes, asked: bytes
) -> bytes:
    """Return what only a holder of the secret can say, in this role, on this connection."""
    said = asked + client_nonce + server_nonce + VERSION.to_bytes(4)
    return hmac.digest(secret, b"smtc_lab data service, " + role + b": " + said, "sha256")


class ServerHandshake:
    """The server's half, without a socket: feed it what came, send what it returns."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._nonce = secrets.token_bytes(32)
        self._client_nonce = b""
        self._received = b""
        self.data_worker: int | None = None
        """The data worker asked for; None until the client has proved itself."""
        self.recipe = b""
        """Digest of the recipe that it is to work by."""

    @property
    def wanted_bytes(self) -> int:
        """Bytes to read next; a server must not read beyond the handshake."""
        size = _ASKED.size + _PROOF_BYTES if self._client_nonce else _GREETING.size
        return size - len(self._received)

    def feed(self, data: bytes) -> bytes:
        """Take at most ``wanted_bytes`` bytes; return the bytes to send, often none.

        Raises:
            HandshakeError: The peer speaks another version, or does not hold the secret.
        """
        self._received += data
        if self.wanted_bytes > 0:
            return b""
        message, self._received = self._received, b""
        if not self._client_nonce:
            self._client_nonce = _nonce_of(message)
            return greet(self._nonce)
        asked, shown = message[: _ASKED.size], message[_ASKED.size :]
        self.data_worker, self.recipe = _ASKED.unpack(asked)
        nonces = {"client_nonce": self._client_nonce, "server_nonce": self._nonce}
        expected = proof(self._secret, b"client", **nonces, asked=asked)
        if not hmac.compare_digest(shown, expected):
            self.data_worker = None
            raise HandshakeError(
                "A peer did not prove that it holds this job's secret. Give the trainers and "
                "the data servers of one job the same secret."
            )
        return proof(self._secret, b"server", **nonces, asked=asked)


def prove_to_server(
    connection: socket.socket,
    secret: bytes,
    *,
    data_worker: int = 0,
    recipe: bytes = NO_RECIPE,
) -> None:
    """Do the client's half on a connected socket, and leave it blocking.

    Args:
        connection: A connected socket.
        secret: The job's secret.
        data_worker: Number of the data worker to be connected to.
        recipe: Digest of the recipe that it is to work by.

    Raises:
        HandshakeError: The server does not hold the secret, or does not answer in time.
        OSError: The connection is gone.
    """
    deadline = time.monotonic() + DEADLINE_S
    client_nonce = secrets.token_bytes(32)
    connection.settimeout(DEADLINE_S)
    connection.sendall(greet(client_nonce))
    server_nonce = _nonce_of(_receive(connection, _GREETING.size, deadline))
    nonces = {"client_nonce": client_nonce, "server_nonce": server_nonce}
    asked = asked_for(data_worker, recipe)
    mine = proof(secret, b"client", **nonces, asked=asked)
    connection.sendall(asked + mine)
    theirs = _receive(connection, _PROOF_BYTES, deadline)
    if not hmac.compare_digest(theirs, proof(secret, b"server", **nonces, asked=asked)):
        raise HandshakeError(
            "The server did not prove that it holds this job's secret. Check that its address "
            "belongs to this job."
        )
    connection.settimeout(None)


def _nonce_of(greeting: bytes) -> bytes:
    magic, version, nonce = _GREETING.unpack(greeting)
    if magic != MAGIC:
        raise HandshakeError(
            f"A peer began with {magic!r}, not with {MAGIC!r}: it is no part of the data "
            "service. Check the port."
        )
    if version != VERSION:
        raise HandshakeError(
            f"A peer speaks version {version} of the data service, but this is version "
            f"{VERSION}. Install the same version of smtc_lab on all instances."
        )
    return bytes(nonce)


def _receive(connection: socket.socket, size: int, deadline: float) -> bytes:
    received = b""
    while len(received) < size:
        remaining_s = deadline - time.monotonic()
        if remaining_s <= 0:
            raise HandshakeError(
                f"The server did not answer within {DEADLINE_S} s. Check that it runs, and "
                "that it is not overloaded."
            )
        connection.settimeout(remaining_s)
        try:
            part = connection.recv(size - len(received))
        except TimeoutError:
            continue
        if not part:
            raise HandshakeError(
                "The server closed the connection in the handshake: it holds another secret, "
                "or has no such data worker. Give all instances of a job the same secret."
            )
        received += part
    return received
