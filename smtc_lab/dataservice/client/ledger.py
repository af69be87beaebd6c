"""The trainer's ledger: what was asked of whom, what came back, what is asked again.

All threads of a client meet here. Servers hold no state that matters: a request that is not
answered is asked of whoever has a credit left. An answer counts once.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from typing import TYPE_CHECKING

from smtc_lab.dataservice.client.crew import credit
from smtc_lab.dataservice.client.crew.crew import Crew
from smtc_lab.dataservice.client.crew.losses import Losses, give_up
from smtc_lab.dataservice.client.epoch import Request
from smtc_lab.dataservice.client.journal import no_journal
from smtc_lab.dataservice.client.statistics import LOCAL
from smtc_lab.dataservice.client.streams.homes import EpochHomes
from smtc_lab.dataservice.protocol.messages import Answer
from smtc_lab.dataservice.protocol.remedies import SAME_VERSION
from smtc_lab.errors import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from smtc_lab.dataservice.client.epoch import Epoch, Link
    from smtc_lab.dataservice.client.journal import Journal
    from smtc_lab.dataservice.protocol.ended import EndedWorker
    from smtc_lab.errors import DataServiceError


class Ledger:
    """Requests of one client. Safe to use from all threads."""

    def __init__(
        self,
        *,
        credits_per_link: int | None = None,
        journal: Journal = no_journal,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin with nothing asked.

        Args:
            credits_per_link: Requests that one data worker may hold; None: as many as its
                speed and the size of the batches ask for.
            journal: Gets what happens, under the lock.
            on_change: Called when the trainer should look: a link came or went, or nothing can
                be delivered any more.
        """
        self.crew = Crew(credits_per_link)
        """Who is connected, and how much may be asked."""
        self._homes = EpochHomes()
        self._journal = journal
        self._on_change = on_change
        # Reentrant, because a finalizer may come between any two lines.
        self._lock = threading.RLock()
        self._asked = 0
        self._queue: deque[Request] = deque()
        self._sent_again: Counter[str] = Counter()
        self._losses = Losses()
        self._hedged = 0
        self.version = 0
        """Rises whenever a link comes or goes, or nothing can be delivered any more."""
        self.error: DataServiceError | None = None
        """Why nothing can be delivered any more; None while all is well."""

    def ask(
        self,
        epoch: Epoch,
        requests: Iterable[tuple[Callable[[int], list[memoryview]], object, Hashable]],
    ) -> None:
        """Ask for the next batches of an epoch.

        Args:
            epoch: Who wants them.
            requests: For each what returns the message for a request number, the sample
                indices, and the stream that it must stay with (None: none).
        """
        with self._lock:
            for message, indices, stream in requests:
                number, self._asked = self._asked, self._asked + 1
                request = Request(number, epoch.asked, epoch, message(number), indices, stream)
                epoch.waiting[request.order] = request
                epoch.asked += 1
                self._homes.of(epoch).note_asked(stream)
                self._queue.append(request)
                self._journal.asked(request)
        self._dispatch()
        self._use_time(epoch)

    def attach(self, link: Link) -> None:
        """Give a connected data worker its share from now on."""
        with self._lock:
            self.crew.join(link)
            self._changed()
        self._dispatch()

    def detach(self, link: Link, *, failed: bool = True) -> None:
        """Take back what a data worker that is gone has not answered.

        Args:
            link: Its link.
            failed: Whether it went by itself; False: it was ended on purpose.
        """
        with self._lock:
            if link not in self.crew:
                return
            self.crew.leave(link)
            held = list(link.outstanding.values())
            link.outstanding.clear()
            self._journal.lost(link, [request.number for request in held])
            for request in held:
                request.links.remove(link)
            lost = [one for one in held if not one.is_answered and not one.links]
            if lost and failed and self.error is None:
                self._losses.add(link, lost[0])
                self._sent_again[link.server] += len(lost)
            again = [one for one in lost if not give_up(one, link.server)]
            if self.error is None:
                # In the order asked: a stream that goes back to an earlier batch begins anew.
                self._queue = deque(
                    sorted([*again, *self._queue], key=lambda request: request.number)
                )
            self._changed()
        self._dispatch()

    def explain(self, link: Link, ended: EndedWorker) -> None:
        """Take note of how the data worker of a link that is gone has ended."""
        with self._lock:
            if self._losses.explain(link, ended):
                self._changed()

    def settle(self, link: Link, number: int, outcome: Answer) -> None:
        """Take the answer of a data worker; a late or repeated one is dropped.

        Raises:
            ProtocolError: Nothing with this number was ever asked.
        """
        request = link.outstanding.get(number)
        if request is None:
            if not 0 <= number < self._asked:
                raise ProtocolError(
                    f"{link.server} answered request {number}, which was never asked. "
                    f"{SAME_VERSION}"
                )
            self._journal.dropped(number, link)
            return
        epoch = request.epoch
        if epoch.pin is not None and not request.is_answered:
            outcome = epoch.pin(outcome)
        with self._lock:
            homes = self._homes.of(epoch)
            self.crew.note(link, outcome, is_usual=not homes.is_catching_up(request, link))
            if homes.counts(request, link, outcome):
                self._journal.answered(request, link, outcome)
                # Before it is taken off the link: Ctrl-C between the lines must lose nothing.
                epoch.put(request, outcome)
            else:
                self._journal.dropped(number, link)
            if link.outstanding.pop(number, None) is not None:
                request.links.remove(link)
            if self._queue:
                self._dispatch()
            self._use_time(epoch)

    def hedge(self, epoch: Epoch, now_s: float) -> float:
        """Ask elsewhere too for what holds the trainer up much longer than usual.

        Args:
            epoch: What the trainer waits for.
            now_s: The monotonic clock.

        Returns:
            Seconds after which it is worth while to look again.
        """
        with self._lock:
            request = epoch.awaited()
            if request is None or not request.links:
                return credit.LEAST_PATIENCE_S
            patience_s = credit.patience_s(request, list(self.crew))
            if now_s - request.sent_s < patience_s:
                return patience_s - (now_s - request.sent_s)
            late = request.links[-1]
            late.suspected_since_s = late.suspected_since_s or now_s
            budget = credit.hedges_allowed(self.crew.answered) - self._hedged
            overdue = [
                one
                for one in late.outstanding.values()
                if one.links[-1] is late and not one.is_answered
            ]
            self._ask_elsewhere(overdue[: max(0, budget)])
            return credit.LEAST_PATIENCE_S

    def suspects(self, now_s: float, patience_s: float) -> list[Link]:
        """Return the links that have owed an answer for so long, each once."""
        with self._lock:
            found = [
                link
                for link in self.crew
                if link.suspected_since_s is not None
                and not link.is_reported
                and now_s - link.suspected_since_s >= patience_s
            ]
            for link in found:
                link.is_reported = True
            return found

    def vanish(self, epoch: Epoch, orders: Iterable[int]) -> None:
        """Take note that a stream ended before some of its batches that were asked for."""
        with self._lock:
            for order in orders:
                request = epoch.waiting.get(order)
                if request is not None:
                    epoch.put(request, Answer(None, None, LOCAL, 0, 0.0, is_end=True))

    def touch(self) -> None:
        """Wake the trainer: something happened that it should look at."""
        with self._lock:
            self._changed()

    def take_sent_again(self) -> Counter[str]:
        """Return how many requests were asked again since the last call, by server."""
        with self._lock:
            taken, self._sent_again = self._sent_again, Counter()
            return taken

    def fail(self, error: DataServiceError) -> None:
        """Note why nothing can be delivered any more; the trainer raises it."""
        with self._lock:
            self.error = self.error or error
            self._queue.clear()
            self._changed()

    def _changed(self) -> None:
        self.version += 1
        self._on_change()

    def _dispatch(self) -> None:
        """Send queued requests for as long as there are credits."""
        with self._lock:
            taken: dict[Link, list[Request]] = {}
            kept: list[Request] = []
            while self._queue and len(kept) <= len(self.crew):
                request = self._queue.popleft()
                if request.is_answered:
                    continue
                link = self._link_for(request)
                if link is None:
                    kept.append(request)
                    if request.stream is None:
                        break
                    continue
                self._hand(request, link)
                taken.setdefault(link, []).append(request)
            self._queue.extendleft(reversed(kept))
            for link, place in self.crew.places_of_slower(len(self._queue)):
                if (request := self._queue[place]).stream is None:
                    del self._queue[place]
                    self._hand(request, link)
                    taken.setdefault(link, []).append(request)
            for link, requests in taken.items():
                link.send(requests)

    def _hand(self, request: Request, link: Link) -> None:
        link.outstanding[request.number] = request
        request.links.append(link)
        request.sent_s = time.monotonic()
        self._homes.of(request.epoch).settle(request, link)
        self._journal.sent(request, link)

    def _link_for(self, request: Request) -> Link | None:
        """Return the link that should get a request now; None: nobody has a credit."""
        homes = self._homes.of(request.epoch)
        return (
            self.crew.next() if request.stream is None else homes.link_for(request, self.crew)
        )

    def _use_time(self, epoch: Epoch) -> None:
        """Let data workers that have nothing to do try to take streams over."""
        with self._lock:
            for link, request in self._homes.of(epoch).new_tries(self.crew, epoch.waiting):
                link.outstanding[request.number] = request
                self._journal.sent(request, link)
                link.send([request])

    def _ask_elsewhere(self, requests: Sequence[Request]) -> None:
        for request in requests:
            link = self._homes.of(request.epoch).at(request.stream)
            if link is None or link in request.links or link not in self.crew:
                link = self.crew.next(excluded=request.links, are_slower_too=True)
            if link is None or not self.crew.has_room(link):
                return
            self._sent_again[request.links[-1].server] += 1
            self._hedged += 1
            self._hand(request, link)
            link.send([request])
