"""One pass over a loader in the trainer, the requests it is made of, and who has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from smtc_lab.dataservice.protocol.ended import EndedWorker
    from smtc_lab.dataservice.protocol.messages import Answer


class Epoch:
    """The batches of one pass over a loader, from asking to delivery.

    ``cancel`` takes no lock, because a finalizer calls it.
    """

    def __init__(
        self,
        *,
        in_order: bool,
        pin: Callable[[Answer], Answer] | None = None,
        number: int = 0,
    ) -> None:
        self._in_order = in_order
        self._outcomes: dict[int, tuple[Request, Answer]] = {}
        self.number = number
        """Which pass over the loader this is."""
        self.pin = pin
        """Copies a batch to pinned memory, in the thread that received it; None: no need."""
        self.waiting: dict[int, Request] = {}
        """Requests that are not answered yet, by order."""
        self.asked = 0
        """Batches asked for."""
        self.delivered = 0
        """Batches given to the trainer."""
        self.is_complete = False
        """Whether the trainer has got all of it."""
        self.is_cancelled = False
        """Whether nobody wants the batches any more."""

    @property
    def undelivered(self) -> int:
        """Batches asked for and not given to the trainer yet."""
        return self.asked - self.delivered

    def is_ready(self) -> bool:
        """Return whether the next batch, or any one without order, is here."""
        if self._in_order:
            return self.delivered in self._outcomes
        return bool(self._outcomes)

    def awaited(self) -> Request | None:
        """Return the request that holds the trainer up, or the oldest one without order."""
        if self._in_order:
            return self.waiting.get(self.delivered)
        return next(iter(self.waiting.values()), None)

    def put(self, request: Request, outcome: Answer) -> None:
        """Keep an outcome for the trainer; a second one of the same request changes nothing."""
        if self.waiting.pop(request.order, None) is not None:
            self._outcomes[request.order] = (request, outcome)

    def pop(self) -> tuple[Request, Answer]:
        """Return the next request and its outcome; call it only when ``is_ready``."""
        order = self.delivered if self._in_order else next(iter(self._outcomes))
        self.delivered += 1
        return self._outcomes.pop(order)

    def cancel(self) -> None:
        """Drop what came and what is still to come."""
        self.is_cancelled = True
        self._outcomes = {}
        self.waiting = {}


@dataclass(eq=False, slots=True)
class Request:
    """One batch that the trainer wants."""

    number: int
    """Unique in its client."""

    order: int
    """Place among the batches of its epoch."""

    epoch: Epoch
    """Who wants it."""

    message: list[memoryview]
    """What is sent, as often as necessary."""

    indices: object
    """The sample indices, for messages and the journal."""

    stream: Hashable = None
    """What must be asked of one data worker as long as that lives; None: anybody will do."""

    losses: list[EndedWorker | None] = field(default_factory=list)
    """Data workers that ended while this was the request that they worked on; None: nobody
    knows how."""

    sent_s: float = 0.0
    """When it was last sent, on the monotonic clock."""

    links: list[Link] = field(default_factory=list)
    """Who has it now; two, where one of them was too slow or tries to take its stream over.
    The last one is judged by how long it takes."""

    @property
    def is_answered(self) -> bool:
        """Whether its answer came, or nobody wants it any more."""
        return self.epoch.is_cancelled or self.order not in self.epoch.waiting


class Link(Protocol):
    """A connection to one data worker, as the ledger sees it."""

    server: str
    """Host of the data server, or ``local``."""

    data_worker: int
    """Number of the data worker there."""

    outstanding: dict[int, Request]
    """Requests sent and not answered, oldest first. Only the ledger changes it."""

    mean_busy_s: float | None
    """What its data worker lately needed for a batch. Only the ledger changes it."""

    suspected_since_s: float | None
    """Since when it owes an answer that was asked elsewhere too; None: it owes none."""

    is_reported: bool
    """Whether the trainer was told of that."""

    def send(self, requests: Sequence[Request]) -> None:
        """Send requests. Never raises: a link that fails ends itself."""
        ...
