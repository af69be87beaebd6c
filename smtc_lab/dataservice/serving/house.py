"""One process for each recipe: opens it once, and forks the data workers of its clients.

So a large dataset is in memory once on an instance, and a pickle that ends its process takes
nobody else with it.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from smtc_lab.dataservice.protocol.connection import WorkerConnection
from smtc_lab.dataservice.protocol.messages import Asker
from smtc_lab.dataservice.protocol.receiver import Receiver, receive_one
from smtc_lab.dataservice.protocol.sockets import close_in_children
from smtc_lab.dataservice.protocol.transport import PlainTransport, TlsTransport, send_all
from smtc_lab.dataservice.protocol.wire import Kind, pack
from smtc_lab.dataservice.recipe.opening import read_recipe
from smtc_lab.dataservice.serving import worker
from smtc_lab.dataservice.serving.batch_maker import Identity
from smtc_lab.dataservice.serving.trainers_rank import answer_for, stand_in
from smtc_lab.errors import DataServiceError, ProtocolError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable
    from multiprocessing.context import ForkProcess

    from smtc_lab.dataservice.protocol.ended import EndedWorker
    from smtc_lab.dataservice.protocol.transport import Transport
    from smtc_lab.dataservice.recipe.opening import Received
    from smtc_lab.dataservice.source import LoaderSource

GONE, OPENING, OPENED, EVENT = b"-", b"o", b"O", b"e"
"""What a house tells its server: a connection ended, it opens its recipe, it has, and a
sentence for people behind it."""

KEPT_S = 10.0
"""How long a recipe is kept that nobody works by, in seconds."""

SILENCE_S = 30.0
"""Longest silence of a client that has something to send, in seconds."""

_TLS_TIMEOUT_S = 5.0
_MOST_REMEMBERED = 1024
_NUMBER_BYTES = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Household:
    """What all houses of a server have in common."""

    host: str
    """What messages call the instance."""

    num_data_workers: int
    """Data workers that each client may have."""

    tls: ssl.SSLContext | None
    """What connections are encrypted with; None: they are not."""


def run(  # noqa: PLR0913, PLR0917  what a process is given
    parent_pid: int,
    dies_with_thread: bool,  # noqa: FBT001  as ``worker.fork`` gives it
    door: socket.socket,
    household: Household,
    problem: str | None,
    recipe: bytes,
) -> NoReturn:
    """Work until nobody is left. The main function of the process.

    Args:
        parent_pid: Process of the server.
        dies_with_thread: Whether the kernel may end this process with the forking thread.
        door: Brings connections as file descriptors, each with the data worker that is wanted.
        household: What it has in common with others.
        problem: Why its recipe cannot be opened, where that is known; None: it is not.
        recipe: Digest of its recipe.
    """
    try:
        worker.leave_parent(parent_pid, dies_with_thread=dies_with_thread)
        stand_in()
        _House(close_in_children(door), household, problem, recipe).work()
        os._exit(0)
    except BaseException:  # noqa: BLE001  the last chance to say why the process ends
        traceback.print_exc()
    finally:
        os._exit(1)


class _Guest:
    """A client's connection."""

    def __init__(self, peer: socket.socket, tls: ssl.SSLContext | None) -> None:
        """Take it, encrypted where that is wanted.

        Raises:
            OSError: It is gone.
        """
        self.peer = peer
        if tls is None:
            self.transport: Transport = PlainTransport(peer)
        else:
            peer.settimeout(_TLS_TIMEOUT_S)
            self.peer = tls.wrap_socket(peer, server_side=True)
            self.transport = TlsTransport(self.peer)
        self.receiver = Receiver(self.transport)

    def who(self) -> Asker:
        """Return who it is.

        Raises:
            ProtocolError: It does not say so.
            OSError: It is gone, or says nothing.
        """
        return Asker.read(receive_one(self.receiver, self.transport, SILENCE_S))

    def bring(self, *, with_files: bool) -> Received:
        """Return the recipe, asked for.

        Raises:
            ProtocolError: It is damaged.
            DataServiceError: The client cannot send it.
            OSError: It is gone, or says nothing.
        """
        send_all(self.transport, pack(Kind.WANT, 0, with_files))
        message = receive_one(self.receiver, self.transport, SILENCE_S)
        if message is None:
            raise ConnectionError("closed the connection")
        return read_recipe(message)

    def refuse(self, why: str) -> None:
        """Tell it why there are no batches."""
        send_all(self.transport, pack(Kind.ERROR, 0, {"is_sample": False, "message": why}))


class _House:
    def __init__(
        self, door: socket.socket, household: Household, problem: str | None, recipe: bytes
    ) -> None:
        self._recipe = recipe
        self._door = door
        self._household = household
        self._problem = problem
        self._source: LoaderSource | None = None
        self._workers: dict[int, tuple[int, ForkProcess]] = {}
        self._ended: dict[int, EndedWorker] = {}

    def work(self) -> None:
        """Work until nobody is left, or the server is gone."""
        poll = select.poll()
        poll.register(self._door, select.POLLIN)
        while True:
            for sentinel in self._workers:
                poll.register(sentinel, select.POLLIN)
            found = poll.poll(None if self._workers else KEPT_S * 1000)
            if not found:
                return
            heard = {descriptor for descriptor, _ in found}
            for sentinel in heard & self._workers.keys():
                poll.unregister(sentinel)
                self._note_end(*self._workers.pop(sentinel))
            if self._door.fileno() in heard and not self._admit():
                self._end_workers()
                return

    def _tell(self, what: bytes) -> None:
        """Tell the server something, unless it is gone, which its door then says."""
        with contextlib.suppress(OSError):
            self._door.send(what)

    def _end_workers(self) -> None:
        """End all data workers and wait until they are gone."""
        for _, process in self._workers.values():
            process.kill()
        for _, process in self._workers.values():
            worker.ended(process)

    def _admit(self) -> bool:
        """Take a connection; return whether the server is still there."""
        try:
            said, descriptors, _, _ = socket.recv_fds(self._door, _NUMBER_BYTES, 1)
        except OSError:
            return False
        if not said:
            return False
        if not descriptors:  # this process has no descriptor left for it
            self._tell(GONE)
            return True
        with socket.socket(fileno=descriptors[0]) as peer:
            peer.setblocking(True)
            if not self._welcome(int.from_bytes(said), peer):
                self._tell(GONE)
        return True

    def _welcome(self, number: int, peer: socket.socket) -> bool:
        """Give a client its data worker; return whether it has one."""
        source, household = self._source, self._household
        if source is not None:
            self._fork(number, source, lambda: _met(_Guest(peer, household.tls)))
            return True
        try:
            guest = _Guest(peer, household.tls)
            asker = guest.who()
            source = None if self._problem else self._open(guest, asker)
            if source is None:
                guest.refuse(self._problem or "")
                return False
        except (OSError, ProtocolError):
            return False
        self._fork(number, source, lambda: (guest, asker))
        guest.peer.close()  # this process's copy, else the client would not see the other's end
        return True

    def _open(self, guest: _Guest, asker: Asker) -> LoaderSource | None:
        """Open the recipe that a client brings; None: it cannot be opened.

        Raises:
            ProtocolError: It came damaged.
            OSError: The client is gone.
        """
        received = guest.bring(with_files=False)
        if received.digest != self._recipe:
            raise ProtocolError("Another recipe came than the one that was announced.")
        if received.lacks_files():
            received = guest.bring(with_files=True)
        answer_for(asker)
        self._tell(OPENING)
        try:
            self._source = received.open()
        except DataServiceError as error:
            self._problem = str(error)
        self._tell(OPENED)
        return self._source

    def _fork(
        self, number: int, source: LoaderSource, meet: Callable[[], tuple[_Guest, Asker]]
    ) -> None:
        household, known = self._household, self._ended

        def arrive(release: object) -> tuple[WorkerConnection, Identity]:
            del release
            try:
                guest, asker = meet()
            except (OSError, ProtocolError):
                os._exit(0)
            answer_for(asker)
            identity = Identity(
                host=household.host,
                number=number,
                num_data_workers=household.num_data_workers,
                before=known.get(asker.last_pid),
                is_in_turn=source.num_workers == 0,
            )
            connection = WorkerConnection(
                guest.peer, transport=guest.transport, receiver=guest.receiver
            )
            return connection, identity

        process = worker.fork(worker.run, arrive, source, name=f"data worker {number}")
        self._workers[process.sentinel] = number, process

    def _note_end(self, number: int, process: ForkProcess) -> None:
        ended = worker.ended(process)
        if len(self._ended) >= _MOST_REMEMBERED:
            del self._ended[next(iter(self._ended))]
        self._ended[ended.pid] = ended
        self._tell(GONE)
        if ended.exit_code != 0:
            told = f"data worker {number} on {self._household.host} {ended.told()}"
            self._tell(EVENT + f"{told}; started again when it is asked".encode())


def _met(guest: _Guest) -> tuple[_Guest, Asker]:
    return guest, guest.who()
