"""Who gets in, how many, and what a data server does about its data workers."""

from __future__ import annotations

import os
import signal
import socket
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader as TorchDataLoader

from smtc_lab.dataservice.protocol.ended import EndedWorker
from smtc_lab.dataservice.protocol.handshake import greet, prove_to_server
from smtc_lab.dataservice.protocol.messages import BatchRequest, Hello, read_answer
from smtc_lab.dataservice.protocol.wire import Kind
from smtc_lab.dataservice.recipe.asking import asker_here
from smtc_lab.dataservice.recipe.packing import packed
from smtc_lab.dataservice.serving import guard
from smtc_lab.dataservice.serving.server import DataServer
from smtc_lab.dataservice.source import BatchPlace, source_of
from smtc_lab.errors import DataServiceError
from tests.kit.runs import PATIENCE_S
from tests.kit.wire import RawPeer

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.dataservice.source import LoaderSource

pytestmark = pytest.mark.usefixtures("unhurried")
DATASET: Any = list(range(40))
SOURCE = source_of(TorchDataLoader(DATASET, batch_size=4))


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


def greeted(
    server: Any,
    secret: bytes,
    data_worker: int,
    source: LoaderSource = SOURCE,
    *,
    last_pid: int = 0,
) -> tuple[Client, Hello]:
    """Return a client that has brought its recipe, and what its data worker said."""
    recipe = packed(source)
    connection = connected(server)
    try:
        prove_to_server(connection, secret, data_worker=data_worker, recipe=recipe.digest)
        client = Client(connection)
        client.send(replace(asker_here(), last_pid=last_pid).pack())
        said = client.receive()
        if said is not None and said.kind is Kind.WANT:
            client.send(recipe.message())
            said = client.receive()
        return client, Hello.read(said)
    except BaseException:
        connection.close()
        raise


def request(*indices: int) -> BatchRequest:
    return BatchRequest(place=BatchPlace(0, 0, 0), indices=[*indices])


def ends(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_a_client_is_connected_to_the_data_worker_that_it_asks_for(
    serve: Callable[..., Any], secret: bytes
) -> None:
    server = serve(num_data_workers=3)

    for number in (2, 0, 1):
        connection, hello = greeted(server, secret, number)
        with connection:
            assert (hello.host, hello.data_worker, hello.num_data_workers) == (
                "algo-2",
                number,
                3,
            )


def test_a_client_that_asks_for_no_such_data_worker_is_sent_away(
    serve: Callable[..., Any], secret: bytes
) -> None:
    connection = connected(serve())

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
    server = serve()

    for _ in range(2):
        with connected(server) as stranger:
            stranger.sendall(said)
            assert ends(stranger)

    assert server.next_event().startswith("refused a peer from 127.0.0.1: ")
    assert not server.events.poll(0)


def test_a_stranger_with_a_wrong_proof_gets_only_the_challenge(
    serve: Callable[..., Any],
) -> None:
    server = serve()

    with connected(server) as stranger:
        stranger.sendall(greet(bytes(32)))
        assert len(stranger.recv(44, socket.MSG_WAITALL)) == 44
        stranger.sendall(bytes(52))
        assert ends(stranger)

    assert "did not prove that it holds this job's secret" in server.next_event()


def test_idle_strangers_do_not_keep_clients_out(
    monkeypatch: pytest.MonkeyPatch, serve: Callable[..., Any], secret: bytes
) -> None:
    monkeypatch.setattr(guard, "MAX_VISITORS", 3)
    server = serve()
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
    server = serve()

    with connected(server) as stranger:
        stranger.sendall(b"SMTC")
        assert ends(stranger)

    assert "did not prove itself within" in server.next_event()


def test_a_client_too_many_is_refused_until_another_one_is_gone(
    serve: Callable[..., Any], secret: bytes, eventually: Callable[..., None]
) -> None:
    server = serve(max_connections=1)
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
    server = serve(num_data_workers=1)
    good, _ = greeted(server, secret, 0)
    bad, _ = greeted(server, secret, 0)

    bad.connection.sendall(b"rubbish" * 100)

    assert ends(bad.connection)
    good.send(request(3, 4).pack(5))
    frame = good.receive()
    assert frame is not None
    assert frame.number == 5
    assert read_answer(frame, server="algo-2").value.tolist() == [3, 4]  # type: ignore[attr-defined]
    good.connection.close()
    bad.connection.close()


def test_a_client_that_reads_nothing_holds_up_nobody(
    serve: Callable[..., Any], secret: bytes
) -> None:
    large: Any = [torch.zeros(2**22)] * 40
    source = source_of(TorchDataLoader(large, batch_size=1))
    server = serve(num_data_workers=1)
    stuck, _ = greeted(server, secret, 0, source)
    others = [greeted(server, secret, 0, one)[0] for one in (source, SOURCE)]
    for number in range(3):
        stuck.send(request(number).pack(number))

    for other in others:
        other.send(request(1).pack(0))

        assert other.receive() is not None
    for number in range(3):
        frame = stuck.receive()
        assert frame is not None
        assert (frame.number, frame.payload_bytes) == (number, 2**24)
    for client in (stuck, *others):
        client.connection.close()


def test_a_connection_brings_no_more_than_the_network_that_it_stands_for(
    serve: Callable[..., Any], secret: bytes
) -> None:
    nbytes, bytes_per_s = 2**20, 4e6
    dataset: Any = [np.zeros(nbytes, dtype=np.uint8)]
    source = source_of(TorchDataLoader(dataset, batch_size=1))
    client, _ = greeted(serve(bytes_per_s=bytes_per_s), secret, 0, source)

    with client:
        begin_s = time.perf_counter()
        client.send(request(0).pack(0))
        frame = client.receive()

    assert frame is not None
    assert frame.payload_bytes >= nbytes
    # the kernel lets a burst of some segments go ahead
    assert time.perf_counter() - begin_s >= 0.7 * nbytes / bytes_per_s


def test_a_data_worker_that_ends_again_and_again_is_started_again_and_again(
    serve: Callable[..., Any], secret: bytes
) -> None:
    server = serve(num_data_workers=1)
    client, hello = greeted(server, secret, 0)
    assert hello.before is None
    for _ in range(3):
        last_pid = hello.pid
        os.kill(last_pid, signal.SIGTERM)

        assert server.next_event() == (
            "data worker 0 on algo-2 ended by signal 15 (SIGTERM); started again when it is "
            "asked"
        )
        with client:
            assert ends(client.connection)
        client, hello = greeted(server, secret, 0, last_pid=last_pid)
        assert hello.before == EndedWorker(pid=last_pid, exit_code=-signal.SIGTERM)
    client.connection.close()


def test_a_data_worker_ends_with_its_client_and_nothing_is_told(
    serve: Callable[..., Any],
    secret: bytes,
    eventually: Callable[..., None],
    is_gone: Callable[[int], bool],
) -> None:
    server = serve(num_data_workers=1)
    client, hello = greeted(server, secret, 0)
    assert server.data_worker_pids() == [hello.pid]

    client.connection.close()

    eventually(lambda: is_gone(hello.pid))
    assert not server.events.poll(0)


def test_a_port_that_is_taken_is_named(secret: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(
            DataServiceError, match=rf"127\.0\.0\.1:{port} \(Address already in use\).*any free"
        ):
            DataServer(host="127.0.0.1", secret=secret, port=port)


def test_a_server_listens_only_where_it_was_told(secret: bytes) -> None:
    server = DataServer(host="127.0.0.5", secret=secret)

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.address.port))

    server.close()
    server.close()


def test_a_server_without_data_workers_is_refused(secret: bytes) -> None:
    with pytest.raises(DataServiceError, match=r"num_data_workers=0, but needs at least 1"):
        DataServer(host="127.0.0.1", secret=secret, num_data_workers=0)


def test_the_length_of_the_secret_is_checked() -> None:
    with pytest.raises(DataServiceError, match="has 3 bytes, but needs 32"):
        DataServer(host="127.0.0.1", secret=b"abc")
