"""Replays the journal of a dataloader against the promise that no sample is lost or seen twice.

It knows the words of the journal and nothing else: no line of the data service is imported, so
that a mistake there is not repeated here. Events come as dicts, in the order in which things
happened:

- ``epoch``: epoch, in_order
- ``asked``: epoch, order, number, samples
- ``sent``, ``answered`` (also is_error), ``dropped``: number, server, data_worker
- ``lost``: server, data_worker, numbers
- ``delivered``: epoch, order, number
- ``ended``: epoch, is_complete
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MAX_COPIES = 2
"""Data workers that may hold one request at a time: the second one is a hedge."""


@dataclass
class _Request:
    epoch: int
    order: int
    samples: list[object]
    holders: set[tuple[str, int]] = field(default_factory=set)
    is_answered: bool = False
    is_delivered: bool = False


@dataclass
class _Epoch:
    in_order: bool
    asked: list[int] = field(default_factory=list)
    delivered: int = 0
    has_ended: bool = False


def violations(
    journal: Iterable[Mapping[str, Any]],
    *,
    credit_bound: int,
    samples: Sequence[object] | None = None,
    window: int | None = None,
) -> list[str]:
    """Return what in a journal breaks the promise, one sentence each; empty: nothing.

    Args:
        journal: The events, from before the first epoch to after the last one.
        credit_bound: Requests that one data worker may hold at a time.
        samples: What the sampler gives in each complete epoch, in order; None: not checked.
        window: Batches of one epoch that may be asked for and not delivered; None: any number.
    """
    replay = _Replay(credit_bound, None if samples is None else list(samples), window)
    for event in journal:
        replay.take(event)
    replay.finish()
    return replay.found


class _Replay:
    def __init__(
        self, credit_bound: int, samples: list[object] | None, window: int | None
    ) -> None:
        self.found: list[str] = []
        self._credit_bound = credit_bound
        self._samples = samples
        self._window = window
        self._epochs: dict[int, _Epoch] = {}
        self._requests: dict[int, _Request] = {}
        self._held: defaultdict[tuple[str, int], set[int]] = defaultdict(set)

    def take(self, event: Mapping[str, Any]) -> None:
        """Replay one event."""
        steps = {
            "epoch": self._begin,
            "asked": self._ask,
            "sent": self._send,
            "answered": self._answer,
            "dropped": self._drop,
            "lost": self._lose,
            "delivered": self._deliver,
            "ended": self._end,
        }
        said = dict(event)
        what = said.pop("what", None)
        if what not in steps:
            self._blame(f"the event {event} is unknown")
            return
        number = said.get("number")
        if what != "asked" and number is not None and number not in self._requests:
            self._blame(f"request {number} was {what}, but was never asked")
            return
        steps[what](**said)

    def finish(self) -> None:
        """Check what must be true at the end."""
        for number, epoch in self._epochs.items():
            self._demand(epoch.has_ended, f"epoch {number} never ended")

    def _begin(self, *, epoch: int, in_order: bool) -> None:
        self._demand(epoch not in self._epochs, f"epoch {epoch} began twice")
        self._epochs[epoch] = _Epoch(in_order)

    def _ask(self, *, epoch: int, order: int, number: int, samples: object) -> None:
        self._demand(number not in self._requests, f"request {number} was asked twice")
        asked = self._running(epoch, f"request {number} was asked").asked
        self._demand(
            order == len(asked), f"batch {order} of epoch {epoch} was asked out of turn"
        )
        asked.append(number)
        listed = list(samples) if isinstance(samples, list | tuple) else [samples]
        self._requests[number] = _Request(epoch, order, listed)
        ahead = len(asked) - self._epochs[epoch].delivered
        self._demand(
            self._window is None or ahead <= self._window,
            f"{ahead} batches of epoch {epoch} were asked ahead, but only {self._window} may",
        )

    def _send(self, *, number: int, server: str, data_worker: int) -> None:
        request, holder = self._requests[number], (server, data_worker)
        who = _shown(holder)
        self._demand(holder not in request.holders, f"request {number} was sent twice to {who}")
        self._demand(
            not request.is_answered, f"request {number} was sent to {who} after its answer"
        )
        request.holders.add(holder)
        self._held[holder].add(number)
        self._demand(
            len(request.holders) <= MAX_COPIES,
            f"request {number} is held by {len(request.holders)} data workers",
        )
        held = len(self._held[holder])
        self._demand(
            held <= self._credit_bound,
            f"{who} holds {held} requests, but has {self._credit_bound} credits",
        )

    def _answer(self, *, number: int, server: str, data_worker: int, is_error: bool) -> None:
        request, holder = self._requests[number], (server, data_worker)
        who = _shown(holder)
        self._demand(
            holder in request.holders, f"{who} answered request {number}, which it did not hold"
        )
        self._demand(not request.is_answered, f"two answers to request {number} counted")
        self._demand(type(is_error) is bool, f"is_error of request {number} is {is_error!r}")
        request.is_answered = True
        self._release(number, holder)

    def _drop(self, *, number: int, server: str, data_worker: int) -> None:
        request, holder = self._requests[number], (server, data_worker)
        is_needless = (
            request.is_answered
            or holder not in request.holders
            or self._epochs[request.epoch].has_ended
        )
        self._demand(
            is_needless, f"the first answer to request {number}, of {_shown(holder)}, was lost"
        )
        self._release(number, holder)

    def _lose(self, *, server: str, data_worker: int, numbers: Iterable[int]) -> None:
        holder = (server, data_worker)
        for number in numbers:
            self._demand(
                number in self._held[holder],
                f"request {number} was lost by {_shown(holder)}, which did not hold it",
            )
        for number in list(self._held[holder]):
            self._release(number, holder)

    def _deliver(self, *, epoch: int, order: int, number: int) -> None:
        request = self._requests[number]
        running = self._running(epoch, f"request {number} was delivered")
        self._demand(
            (request.epoch, request.order) == (epoch, order),
            f"request {number} was delivered as batch {order} of epoch {epoch}, but asked as "
            f"batch {request.order} of epoch {request.epoch}",
        )
        self._demand(
            request.is_answered, f"request {number} was delivered, but nobody answered it"
        )
        self._demand(not request.is_delivered, f"request {number} was delivered twice")
        self._demand(
            not running.in_order or order == running.delivered,
            f"batch {order} of epoch {epoch} was delivered as number {running.delivered}",
        )
        request.is_delivered = True
        running.delivered += 1

    def _end(self, *, epoch: int, is_complete: bool) -> None:
        ended = self._running(epoch, "it ended")
        ended.has_ended = True
        if not is_complete:
            return
        requests = [self._requests[number] for number in ended.asked]
        for number, request in zip(ended.asked, requests, strict=True):
            self._demand(
                request.is_delivered, f"request {number} of epoch {epoch} was not delivered"
            )
        asked = [sample for request in requests for sample in request.samples]
        self._demand(
            self._samples is None or asked == self._samples,
            f"epoch {epoch} asked for samples {asked}, but the sampler gave {self._samples}",
        )

    def _running(self, number: int, why: str) -> _Epoch:
        epoch = self._epochs.setdefault(number, _Epoch(in_order=False, has_ended=True))
        self._demand(not epoch.has_ended, f"epoch {number} does not run, but {why}")
        return epoch

    def _release(self, number: int, holder: tuple[str, int]) -> None:
        self._requests[number].holders.discard(holder)
        self._held[holder].discard(number)

    def _demand(self, is_true: object, otherwise: str) -> None:
        if not is_true:
            self._blame(otherwise)

    def _blame(self, violation: str) -> None:
        self.found.append(violation)


def _shown(holder: tuple[str, int]) -> str:
    return f"{holder[0]} (data worker {holder[1]})"
