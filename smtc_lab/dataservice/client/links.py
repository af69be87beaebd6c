"""The trainer's live connections to data workers."""

from __future__ import annotations

import threading
from collections import deque
from itertools import chain
from typing import TYPE_CHECKING

from smtc_lab.dataservice.protocol.messages import Hello, read_answer
from smtc_lab.dataservice.protocol.receiver import ConnectionEndedError
from smtc_lab.dataservice.protocol.sockets import hang_up
from smtc_lab.dataservice.protocol.wire import Kind, pack
from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Sequence

    from smtc_lab.dataservice.client.epoch import Request
    from smtc_lab.dataservice.client.ledger import Ledger
    from smtc_lab.dataservice.client.reception import Reception
    from smtc_lab.dataservice.protocol.receiver import Receiver
    from smtc_lab.dataservice.protocol.segments import SharedViews
    from smtc_lab.dataservice.protocol.transport import Transport


class WorkerLink:
    """One live connection to one data worker."""

    def __init__(  # noqa: PLR0913  what a connection is made of
        self,
        connection: socket.socket,
        transport: Transport,
        receiver: Receiver,
        *,
        server: str,
        data_worker: int,
        views: SharedViews | None = None,
        has_said_hello: bool = True,
    ) -> None:
        """Take a connection.

        Args:
            connection: The socket; the caller closes it, after ``end``.
            transport: Its bytes.
            receiver: Its messages.
            server: Host of the data server, or ``local``.
            data_worker: Number of the data worker there.
            views: Memory that the data worker shares; None: it shares none.
            has_said_hello: Whether the data worker's hello was read already; it gets requests
                from then on.
        """
        self.connection = connection
        """The socket."""
        self._transport = transport
        self._receiver = receiver
        self._views = views
        self._sending = threading.Lock()
        self._unsent: deque[list[memoryview]] = deque()
        self._ledger: Ledger | None = None
        self._reception: Reception | None = None
        self._on_end: Callable[[], None] | None = None
        self.server = server
        """Host of the data server, or ``local``."""
        self.data_worker = data_worker
        """Number of the data worker there."""
        self.outstanding: dict[int, Request] = {}
        """Requests sent and not answered, oldest first. Only the ledger changes it."""
        self.mean_busy_s: float | None = None
        """What its data worker lately needed for a batch. Only the ledger changes it."""
        self.suspected_since_s: float | None = None
        """Since when it owes an answer that was asked elsewhere too. Only the ledger changes
        it."""
        self.is_reported = False
        """Whether the trainer was told of that. Only the ledger changes it."""
        self.why = "closed the connection"
        """Why it has ended."""
        self.has_said_hello = has_said_hello
        """Whether the data worker ever came to the point of working."""
        self.has_ended = False
        """Whether it is of no use any more."""

    @property
    def may_have_more(self) -> bool:
        """Whether bytes may be there of which the descriptor does not tell."""
        return self._receiver.may_have_more and not self.has_ended

    def fileno(self) -> int:
        """Return the descriptor of its connection."""
        return self.connection.fileno()

    def begin(
        self, ledger: Ledger, reception: Reception, on_end: Callable[[], None] | None = None
    ) -> None:
        """Take requests and answers from now on.

        Args:
            ledger: Where answers go.
            reception: Who receives them.
            on_end: Called when the connection has ended by itself.
        """
        self._ledger, self._reception, self._on_end = ledger, reception, on_end
        if self.has_said_hello:
            ledger.attach(self)
        reception.add(self)

    def send(self, requests: Sequence[Request]) -> None:
        """Send requests; a connection that fails ends, and whoever receives takes note."""
        buffers = list(chain.from_iterable(request.message for request in requests))
        returned = [] if self._views is None else self._views.returned()
        if returned:
            buffers = [*pack(Kind.RELEASE, 0, returned), *buffers]
        try:
            with self._sending:
                rest = buffers if self._unsent else self._transport.send(buffers)
                if rest:
                    self._unsent.append(rest)
        except OSError:
            hang_up(self.connection)
            return
        except BaseException:
            # Ctrl-C within a message: the rest of it would never follow.
            hang_up(self.connection)
            raise
        if rest and self._reception is not None:
            self._reception.flush_later(self)

    def flush(self) -> bool:
        """Send what could not be sent before; return whether all of it went."""
        try:
            with self._sending:
                while self._unsent:
                    rest = self._transport.send(self._unsent[0])
                    if rest:
                        self._unsent[0] = rest
                        return False
                    self._unsent.popleft()
        except OSError:
            hang_up(self.connection)
        return True

    def receive(self, is_done: Callable[[], bool]) -> None:
        """Take answers until it is done, or there are no more for now."""
        ledger = self._ledger
        if ledger is None or self.has_ended:
            return
        try:
            for frame in self._receiver.receive():
                if self.has_said_hello:
                    ledger.settle(self, frame.number, read_answer(frame, server=self.server))
                else:
                    Hello.read(frame)
                    self.has_said_hello = True
                    ledger.attach(self)
                # Else the last batch would stay in memory until the next one comes.
                del frame
                if is_done():
                    return
        except (ConnectionEndedError, DataServiceError) as error:
            self.why = str(error)
        except OSError as error:
            self.why = error.strerror or type(error).__name__
        except Exception as error:  # noqa: BLE001  most likely no memory: it would only come again
            self.why = f"receiving failed ({error!r})"
            ledger.fail(
                DataServiceError(
                    f"A batch from {self.server} could not be received ({error!r}). If memory "
                    "is short, lower prefetch_factor or the number of data workers."
                )
            )
        except BaseException:
            # Ctrl-C amid a message: nobody knows where the next one begins.
            self.end()
            raise
        else:
            return
        self.end()

    def end(self, *, failed: bool = True) -> None:
        """End the connection, and ask elsewhere for what is unanswered; safe twice.

        Args:
            failed: Whether the data worker went by itself.
        """
        if self.has_ended:
            return
        self.has_ended = True
        if self._reception is not None:
            self._reception.remove(self)
        hang_up(self.connection)
        if self._ledger is not None:
            self._ledger.detach(self, failed=failed)
            self._ledger.touch()
        if self._on_end is not None:
            self._on_end()
