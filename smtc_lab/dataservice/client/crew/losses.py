"""Data workers that end over one request, and when that is given up.

Whatever ends a data worker once is mended: the request is asked again elsewhere. Samples that
end every data worker would end one after the other, so there is a limit. Two that ended by
themselves over the same samples are no accident. Others may have been killed from outside: by
the kernel, where memory is short for a moment, or by a person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from smtc_lab.dataservice.protocol.messages import Answer
from smtc_lab.dataservice.source import shown
from smtc_lab.errors import DataWorkerError

if TYPE_CHECKING:
    from smtc_lab.dataservice.client.epoch import Link, Request
    from smtc_lab.dataservice.protocol.ended import EndedWorker

MAX_CRASHES = 2
"""Data workers that may end by themselves over one request."""

MAX_KILLS = 3
"""Data workers that may be killed over one request."""

MAX_UNKNOWN = 8
"""Connections that may end over one request where nobody knows why."""


class Losses:
    """Over which request each connection ended. The ledger's lock guards it."""

    def __init__(self) -> None:
        self._over: WeakKeyDictionary[Link, tuple[Request, int]] = WeakKeyDictionary()

    def add(self, link: Link, request: Request) -> None:
        """Take note that a connection ended while its data worker worked on a request."""
        self._over[link] = request, len(request.losses)
        request.losses.append(None)

    def explain(self, link: Link, ended: EndedWorker) -> bool:
        """Take note of how the data worker ended; return whether its request is given up."""
        request, number = self._over.pop(link, (None, 0))
        if request is None:
            return False
        request.losses[number] = ended
        return give_up(request, link.server)


def give_up(request: Request, server: str) -> bool:
    """Put an error in place of a batch that too many data workers ended over.

    Args:
        request: The request.
        server: Where the last of them was.

    Returns:
        Whether it was given up.
    """
    losses = request.losses
    if sum(1 / _limit(loss) for loss in losses) < 1:
        return False
    last = next((one for one in reversed(losses) if one is not None), None)
    torchs_words = "" if last is None else f"{last.told_as_torch()}. "
    error = DataWorkerError(
        f"{torchs_words}{len(losses)} data workers ended while they prepared the samples "
        f"{shown(request.indices)}, the last one on {server}. Look into the log for what they "
        "printed (signal 9 is often a lack of memory), or prepare these samples with "
        "num_workers=0 to see why."
    )
    request.epoch.put(request, Answer(None, error, server, 0, 0.0))
    return True


def _limit(loss: EndedWorker | None) -> int:
    if loss is None:
        return MAX_UNKNOWN
    return MAX_CRASHES if loss.has_crashed else MAX_KILLS
