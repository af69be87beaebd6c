"""One pass over a loader in the trainer, and the requests that it is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from smtc_lab.dataservice.messages import Outcome


class Epoch:
    """The batches of one pass over a loader, from asking to delivery.

    ``cancel`` takes no lock, because a finalizer calls it.
    """

    def __init__(
        self, *, in_order: bool, pin: Callable[[object], object] | None = None
    ) -> None:
        self._in_order = in_order
        self._outcomes: dict[int, Outcome] = {}
        self.pin = pin
        """Copies a batch to pinned memory, in the thread that received it; None: not wanted."""
        self.asked = 0
        """Batches asked for."""
        self.delivered = 0
        """Batches given to the trainer."""
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

    def put(self, order: int, outcome: Outcome) -> None:
        """Keep an outcome for the trainer."""
        self._outcomes[order] = outcome

    def pop(self) -> Outcome:
        """Return the next outcome; call it only when ``is_ready``."""
        order = self.delivered if self._in_order else next(iter(self._outcomes))
        self.delivered += 1
        return self._outcomes.pop(order)

    def cancel(self) -> None:
        """Drop what came and what is still to come."""
        self.is_cancelled = True
        self._outcomes = {}


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

    samples: str
    """The samples, as messages name them."""

    losses: int = 0
    """Data workers that ended while this was the request that they worked on."""
