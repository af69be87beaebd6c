"""Peers without the secret, and peers that keep a server waiting: S2 and S19."""

from __future__ import annotations

import contextlib
import resource
import socket
from typing import TYPE_CHECKING

import pytest

from smtc_lab.dataservice.protocol.handshake import greet
from tests.dataservice.faults.trial import Noisy
from tests.kit.runs import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.dataservice.conftest import RunningServer
    from tests.dataservice.faults.trial import Trial

NUM_SAMPLES = 240
NUM_IDLE = 1000
TLS_HELLO = bytes.fromhex("16030100f8010000f40303") + bytes(240)
RUBBISH = {
    "http": b"GET / HTTP/1.1\r\nHost: algo-2\r\n\r\n" + bytes(64),
    "tls": TLS_HELLO,
    "zeros": bytes(128),
    "pickle": b"\x80\x04\x95" + bytes(128),
    "wrong proof": greet(bytes(32)) + bytes(52),
    "another version": b"SMTCdata" + bytes(128),
    "too little": b"SMTC",
    "nothing": b"",
}
GREETING_BYTES = 44
"""A peer that begins like a client gets the server's nonce, so that it can prove itself."""


def connected(server: RunningServer) -> socket.socket:
    return socket.create_connection(
        (server.address.host, server.address.port), timeout=PATIENCE_S
    )


def heard(peer: socket.socket) -> bytes:
    """Return all that a server says until it hangs up."""
    said = b""
    with contextlib.suppress(ConnectionResetError):
        while part := peer.recv(4096):
            said += part
    return said


def test_strangers_get_nothing_and_disturb_nobody(
    serve: Callable[..., RunningServer], begin: Callable[..., Trial]
) -> None:
    dataset = Noisy(NUM_SAMPLES, work_s=0.001)
    server = serve()
    trial = begin(dataset, [server.address])
    strangers: dict[str, socket.socket] = {}

    for step in trial:
        if step == 8:
            strangers = {name: connected(server) for name in RUBBISH}
            for name, stranger in strangers.items():
                stranger.sendall(RUBBISH[name])
    got = {name: heard(stranger) for name, stranger in strangers.items()}

    assert len(got.pop("wrong proof")) <= GREETING_BYTES
    assert set(got.values()) == {b""}
    trial.judge()
    assert trial.events == []
    assert trial.num_lost() == 0
    assert server.next_event().startswith("refused a peer from 127.0.0.1: ")
    assert not server.events.poll(0)
    for stranger in strangers.values():
        stranger.close()


@pytest.fixture
def many_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 3 * NUM_IDLE
    if hard != resource.RLIM_INFINITY and hard < needed:
        pytest.skip(f"{needed} open files are needed, but RLIMIT_NOFILE is {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
def test_1000_idle_connections_keep_nobody_out(
    serve: Callable[..., RunningServer], begin: Callable[..., Trial]
) -> None:
    dataset = Noisy(NUM_SAMPLES, work_s=0.001)
    server = serve()
    trial = begin(dataset, [server.address])

    with contextlib.ExitStack() as idle:
        for step in trial:
            if step == 8:
                for _ in range(NUM_IDLE):
                    idle.enter_context(connected(server))
        newcomer = begin(dataset, [server.address])
        for _ in newcomer:
            pass

    for one in (trial, newcomer):
        one.judge()
        assert one.events == []
        assert one.num_lost() == 0
    assert server.next_event().startswith("refused a peer from 127.0.0.1: ")
    assert not server.events.poll(0)


def test_strangers_who_send_a_byte_at_a_time_keep_nobody_out(
    serve: Callable[..., RunningServer], begin: Callable[..., Trial]
) -> None:
    dataset = Noisy(NUM_SAMPLES, work_s=0.001)
    server = serve()
    trial = begin(dataset, [server.address])
    greeting = greet(bytes(32))

    with contextlib.ExitStack() as slow:
        peers = [slow.enter_context(connected(server)) for _ in range(40)]
        for step in trial:
            for peer in peers:
                with contextlib.suppress(ConnectionError):
                    peer.send(greeting[step : step + 1])
        newcomer = begin(dataset, [server.address])
        for _ in newcomer:
            pass
        said = [heard(peer) for peer in peers]

    assert max(map(len, said)) <= GREETING_BYTES
    for one in (trial, newcomer):
        one.judge()
        assert one.events == []
        assert one.num_lost() == 0
    assert "did not prove itself within" in server.next_event()
    assert not server.events.poll(0)
