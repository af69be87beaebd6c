"""Who gets in, how many, and what a data server does about its data workers."""

from __future__ import annotations

import os
import signal
import socket
import time
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pytest
from torch.utils.data import DataLoader as TorchDataLoader

from smtc_lab.dataservice.protocol.handshake import greet, prove_to_server
from smtc_lab.dataservice.protocol.messages import BatchRequest, Hello, read_answer
from smtc_lab.dataservice.serving import guard
from smtc_lab.dataservice.serving.server import DataServer
from smtc_lab.dataservice.source import BatchPlace, source_of
from smtc_lab.errors import DataServiceError
from tests.kit.runs import PATIENCE_S
from tests.kit.wire import RawPeer

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("unhurried")
DATASET: Any = list(range(40))
SOURCES = {"0": source_of(TorchDataLoader(DATASET, batch_size=4))}


def connected(server: Any) -> socket.socket:
    connection = socket.create_connection((server.address.host, server.address.port))
    connection.settimeout(PATIENCE_S)
    return connection


class Client(RawPeer):
    """A client by hand that has proved itself."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(connection)
        self.connection = connection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()


def greeted(server: Any, secret: bytes, data_worker: int) -> tuple[Client, Hello]:
    connection = connected(server)
    try:
        prove_to_server(connection, secret, data_worker=data_worker)
        client = Client(connection)
        return client, Hello.read(client.receive())
    except BaseException:
        connection.close()
        raise


def ends(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_a_client_is_connected_to_the_data_worker_that_it_asks_for(
    serve: Callable[..., Any], secret: bytes
) -> None:
    server = serve(SOURCES, num_data_workers=3)

    for number in (2, 0, 1):
        connection, hello = greeted(server, secret, number)
        with connection:
            assert (hello.host, hello.data_worker, hello.num_data_workers) == (
                "algo-2",
                number,
                3,
            )
            assert hello.loaders == {"0": 40}


def test_a_client_that_asks_for_no_such_data_worker_is_sent_away(
    serve: Callable[..., Any], secret: bytes
) -> None:
    connection = connected(serve(SOURCES))

    with connection:
        prove_to_server(connection, secret, data_worker=9)
        assert ends(connection)


@pytest.mark.parametrize(
    "said",
    [
        b"GET / HTTP/1.1\r\nHost: algo-2\r\n\r\nxxxxxxxxxxxxxx",
        bytes(44),
        b"SMTCdata" + bytes(36),
    ],
    ids=["http", "zeros", "another version"],
)
def test_a_stranger_gets_not_one_byte_and_is_named_once(
    serve: Callable[..., Any], said: bytes
) -> None:
    server = serve(SOURCES)

    for _ in range(2):
        with connected(server) as stranger:
            stranger.sendall(said)
            assert ends(stranger)

    assert server.next_event().startswith("refused a peer from 127.0.0.1: ")
    assert not server.events.poll(0)


def test_a_stranger_with_a_wrong_proof_gets_only_the_challenge(
    serve: Callable[..., Any],
) -> None:
    server = serve(SOURCES)

    with connected(server) as stranger:
        stranger.sendall(greet(bytes(32)))
        assert len(stranger.recv(44, socket.MSG_WAITALL)) == 44
        stranger.sendall(bytes(36))
        assert ends(stranger)

    assert "did not prove that it holds this job's secret" in server.next_event()


def test_idle_strangers_do_not_keep_clients_out(
    monkeypatch: pytest.MonkeyPatch, serve: Callable[..., Any], secret: bytes
) -> None:
    monkeypatch.setattr(guard, "MAX_VISITORS", 3)
    server = serve(SOURCES)
    idle = [connected(server) for _ in range(5)]

    client, _ = greeted(server, secret, 0)

    client.connection.close()
    assert ends(idle[0])
    for stranger in idle:
        stranger.close()


def test_a_stranger_who_is_too_slow_is_sent_away(
    monkeypatch: pytest.MonkeyPatch, serve: Callable[..., Any]
) -> None:
    monkeypatch.setattr(guard, "DEADLINE_S", 0.1)
    server = serve(SOURCES)

    with connected(server) as stranger:
        stranger.sendall(b"SMTC")
        assert ends(stranger)

    assert "did not prove itself within" in server.next_event()


def test_a_client_too_many_is_refused_until_another_one_is_gone(
    serve: Callable[..., Any], secret: bytes, eventually: Callable[..., None]
) -> None:
    server = serve(SOURCES, max_connections=1)
    first, _ = greeted(server, secret, 0)

    with connected(server) as second:
        prove_to_server(second, secret, data_worker=1)
        assert ends(second)
    assert "there are 1 connections already" in server.next_event()

    first.connection.close()

    def gets_in() -> bool:
        try:
            client, _ = greeted(server, secret, 0)
        except (OSError, DataServiceError):
            return False
        client.connection.close()
        return True

    eventually(gets_in)


def test_a_client_that_sends_rubbish_loses_its_connection_and_nobody_else_does(
    serve: Callable[..., Any], secret: bytes
) -> None:
    server = serve(SOURCES, num_data_workers=1)
    good, _ = greeted(server, secret, 0)
    bad, _ = greeted(server, secret, 0)

    bad.connection.sendall(b"rubbish" * 100)

    assert ends(bad.connection)
    request = BatchRequest(loader="0", place=BatchPlace(0, 0, 0), indices=[3, 4])
    good.send(request.pack(5))
    frame = good.receive()
    assert frame is not None
    assert frame.number == 5
    assert read_answer(frame, server="algo-2").value.tolist() == [3, 4]  # type: ignore[attr-defined]
    good.connection.close()
    bad.connection.close()


def test_a_client_that_reads_nothing_holds_up_nobody(
    serve: Callable[..., Any], secret: bytes
) -> None:
    import torch

    large: Any = [torch.zeros(2**22)] * 40
    server = serve(
        {"0": source_of(TorchDataLoader(large, batch_size=None)), "1": SOURCES["0"]},
        num_data_workers=1,
    )
    stuck, _ = greeted(server, secret, 0)
    other, _ = greeted(server, secret, 0)
    for number in range(3):
        request = BatchRequest(loader="0", place=BatchPlace(0, 0, 0), indices=number)
        stuck.send(request.pack(number))

    other.send(BatchRequest(loader="1", place=BatchPlace(0, 0, 0), indices=[1]).pack(0))

    assert other.receive() is not None
    for number in range(3):
        frame = stuck.receive()
        assert frame is not None
        assert (frame.number, frame.payload_bytes) == (number, 2**24)
    stuck.connection.close()
    other.connection.close()


def test_a_connection_brings_no_more_than_the_network_that_it_stands_for(
    serve: Callable[..., Any], secret: bytes
) -> None:
    nbytes, bytes_per_s = 2**20, 4e6
    dataset: Any = [np.zeros(nbytes, dtype=np.uint8)]
    sources = {"0": source_of(TorchDataLoader(dataset, batch_size=1))}
    client, _ = greeted(serve(sources, bytes_per_s=bytes_per_s), secret, 0)

    with client:
        begin_s = time.perf_counter()
        client.send(BatchRequest(loader="0", place=BatchPlace(0, 0, 0), indices=[0]).pack(0))
        frame = client.receive()

    assert frame is not None
    assert frame.payload_bytes >= nbytes
    # the kernel lets a burst of some segments go ahead
    assert time.perf_counter() - begin_s >= 0.7 * nbytes / bytes_per_s


def test_an_unknown_loader_is_an_answer_that_names_the_known_ones(
    serve: Callable[..., Any], secret: bytes
) -> None:
    connection, _ = greeted(serve(SOURCES), secret, 0)

    with connection:
        request = BatchRequest(loader="7", place=BatchPlace(0, 0, 0), indices=[1])
        connection.send(request.pack(1))
        frame = connection.receive()

    assert frame is not None
    error = read_answer(frame, server="algo-2").error
    assert "no loader '7' here, only '0'" in str(error)


def test_a_data_worker_that_ends_again_and_again_is_started_again_and_again(
    serve: Callable[..., Any], eventually: Callable[..., None]
) -> None:
    server = serve(SOURCES, num_data_workers=1)
    ended: set[int] = set()
    for _ in range(3):
        eventually(lambda: set(server.data_worker_pids()) - ended)
        (pid,) = set(server.data_worker_pids()) - ended
        os.kill(pid, signal.SIGTERM)
        ended.add(pid)
        assert server.next_event() == (
            "data worker 0 on algo-2 ended by signal 15 (SIGTERM); started again"
        )
        eventually(lambda: ended.isdisjoint(server.data_worker_pids()))


def test_a_port_that_is_taken_is_named(secret: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(
            DataServiceError, match=rf"127\.0\.0\.1:{port} \(Address already in use\).*any free"
        ):
            DataServer(SOURCES, host="127.0.0.1", secret=secret, port=port)


def test_a_server_listens_only_where_it_was_told(secret: bytes) -> None:
    server = DataServer(SOURCES, host="127.0.0.5", secret=secret)

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.address.port))

    server.close()
    server.close()


def test_a_server_without_data_workers_is_refused(secret: bytes) -> None:
    with pytest.raises(DataServiceError, match=r"num_data_workers=0, but needs at least 1"):
        DataServer(SOURCES, host="127.0.0.1", secret=secret, num_data_workers=0)


def test_the_length_of_the_secret_is_checked() -> None:
    with pytest.raises(DataServiceError, match="has 3 bytes, but needs 32"):
        DataServer(SOURCES, host="127.0.0.1", secret=b"abc")
