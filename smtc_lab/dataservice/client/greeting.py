"""How a trainer begins to talk with a data worker: it proves itself, and brings its recipe."""

from __future__ import annotations

import ssl
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from smtc_lab.dataservice.client.links import WorkerLink
from smtc_lab.dataservice.protocol.handshake import prove_to_server
from smtc_lab.dataservice.protocol.messages import Hello, read_answer
from smtc_lab.dataservice.protocol.receiver import Receiver, receive_one
from smtc_lab.dataservice.protocol.sockets import close_in_children
from smtc_lab.dataservice.protocol.transport import PlainTransport, TlsTransport, send_all
from smtc_lab.dataservice.protocol.wire import Kind
from smtc_lab.errors import DataServiceError, UnsendableError

if TYPE_CHECKING:
    import socket

    from smtc_lab.dataservice.client.settings import ClientSettings
    from smtc_lab.dataservice.protocol.landing import LandingPool
    from smtc_lab.dataservice.recipe.packing import Recipe

HELLO_TIMEOUT_S = 30.0
"""Longest wait for a data worker's first message: it may be busy in the dataset's own code."""

_TLS_TIMEOUT_S = 5.0


class Greeting:
    """Makes links of connections, for one client."""

    def __init__(self, settings: ClientSettings, landing: LandingPool) -> None:
        self._settings = settings
        self._recipe = cast("Recipe", settings.recipe)
        self._landing = landing

    def prove(self, connection: socket.socket, data_worker: int) -> socket.socket:
        """Prove to a server who we are; return the socket to go on with, encrypted if wanted.

        Raises:
            DataServiceError: It is no server of this job.
            OSError: The connection is gone, or the peer does not answer.
        """
        secret = self._settings.secret or b""
        recipe = self._recipe.digest
        prove_to_server(connection, secret, data_worker=data_worker, recipe=recipe)
        if not self._settings.tls:
            return connection
        # Here, because it is slow to import and few need it.
        from smtc_lab.dataservice.protocol.tls import client_context  # noqa: PLC0415

        connection.settimeout(_TLS_TIMEOUT_S)
        return close_in_children(client_context(secret).wrap_socket(connection))

    def greet(
        self,
        connection: socket.socket,
        data_worker: int,
        last_pid: int,
    ) -> tuple[WorkerLink, Hello]:
        """Return the link over a proven socket, once the data worker has said hello.

        Args:
            connection: The socket.
            data_worker: Number of the data worker.
            last_pid: Who had it, when that was spoken to last; 0: nobody.

        Raises:
            UnsendableError: Nobody there can make the loader's batches.
            DataServiceError: It is no data worker.
            OSError: The connection is gone, or the peer does not answer.
        """
        transport: PlainTransport | TlsTransport = PlainTransport(connection)
        if isinstance(connection, ssl.SSLSocket):
            transport = TlsTransport(connection)
        receiver = Receiver(transport, self._landing)
        send_all(transport, replace(self._settings.asker(), last_pid=last_pid).pack())
        frame = receive_one(receiver, transport, HELLO_TIMEOUT_S)
        while frame is not None and frame.kind is Kind.WANT:
            send_all(transport, self._wanted(with_files=frame.value is True))
            frame = receive_one(receiver, transport, HELLO_TIMEOUT_S)
        if frame is not None and frame.kind is Kind.ERROR:
            raise UnsendableError(str(read_answer(frame, server="a data server").error))
        hello = Hello.read(frame)
        link = WorkerLink(
            connection, transport, receiver, server=hello.host, data_worker=data_worker
        )
        return link, hello

    def _wanted(self, *, with_files: bool) -> list[memoryview]:
        """Return the message that brings the recipe.

        Raises:
            UnsendableError: It cannot be sent any more.
        """
        recipe = self._recipe
        try:
            if with_files and recipe.files:
                from smtc_lab.dataservice.recipe.packing import packed  # noqa: PLC0415  others do without

                recipe = packed(self._settings.source, names_files=False)
            return recipe.message()
        except DataServiceError as error:
            raise UnsendableError(str(error)) from error
