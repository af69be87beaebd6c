"""Trainer and reducer prove to each other that they hold the job's secret, before any data.

As in the data service: nonces, then proofs with the role in them, in messages of fixed length.
What follows is neither encrypted nor signed, as with gloo.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import struct

from smtc_lab.errors import HandshakeError
from smtc_lab.parallel.reduce.wire import MOST_RANKS

LIMIT_S = 5.0
"""Seconds in which a handshake must be complete."""

_HELLO = struct.Struct("!8sBII32s")
_MAGIC, _VERSION = b"SMTCredu", 1
_PROOF_BYTES = 32


def knock(address: tuple[str, int], secret: bytes, *, rank: int, ranks: int) -> socket.socket:
    """Return a connection to a reducer that holds the secret.

    Raises:
        HandshakeError: It does not, or is no reducer.
        OSError: It cannot be reached.
    """
    peer = socket.create_connection(address, timeout=LIMIT_S)
    try:
        hello = _HELLO.pack(_MAGIC, _VERSION, rank, ranks, secrets.token_bytes(32))
        peer.sendall(hello)
        nonce = _received(peer, 32)
        peer.sendall(_proof(secret, b"trainer", hello, nonce))
        _check_reducer(_received(peer, _PROOF_BYTES), _proof(secret, b"reducer", hello, nonce))
    except BaseException:
        peer.close()
        raise
    return peer


def admit(peer: socket.socket, secret: bytes) -> tuple[int, int]:
    """Return rank and number of the trainers of who knocks, once it has proved itself.

    Raises:
        HandshakeError: It does not hold the secret, or is no trainer.
        OSError: It is gone, or too slow.
    """
    peer.settimeout(LIMIT_S)
    hello = _received(peer, _HELLO.size)
    magic, version, rank, ranks, _ = _HELLO.unpack(hello)
    if (magic, version) != (_MAGIC, _VERSION):
        raise HandshakeError(
            f"A peer began with {magic!r}, version {version}: it is no trainer of this "
            "version. Install the same version of smtc_lab on all instances."
        )
    nonce = secrets.token_bytes(32)
    peer.sendall(nonce)
    shown = _received(peer, _PROOF_BYTES)
    if not hmac.compare_digest(shown, _proof(secret, b"trainer", hello, nonce)):
        raise HandshakeError(
            "A peer did not prove that it holds this job's secret. Give all instances of one "
            "job the same secret."
        )
    if not rank < ranks <= MOST_RANKS:
        raise HandshakeError(
            f"A trainer says that it is rank {rank} of {ranks}, but a job has at most "
            f"{MOST_RANKS} trainers. Install the same version of smtc_lab on all instances."
        )
    peer.sendall(_proof(secret, b"reducer", hello, nonce))
    return rank, ranks


def _check_reducer(shown: bytes, wanted: bytes) -> None:
    if not hmac.compare_digest(shown, wanted):
        raise HandshakeError(
            "The reducer did not prove that it holds this job's secret. Check that its address "
            "belongs to this job."
        )


def _proof(secret: bytes, role: bytes, hello: bytes, nonce: bytes) -> bytes:
    said = b"smtc_lab reducers, " + role + b": " + hello + nonce
    return hmac.digest(secret, said, "sha256")


def _received(peer: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = peer.recv(size - len(data))
        if not part:
            raise HandshakeError(
                "The peer closed the connection in the handshake: it holds another secret. "
                "Give all instances of one job the same secret."
            )
        data += part
    return data
