"""The trainer's ledger: what was asked of whom, what came back, what is asked again.

All threads of a client meet here. Servers hold no state: a request that is not answered belongs
to nobody, and is asked of whoever has a credit left. An answer counts once.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections import Counter, deque
from typing import TYPE_CHECKING, Protocol

from smtc_lab.dataservice.epoch import Epoch, Request
from smtc_lab.dataservice.landing import LandingPool
from smtc_lab.dataservice.messages import Outcome
from smtc_lab.dataservice.remedies import SAME_VERSION
from smtc_lab.errors import DataServiceError, ProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LOSSES = 8
"""Data workers that may end over one request before the request is given up."""

MAX_AHEAD_BYTES = 256 * 2**20
"""Memory that a window may take beyond the credits, for the sake of slow data workers."""

_MOST_WINDOWS = 8
_SLOW_FACTOR = 2.0
_SMOOTHING = 0.2


class Link(Protocol):
    """A connection to one data worker, as the ledger sees it."""

    server: str
    """Host of the data server, or ``local``."""

    outstanding: dict[int, Request]
    """Requests sent and not answered, oldest first. Only the ledger changes it."""

    mean_busy_s: float | None
    """What its data worker lately needed for a batch. Only the ledger changes it."""

    def send(self, request: Request) -> None:
        """Send a request. Never raises: a link that fails ends itself."""
        ...


class Ledger:
    """Requests of one client. Safe to use from all threads."""

    def __init__(self, *, credits_per_link: int) -> None:
        self._credits = credits_per_link
        # Reentrant, because a finalizer may come between any two lines.
        self._changed = threading.Condition(threading.RLock())
        self._numbers = itertools.count()
        self._queue: deque[Request] = deque()
        self._links: list[Link] = []
        self._sent_again: Counter[str] = Counter()
        self._batch_bytes = 0
        self.landing = LandingPool()
        """Memory that batches are received into."""
        self.version = 0
        """Rises whenever a link comes or goes, or nothing can be delivered any more."""
        self.error: DataServiceError | None = None
        """Why nothing can be delivered any more; None while all is well."""

    @property
    def num_links(self) -> int:
        """Data workers that are connected now."""
        return len(self._links)

    @property
    def window(self) -> int:
        """Batches of an epoch that may be asked for and not delivered yet.

        This bounds the trainer's memory: the credits of all links, and one batch for each link
        that has come and waits for its turn. Where one data worker is much slower than the
        others, the window holds what those make meanwhile, so that they need not stop for it;
        within ``MAX_AHEAD_BYTES``.
        """
        with self._changed:
            num_links = len(self._links)
            busy_s = [link.mean_busy_s for link in self._links if link.mean_busy_s]
        least = (self._credits + 1) * max(1, num_links)
        if not busy_s:
            return least
        made_meanwhile = max(busy_s) * sum(1 / one_s for one_s in busy_s)
        affordable = min(_MOST_WINDOWS * least, MAX_AHEAD_BYTES // max(1, self._batch_bytes))
        return max(least, min(math.ceil(made_meanwhile) + num_links, affordable))

    def ask(
        self, epoch: Epoch, message: Callable[[int], list[memoryview]], samples: str
    ) -> None:
        """Ask for the next batch of an epoch.

        Args:
            epoch: Who wants it.
            message: Returns the message for a request number.
            samples: The samples, as messages name them.
        """
        number = next(self._numbers)
        request = Request(number, epoch.asked, epoch, message(number), samples)
        with self._changed:
            epoch.asked += 1
            self._queue.append(request)
        self._dispatch()

    def attach(self, link: Link) -> None:
        """Give a connected data worker its share from now on."""
        with self._changed:
            self._links.append(link)
            self._wake()
        self._dispatch()

    def detach(self, link: Link, *, failed: bool = True) -> None:
        """Take back what a data worker that is gone has not answered.

        Args:
            link: Its link.
            failed: Whether it went by itself; False: it was ended on purpose.
        """
        with self._changed:
            if link not in self._links:
                return
            self._links.remove(link)
            lost = [one for one in link.outstanding.values() if not one.epoch.is_cancelled]
            link.outstanding.clear()
            if lost and failed and self.error is None:
                lost[0].losses += 1
                self._sent_again[link.server] += len(lost)
            again = [one for one in lost if not self._give_up(one, link)]
            if self.error is None:
                self._queue.extendleft(reversed(again))
            self._wake()
        self._dispatch()

    def settle(self, link: Link, number: int, outcome: Outcome) -> None:
        """Take the answer of a data worker; one for which nobody waits is dropped.

        Raises:
            ProtocolError: Nothing with this number was asked of it.
        """
        request = link.outstanding.get(number)
        if request is None:
            raise ProtocolError(
                f"{link.server} answered request {number}, which was not asked of it. "
                f"{SAME_VERSION}"
            )
        epoch = request.epoch
        if epoch.pin is not None and not epoch.is_cancelled and outcome.error is None:
            outcome = _pinned(outcome, epoch.pin)
        with self._changed:
            if link.outstanding.pop(number, None) is None:
                return  # taken back meanwhile
            self._note_busy(link, outcome)
            if not epoch.is_cancelled:
                epoch.put(request.order, outcome)
                if epoch.is_ready():
                    self._changed.notify_all()
        self._dispatch()

    def wait(self, epoch: Epoch, seen_version: int, timeout_s: float) -> None:
        """Wait until a batch is ready, the links have changed, or the time is over."""
        with self._changed:
            self._changed.wait_for(
                lambda: epoch.is_ready() or self.version != seen_version, timeout_s
            )

    def touch(self) -> None:
        """Wake the trainer: something happened that it should look at."""
        with self._changed:
            self._wake()

    def take_sent_again(self) -> Counter[str]:
        """Return how many requests were asked again since the last call, by lost server."""
        with self._changed:
            taken, self._sent_again = self._sent_again, Counter()
            return taken

    def fail(self, error: DataServiceError) -> None:
        """Note why nothing can be delivered any more; the trainer raises it."""
        with self._changed:
            self.error = self.error or error
            self._queue.clear()
            self._wake()

    def _wake(self) -> None:
        self.version += 1
        self._changed.notify_all()

    def _give_up(self, request: Request, link: Link) -> bool:
        if request.losses < MAX_LOSSES:
            return False
        error = DataServiceError(
            f"{request.losses} data workers ended while they prepared the samples "
            f"{request.samples}, the last one on {link.server}. Look into the log for how they "
            "ended (signal 9 is often a lack of memory), or prepare these samples with "
            "num_workers=0 to see why."
        )
        request.epoch.put(request.order, Outcome(None, error, link.server, 0, 0.0))
        return True

    def _note_busy(self, link: Link, outcome: Outcome) -> None:
        if outcome.error is None:
            self._batch_bytes = max(self._batch_bytes, outcome.received_bytes)
            mean_s = link.mean_busy_s
            link.mean_busy_s = (
                outcome.busy_s
                if mean_s is None
                else mean_s + _SMOOTHING * (outcome.busy_s - mean_s)
            )

    def _dispatch(self) -> None:
        """Send queued requests for as long as there are credits."""
        while True:
            with self._changed:
                link = self._free_link()
                if link is None:
                    return
                request = self._queue.popleft()
                link.outstanding[request.number] = request
            # Not under the lock: a peer that does not read must not stop the others.
            link.send(request)

    def _free_link(self) -> Link | None:
        """Return the link that should get the next queued request."""
        while self._queue and self._queue[0].epoch.is_cancelled:
            self._queue.popleft()
        if not self._queue:
            return None
        known_s = [link.mean_busy_s for link in self._links if link.mean_busy_s is not None]
        slow_s = _SLOW_FACTOR * min(known_s, default=float("inf"))
        free = [
            link for link in self._links if len(link.outstanding) < self._share(link, slow_s)
        ]
        return min(free, key=lambda link: len(link.outstanding), default=None)

    def _share(self, link: Link, slow_s: float) -> int:
        # A request that waits behind another one at a slow data worker holds up its epoch.
        is_slow = link.mean_busy_s is not None and link.mean_busy_s > slow_s
        return 1 if is_slow else self._credits


def _pinned(outcome: Outcome, pin: Callable[[object], object]) -> Outcome:
    try:
        value = pin(outcome.value)
    except Exception as error:  # noqa: BLE001  anything that torch or a batch type may raise
        failure = DataServiceError(
            f"A batch from {outcome.server} could not be copied to pinned memory ({error}). "
            "Leave pin_memory out."
        )
        return Outcome(None, failure, outcome.server, outcome.received_bytes, outcome.busy_s)
    server, received_bytes = outcome.server, outcome.received_bytes
    return Outcome(value, None, server, received_bytes, outcome.busy_s)
