from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from smtc_lab.machine.socket_traffic import SocketTraffic, one_listens

if TYPE_CHECKING:
    from collections.abc import Iterator

_ECHO = """
import socket, sys
peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
peer.sendall(b"x" * 30_000)
while peer.recv(1):
    pass
"""


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def test_a_process_listens_as_long_as_it_has_a_listener(listener: socket.socket) -> None:
    assert one_listens([os.getpid()])

    listener.close()

    assert not one_listens([os.getpid()])


def test_bytes_count_for_the_process_that_has_the_socket(listener: socket.socket) -> None:
    port = str(listener.getsockname()[1])
    with subprocess.Popen([sys.executable, "-c", _ECHO, port]) as child:
        peer, _ = listener.accept()
        with peer:
            received = 0
            while received < 30_000:
                received += len(peer.recv(2**16))
            ours, theirs = SocketTraffic(), SocketTraffic()

            told = ours.look([os.getpid()]), theirs.look([child.pid])

    if None in told:
        pytest.skip("this kernel does not tell of sockets")
    assert told[0] == (30_000, pytest.approx(0, abs=1))  # the SYN is acknowledged as a byte
    assert told[1] == (0, pytest.approx(30_000, abs=1))


def test_what_a_tree_sends_itself_is_no_traffic(listener: socket.socket) -> None:
    with socket.create_connection(listener.getsockname()) as one:
        other, _ = listener.accept()
        with other:
            one.sendall(b"x" * 1000)
            other.recv(1000)

            assert SocketTraffic().look([os.getpid()]) in {(0, 0), None}


def test_nobody_has_no_traffic_and_a_process_that_is_gone_has_none() -> None:
    assert SocketTraffic().look([]) == (0, 0)
    assert SocketTraffic().look([2**22 + 1]) == (0, 0)


def test_what_a_socket_has_carried_stays_counted_when_it_is_closed(
    listener: socket.socket,
) -> None:
    traffic = SocketTraffic()
    port = str(listener.getsockname()[1])
    with subprocess.Popen([sys.executable, "-c", _ECHO, port]):
        peer, _ = listener.accept()
        with peer:
            received = 0
            while received < 30_000:
                received += len(peer.recv(2**16))
            told = traffic.look([os.getpid()])

    assert traffic.look([os.getpid()]) == told
