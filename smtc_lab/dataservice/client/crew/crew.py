"""The data workers that are connected, and what each of them may hold now."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from smtc_lab.dataservice.client.crew import credit
from smtc_lab.dataservice.client.statistics import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from smtc_lab.dataservice.client.epoch import Link
    from smtc_lab.dataservice.protocol.messages import Answer

_SMOOTHING = 0.2
# Differences below this say more about who waited for a processor than about who is slow.
_PREEMPTED_S = 0.02
_SMOOTHING_UP = 0.05
_SMOOTHING_DOWN = 0.5
_WEIGH_EVERY = 16
_QUICK_S = 0.0005


class Crew:
    """The links of one client. Not safe by itself: the ledger's lock guards it."""

    def __init__(self, credits_per_link: int | None) -> None:
        self._fixed_credits = credits_per_link
        self._shares: dict[Link, int] = {}
        self._beginners: set[Link] = set()
        self._turns: deque[Link] = deque()
        self._slower: set[Link] = set()
        self._batch_bytes = 0
        self.answered = 0
        """Answers that came."""
        self.window = credit.LEAST_CREDITS
        """Batches of an epoch that may be asked for and not delivered yet."""
        self.share = credit.LEAST_CREDITS
        """Requests that one data worker may hold now, at most."""

    def __len__(self) -> int:
        return len(self._shares)

    def __iter__(self) -> Iterator[Link]:
        return iter(list(self._shares))

    def __contains__(self, link: object) -> bool:
        return link in self._shares

    @property
    def num_remote(self) -> int:
        """Data workers of data servers."""
        return sum(link.server != LOCAL for link in self)

    def join(self, link: Link) -> None:
        """Take a data worker in."""
        self._shares[link] = 0
        self._turns.append(link)
        self._weigh()

    def leave(self, link: Link) -> None:
        """Let a data worker go."""
        del self._shares[link]
        self._beginners.discard(link)
        self._turns.remove(link)
        self._weigh()

    def note(self, link: Link, outcome: Answer, *, is_usual: bool = True) -> None:
        """Learn from an answer how fast a data worker is, and how large batches are.

        Args:
            link: Whose answer it is.
            outcome: The answer.
            is_usual: Whether it tells how long a batch takes.
        """
        self.answered += 1
        link.suspected_since_s, link.is_reported = None, False
        if outcome.error is None and not outcome.is_end:
            self._batch_bytes = max(self._batch_bytes, outcome.received_bytes)
            if is_usual:
                link.mean_busy_s = self._mean_s(link, outcome.busy_s)
        every = max(_WEIGH_EVERY, len(self._shares))
        if self.answered % every == 0 or self.answered < _WEIGH_EVERY:
            self._weigh()

    def _mean_s(self, link: Link, busy_s: float) -> float:
        """Return what a data worker needs for a batch, now that it has made one more."""
        mean_s = link.mean_busy_s
        if mean_s is None:
            self._beginners.add(link)
            return busy_s
        if link in self._beginners:
            self._beginners.discard(link)
            if busy_s < mean_s:  # the first one also took what it takes to begin
                return busy_s
        smoothing = _SMOOTHING
        if max(busy_s, mean_s) < _PREEMPTED_S:
            smoothing = _SMOOTHING_UP if busy_s > mean_s else _SMOOTHING_DOWN
        return mean_s + smoothing * (busy_s - mean_s)

    def has_room(self, link: Link) -> bool:
        """Return whether a data worker may hold one request more."""
        is_trusted = link.suspected_since_s is None or len(self._shares) == 1
        return is_trusted and len(link.outstanding) < self._shares[link]

    def next(
        self, excluded: Sequence[Link] = (), *, are_slower_too: bool = False
    ) -> Link | None:
        """Return the data worker whose turn it is to be asked; None: none has room.

        Args:
            excluded: Who is not asked.
            are_slower_too: Whether those that are clearly slower than others have a turn, too.
        """
        for _ in range(len(self._turns)):
            link = self._turns[0]
            is_free = self.has_room(link) and link not in excluded
            is_free &= are_slower_too or link not in self._slower
            # One that is quick gets all that it may hold at once: to wake it costs more than
            # to make a batch.
            if not (is_free and link.mean_busy_s is not None and link.mean_busy_s < _QUICK_S):
                self._turns.rotate(-1)
            if is_free:
                return link
        return None

    def places_of_slower(self, queued: int) -> list[tuple[Link, int]]:
        """Return what those that are clearly slower take out of the queue, in this order.

        Each has the first request that it has done before the others come to it. One that has
        made a single batch has the last, if there is no such: that batch also took what it
        takes to begin.

        Args:
            queued: Length of the queue; each takes a request out of it.
        """
        quick = self._shares.keys() - self._slower
        found = []
        for link in sorted(
            filter(self.has_room, self._slower), key=lambda one: one.mean_busy_s or 0
        ):
            place = credit.first_for(link, quick)
            if link in self._beginners:
                place = min(place, queued - 1)
            if 0 <= place < queued:
                found.append((link, place))
                queued -= 1
        return found

    def _weigh(self) -> None:
        """Settle anew how much each data worker may hold."""
        links = list(self._shares)
        self._slower = credit.slower(links)
        shares = credit.shares(links, self._fixed_credits, self._batch_bytes)
        self.window = credit.window(links, shares, self._batch_bytes, beginners=self._beginners)
        if self._fixed_credits is None:
            lumps = [credit.lump(link.mean_busy_s, self._batch_bytes) for link in links]
            shares = list(map(max, shares, lumps))
        self._shares = dict(zip(links, shares, strict=True))
        self.share = max(shares, default=credit.LEAST_CREDITS)
