"""The trainer's ends of connections to data workers, a thread for each."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.dataservice import wire
from smtc_lab.dataservice.handshake import prove_to_server
from smtc_lab.dataservice.messages import Hello, read_answer
from smtc_lab.dataservice.sockets import (
    close_in_children,
    connect_tcp,
    hang_up,
    set_receive_timeout,
)
from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from smtc_lab.dataservice.epoch import Request
    from smtc_lab.dataservice.ledger import Ledger
    from smtc_lab.dataservice.placement import ServerAddress
    from smtc_lab.dataservice.sockets import StopFlag

HELLO_TIMEOUT_S = 30.0
"""Longest wait for a data worker's first message: it may be busy in the dataset's own code."""

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 2.0


class WorkerLink:
    """One live connection to one data worker."""

    def __init__(self, connection: socket.socket, ledger: Ledger, *, server: str) -> None:
        self._connection = connection
        self._ledger = ledger
        self._sending = threading.Lock()
        self.server = server
        """Host of the data server, or ``local``."""
        self.outstanding: dict[int, Request] = {}
        """Requests sent and not answered, oldest first. Only the ledger changes it."""
        self.mean_busy_s: float | None = None
        """What its data worker lately needed for a batch. Only the ledger changes it."""

    def send(self, request: Request) -> None:
        """Send a request; a connection that fails ends, and its thread takes note."""
        try:
            with self._sending:
                wire.send(self._connection, request.message)
        except OSError:
            hang_up(self._connection)
        except BaseException:
            # Ctrl-C within a message: the rest of it would never follow.
            hang_up(self._connection)
            raise

    def serve(self) -> None:
        """Take answers until the connection ends; what is unanswered then is asked elsewhere.

        Raises:
            DataServiceError: What came was not an answer.
            OSError: The connection broke.
        """
        take = self._ledger.landing.take
        self._ledger.attach(self)
        try:
            while (frame := wire.receive(self._connection, take)) is not None:
                answer = read_answer(frame, server=self.server)
                self._ledger.settle(self, frame.number, answer)
                # Else the last batch would stay in memory until the next one comes.
                del frame, answer
        except (OSError, DataServiceError):
            raise
        except Exception as error:
            # Not the peer's fault (most likely no memory), and it would only come again.
            self._ledger.fail(
                DataServiceError(
                    f"A batch from {self.server} could not be received ({error!r}). If memory "
                    "is short, lower prefetch_factor or the number of data workers."
                )
            )
            raise DataServiceError(f"receiving failed ({error!r})") from error
        finally:
            hang_up(self._connection)
            self._ledger.detach(self)


class LocalLink:
    """The connection to a data worker of this trainer, over a socket pair."""

    def __init__(self, connection: socket.socket, ledger: Ledger, *, server: str) -> None:
        self._connection = close_in_children(connection)
        self._link = WorkerLink(connection, ledger, server=server)
        self._ledger = ledger
        self._thread = threading.Thread(
            target=self._serve, name="smtc_lab local data worker", daemon=True
        )
        self.has_said_hello = False
        """Whether the data worker ever came to the point of working."""
        self.has_ended = False
        """Whether the data worker is gone."""
        self._thread.start()

    def close(self, *, failed: bool) -> None:
        """End the connection, and ask elsewhere for what is unanswered.

        Args:
            failed: Whether the data worker went by itself.
        """
        self._ledger.detach(self._link, failed=failed)
        hang_up(self._connection)
        if self._thread is not threading.current_thread():
            self._thread.join(HELLO_TIMEOUT_S)
        self._connection.close()

    def _serve(self) -> None:
        try:
            Hello.read(wire.receive(self._connection))
            self.has_said_hello = True
            self._link.serve()
        except (OSError, DataServiceError):
            pass  # the trainer starts the data worker again, whatever the reason
        finally:
            self.has_ended = True
            self._ledger.touch()


@dataclass(frozen=True, slots=True)
class ServerTerms:
    """What the links to all data servers of a client share."""

    secret: bytes
    """The job's secret."""

    ledger: Ledger
    """Where answers go."""

    stop: StopFlag
    """Set when the client ends."""

    greeted: Callable[[ServerAddress, Hello], str | None]
    """Told who answers; returns why it is of no use, or None."""

    failed: Callable[[ServerAddress, str], None]
    """Told why a connection could not be made, or ended."""


class RemoteLink:
    """The connection to one data worker of a server, made again while the client lives."""

    def __init__(self, address: ServerAddress, data_worker: int, terms: ServerTerms) -> None:
        self._address = address
        self._data_worker = data_worker
        self._terms = terms
        self._connection: socket.socket | None = None
        self._was_served = False
        self._thread = threading.Thread(
            target=self._keep_connected, name=f"smtc_lab data server {address}", daemon=True
        )
        self._thread.start()

    def hang_up(self) -> None:
        """End the connection; with the stop flag set, its thread ends too."""
        connection = self._connection
        if connection is not None:
            hang_up(connection)

    def join(self, timeout_s: float) -> None:
        """Wait for the thread's end."""
        if self._thread is not threading.current_thread():
            self._thread.join(timeout_s)

    def _keep_connected(self) -> None:
        pause_s = _FIRST_PAUSE_S
        while not self._terms.stop:
            self._was_served = False
            try:
                with connect_tcp(self._address.host, self._address.port) as connection:
                    self._connection = connection
                    if not self._terms.stop:  # else nobody would hang up on us
                        self._serve(connection)
                why = "closed the connection"
            except (OSError, DataServiceError) as error:
                why = str(error) or type(error).__name__
            finally:
                self._connection = None
            if self._terms.stop:
                return
            self._terms.failed(self._address, why)
            pause_s = _FIRST_PAUSE_S if self._was_served else min(2 * pause_s, _LONGEST_PAUSE_S)
            self._terms.stop.wait(pause_s)

    def _serve(self, connection: socket.socket) -> None:
        prove_to_server(connection, self._terms.secret, data_worker=self._data_worker)
        # The kernel's own timeout: one of Python would make the socket non-blocking.
        set_receive_timeout(connection, HELLO_TIMEOUT_S)
        hello = Hello.read(wire.receive(connection))
        set_receive_timeout(connection, 0)
        refusal = self._terms.greeted(self._address, hello)
        if refusal is not None:
            raise DataServiceError(refusal)
        self._was_served = True
        WorkerLink(connection, self._terms.ledger, server=hello.host).serve()
