"""How trainers tell the data instances of a SageMaker job that they are done.

The platform ends a job only when all of its containers have ended, so data instances that were
not told would be paid for until the job's time limit. A trainer that has ended well proves to
each data instance that it holds the job's secret, in the handshake of the data service; the
number of its rank in that proof is the message.
"""

from __future__ import annotations

import hmac
import socket
import time
from typing import TYPE_CHECKING

from smtc_lab.dataservice.protocol.handshake import prove_to_server
from smtc_lab.dataservice.protocol.sockets import close_in_children, connect_tcp
from smtc_lab.dataservice.serving.guard import Guard, Visitor
from smtc_lab.errors import HandshakeError, LauncherError

if TYPE_CHECKING:
    import selectors
    from collections.abc import Collection, Iterable

DONE_PORT = 16399
"""Port on which a data instance hears it, on the instance's own address."""

_PAUSE_S = 0.2


class DoneListener:
    """Hears that trainers are done, in the loop of whoever owns the selector.

    Args:
        address: This instance's own address.
        secret: The job's secret.
        ranks: The trainers of the job.
        selector: Its keys' data are functions to call.

    Raises:
        LauncherError: The address cannot be listened on.
    """

    def __init__(
        self,
        address: str,
        secret: bytes,
        ranks: Collection[int],
        selector: selectors.BaseSelector,
    ) -> None:
        try:
            listener = socket.create_server((address, DONE_PORT), backlog=128)
        except OSError as error:
            raise LauncherError(
                f"A data instance cannot listen on {address}:{DONE_PORT} ({error.strerror}), "
                "so it would not hear of the end of the trainers. Free the port."
            ) from error
        listener.setblocking(False)
        self._listener = close_in_children(listener)
        self._missing = set(ranks)
        self._guard = Guard(listener, selector, _key(secret), self._admit, lambda _: None)

    @property
    def all_done(self) -> bool:
        """Whether every trainer has said that it is done."""
        return not self._missing

    def drop_late(self) -> None:
        """Send visitors away who are too slow; to be called now and then."""
        self._guard.drop_late()

    def close(self) -> None:
        """Stop listening."""
        self._guard.close()
        self._listener.close()

    def _admit(self, visitor: Visitor) -> bool:
        if visitor.data_worker is not None:
            self._missing.discard(visitor.data_worker)
        return False  # nothing more is to be said


def tell_done(addresses: Iterable[str], secret: bytes, *, rank: int, limit_s: float) -> None:
    """Tell data instances that a trainer is done. Those that have ended are passed over.

    Args:
        addresses: Their addresses.
        secret: The job's secret.
        rank: Rank of the trainer.
        limit_s: Longest time to try in seconds: an instance may only just be coming up.
    """
    deadline = time.monotonic() + limit_s
    waiting = list(addresses)
    while waiting:
        for address in list(waiting):
            try:
                with connect_tcp(address, DONE_PORT) as connection:
                    prove_to_server(connection, _key(secret), data_worker=rank)
            except (OSError, HandshakeError):
                continue
            waiting.remove(address)
        if time.monotonic() >= deadline:
            return
        if waiting:
            time.sleep(_PAUSE_S)  # nothing tells when somebody begins to listen


def _key(secret: bytes) -> bytes:
    """Return a key of its own: a proof for the data service must not pass for one here."""
    return hmac.digest(secret, b"smtc_lab end of a trainer", "sha256")
