"""Which data worker has which stream of an epoch, and which streams move to one with time.

A stream that moves is begun anew and goes on to its position, which takes time. So a data
worker that has nothing to do *tries*: it is asked for the newest batch of a stream, and for
those that follow, beside the one that has it. If it was asked for all of them when its first
answer comes, it has the stream from then on: nobody has waited for it, and it passes over no
batch, at which it might raise what the trainer has heard of. Otherwise it tries again with what
is newest by then; it comes nearer each time, if it is quicker. Only data workers of data
servers try: those of the trainer leave it their CPU.
"""

from __future__ import annotations

import time
import weakref
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.dataservice.client.statistics import LOCAL

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from smtc_lab.dataservice.client.crew.crew import Crew
    from smtc_lab.dataservice.client.epoch import Epoch, Link, Request
    from smtc_lab.dataservice.protocol.messages import Answer

_LOST_FRACTION = 0.1
"""Share of the epoch's time so far that a move may cost."""

_SHORT_S = 0.5
"""Time that a move may cost in any case, in seconds."""

_TRAINERS_CPU = 2.0
"""A data worker of the trainer takes the CPU of its steps, which counts as so much slower."""


@dataclass(slots=True)
class _Try:
    """A stream that is made up to a batch by a second data worker."""

    link: Link
    order: int
    """The first batch that it was asked for."""
    newest: int
    """The last one."""


class EpochHomes:
    """The homes of each epoch, for as long as that lives."""

    def __init__(self) -> None:
        self._of: weakref.WeakKeyDictionary[Epoch, StreamHomes] = weakref.WeakKeyDictionary()

    def of(self, epoch: Epoch) -> StreamHomes:
        """Return those of an epoch."""
        homes = self._of.get(epoch)
        if homes is None:
            homes = self._of[epoch] = StreamHomes()
        return homes


class StreamHomes:
    """The streams of one epoch. Not safe by itself: the ledger's lock guards it."""

    def __init__(self) -> None:
        self._homes: dict[Hashable, Link] = {}
        self._handed: dict[Hashable, int] = {}
        self._tries: dict[Hashable, _Try] = {}
        self._triers: set[tuple[Hashable, Link]] = set()
        self._hopeless: set[tuple[Hashable, Link]] = set()
        self._asked: Counter[Hashable] = Counter()
        self._began_s = time.monotonic()

    def note_asked(self, stream: Hashable) -> None:
        """Take note that a batch of a stream is wanted; None: of no stream."""
        if stream is not None:
            self._asked[stream] += 1

    def at(self, stream: Hashable) -> Link | None:
        """Return who has a stream; None: nobody."""
        return self._homes.get(stream)

    def settle(self, request: Request, link: Link) -> None:
        """Take note of who has the stream of a request now, if it is of one."""
        if request.stream is not None:
            self._homes[request.stream] = link
            before = self._handed.get(request.stream, 0)
            self._handed[request.stream] = max(before, request.order)

    def link_for(self, request: Request, crew: Crew) -> Link | None:
        """Return who should get a request of a stream; None: nobody who may has room."""
        stream = request.stream
        home = self._homes.get(stream)
        if home is not None and home in crew and home.suspected_since_s is None:
            return home if crew.has_room(home) else None
        tried = self._tries.get(stream)
        if tried is not None and tried.link in crew and crew.has_room(tried.link):
            return tried.link
        free = [link for link in crew if crew.has_room(link)]
        known_s = [link.mean_busy_s for link in free if link.mean_busy_s]
        unknown_s = min(known_s, default=1.0)

        def cost(link: Link) -> tuple[float, bool, int]:
            is_local = link.server == LOCAL
            busy_s = (link.mean_busy_s or unknown_s) * (_TRAINERS_CPU if is_local else 1.0)
            on_server = sum(each.server == link.server for each in self._homes.values())
            return busy_s * (self._count(link) + 1), is_local, on_server

        return min(free, key=cost, default=None)

    def new_tries(
        self, crew: Crew, waiting: dict[int, Request]
    ) -> Iterator[tuple[Link, Request]]:
        """Yield what data workers that try are to be sent, one after the other.

        Args:
            crew: Who is there.
            waiting: What the trainer waits for, by order.
        """
        if not self._asked:
            return
        for stream, tried in list(self._tries.items()):
            if tried.link not in crew:
                del self._tries[stream]
                continue
            for request in waiting.values():
                if request.stream != stream or request.order <= tried.newest:
                    continue
                if not crew.has_room(tried.link):
                    break
                tried.newest = request.order
                request.links.insert(0, tried.link)
                yield tried.link, request
        for link in crew:
            if link.server == LOCAL or link.outstanding or not crew.has_room(link):
                continue
            newest = self._worth_trying(link, waiting)
            if newest is not None:
                self._tries[newest.stream] = _Try(link, newest.order, newest.order)
                self._triers.add((newest.stream, link))
                # Who has the stream stays last: it is judged by how long it takes.
                newest.links.insert(0, link)
                yield link, newest

    def _worth_trying(self, link: Link, waiting: dict[int, Request]) -> Request | None:
        seen: set[Hashable] = set()
        for request in reversed(waiting.values()):
            stream = request.stream
            if stream in seen or stream in self._tries or (stream, link) in self._hopeless:
                continue
            seen.add(stream)
            home = self._homes.get(stream)
            if home is not None and home is not link and self._is_worth(stream, home, link):
                return request
        return None

    def counts(self, request: Request, link: Link, outcome: Answer) -> bool:
        """Take note of an answer; return whether the trainer may get it.

        Who began a stream anew may have met what the trainer has heard of before, so failures
        and ends are left to who has the stream.
        """
        stream = request.stream
        if stream is None:
            return True
        failed = outcome.error is not None or outcome.is_end
        tried = self._tries.get(stream)
        if tried is not None and tried.link is link and tried.order == request.order:
            del self._tries[stream]
            if failed:
                self._hopeless.add((stream, link))
            elif self._handed[stream] <= tried.newest:
                self._homes[stream] = link
        is_at_home = (stream, link) not in self._triers or self._homes.get(stream) is link
        return not failed or is_at_home or len(request.links) == 1

    def is_catching_up(self, request: Request, link: Link) -> bool:
        """Return whether an answer took what its stream needs to come to its position."""
        tried = self._tries.get(request.stream)
        return tried is not None and tried.link is link and tried.order == request.order

    def _count(self, link: Link) -> int:
        return sum(home is link for home in self._homes.values())

    def _is_worth(self, stream: Hashable, home: Link, link: Link) -> bool:
        own = self._count(link)
        if not own:
            return home.server == LOCAL or self._count(home) > 1
        # What it has already waits meanwhile, and it must be quick enough for all of them.
        if home.server != LOCAL or link.mean_busy_s is None or home.mean_busy_s is None:
            return False
        is_quick = link.mean_busy_s * (own + 1) <= home.mean_busy_s
        return is_quick and self._asked[stream] * link.mean_busy_s <= self._affordable_s()

    def _affordable_s(self) -> float:
        return max(_SHORT_S, _LOST_FRACTION * (time.monotonic() - self._began_s))
