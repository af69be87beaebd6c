"""What happened to each request, event by event, for whoever wants to check it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smtc_lab.dataservice.client.epoch import Epoch, Link, Request
    from smtc_lab.dataservice.protocol.messages import Answer


class Journal:
    """Writes events as plain dicts, in the order in which they happen.

    Each has ``what``: ``epoch``, ``asked``, ``sent`` (again, where an answer is late or its
    data worker is gone), ``answered``, ``dropped`` (a late or repeated answer), ``lost`` (a
    data worker is gone), ``delivered`` or ``ended``. Requests have a ``number`` that is unique
    in their client, and an ``order`` in their epoch.
    """

    def __init__(self, write: Callable[[dict[str, Any]], object] | None) -> None:
        self._write = write

    def epoch(self, epoch: Epoch, *, in_order: bool) -> None:
        """An epoch has begun."""
        if self._write is not None:
            self._write({"what": "epoch", "epoch": epoch.number, "in_order": in_order})

    def asked(self, request: Request) -> None:
        """The trainer wants a batch."""
        if self._write is not None:
            indices = request.indices
            samples = list(indices) if isinstance(indices, list | tuple) else [indices]
            self._write(_of(request, "asked") | {"samples": samples})

    def sent(self, request: Request, link: Link) -> None:
        """A data worker was asked."""
        if self._write is not None:
            self._write({"what": "sent", "number": request.number} | _at(link))

    def answered(self, request: Request, link: Link, outcome: Answer) -> None:
        """A data worker has answered; ``dropped`` when nobody needs it any more."""
        if self._write is None:
            return
        if request.is_answered:
            self.dropped(request.number, link)
        else:
            said = {"what": "answered", "number": request.number} | _at(link)
            self._write(said | {"is_error": outcome.error is not None})

    def dropped(self, number: int, link: Link) -> None:
        """An answer came that nobody needs."""
        if self._write is not None:
            self._write({"what": "dropped", "number": number} | _at(link))

    def lost(self, link: Link, numbers: Sequence[int]) -> None:
        """A data worker is gone, with these requests unanswered."""
        if self._write is not None:
            self._write({"what": "lost"} | _at(link) | {"numbers": list(numbers)})

    def delivered(self, request: Request) -> None:
        """The trainer has got a batch."""
        if self._write is not None:
            self._write(_of(request, "delivered"))

    def ended(self, epoch: Epoch) -> None:
        """An epoch is over."""
        if self._write is not None:
            said = {"what": "ended", "epoch": epoch.number}
            self._write(said | {"is_complete": epoch.is_complete})


no_journal = Journal(None)
"""Writes nothing."""


def _of(request: Request, what: str) -> dict[str, Any]:
    epoch, order, number = request.epoch.number, request.order, request.number
    return {"what": what, "epoch": epoch, "order": order, "number": number}


def _at(link: Link) -> dict[str, Any]:
    return {"server": link.server, "data_worker": link.data_worker}
