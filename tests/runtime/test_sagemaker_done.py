"""The end of the trainers, told to the data instances."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from typing import TYPE_CHECKING

import pytest

from smtc_lab.dataservice.protocol.handshake import prove_to_server
from smtc_lab.errors import HandshakeError, LauncherError
from smtc_lab.runtime.sagemaker.done import DONE_PORT, DoneListener, tell_done
from tests.kit.runs import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ADDRESS = "127.61.3.1"
SECRET = b"s" * 32


class DataInstance:
    """A data instance that only waits for the end of two trainers."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self.listener = DoneListener(ADDRESS, SECRET, {0, 1}, self._selector)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self.listener.close()

    def _run(self) -> None:
        while not self._over.is_set():
            for key, _ in self._selector.select(0.02):
                key.data()
            self.listener.drop_late()


@pytest.fixture
def data_instance() -> Iterator[DataInstance]:
    instance = DataInstance()
    yield instance
    instance.close()


def test_a_data_instance_is_done_when_every_trainer_is(data_instance: DataInstance) -> None:
    tell_done([ADDRESS], SECRET, rank=0, limit_s=PATIENCE_S)
    assert not data_instance.listener.all_done

    tell_done([ADDRESS], SECRET, rank=0, limit_s=PATIENCE_S)
    assert not data_instance.listener.all_done

    tell_done([ADDRESS], SECRET, rank=1, limit_s=PATIENCE_S)
    wait_until(lambda: data_instance.listener.all_done, what="the last trainer")


def with_another_secret() -> None:
    for rank in (0, 1):
        tell_done([ADDRESS], b"t" * 32, rank=rank, limit_s=0)


def with_a_proof_for_the_data_service() -> None:
    for rank in (0, 1):
        with (
            socket.create_connection((ADDRESS, DONE_PORT)) as connection,
            contextlib.suppress(HandshakeError, OSError),
        ):
            prove_to_server(connection, SECRET, data_worker=rank)


def without_a_proof() -> None:
    with socket.create_connection((ADDRESS, DONE_PORT)) as connection:
        connection.sendall(b"done" * 64)
        with contextlib.suppress(ConnectionError):
            connection.recv(1)


@pytest.mark.parametrize(
    "stranger", [with_another_secret, with_a_proof_for_the_data_service, without_a_proof]
)
def test_nobody_else_ends_the_data_group(
    data_instance: DataInstance, stranger: Callable[[], None]
) -> None:
    stranger()

    assert not data_instance.listener.all_done


def test_a_data_instance_that_is_gone_keeps_no_trainer_waiting() -> None:
    tell_done(["127.61.3.2"], SECRET, rank=0, limit_s=0)


def test_a_port_that_is_taken_is_an_error_that_names_it(data_instance: DataInstance) -> None:
    del data_instance
    with pytest.raises(LauncherError, match=rf"listen on {ADDRESS}:{DONE_PORT}.*in use"):
        DoneListener(ADDRESS, SECRET, {0}, selectors.DefaultSelector())
