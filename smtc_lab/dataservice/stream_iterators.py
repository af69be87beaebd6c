"""The iterators of our dataloader over iterable-style datasets."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, cast

from smtc_lab.dataservice.iterators import InProcessIterator, ServiceIterator
from smtc_lab.dataservice.messages import BatchRequest
from smtc_lab.dataservice.rotation import Rotation, Turn
from smtc_lab.dataservice.source import StreamPlace, StreamSource
from smtc_lab.dataservice.streams import OpenStreams, StreamEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from smtc_lab.dataservice.client import Client
    from smtc_lab.dataservice.dataloader import DataLoader
    from smtc_lab.dataservice.epoch import Epoch
    from smtc_lab.dataservice.messages import Outcome


class InProcessStreamIterator(InProcessIterator):
    """Iterates one stream in the trainer, as torch does it with ``num_workers=0``."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        self._streams = OpenStreams(copies=False)

    def _next_maker(self) -> Callable[[], object]:
        number, self._position = self._position, self._position + 1
        place = StreamPlace(self._seed, self._epoch_number, 0, 0, number)
        return functools.partial(self._make_batch, place)

    def _make_batch(self, place: StreamPlace) -> object:
        try:
            return self._streams.batch("", cast("StreamSource", self._source), place)
        except StreamEnd:
            raise StopIteration from None


class StreamServiceIterator(ServiceIterator):
    """Asks for the batches of all streams in torch's order."""

    def __init__(self, loader: DataLoader[Any], client: Client) -> None:
        self._num_streams = loader.num_workers
        super().__init__(loader, client)

    def _begin_epoch(self, loader: DataLoader[Any]) -> None:
        self._rotation = Rotation(self._num_streams, in_order=loader.in_order)
        self._turns: dict[int, Turn] = {}
        super()._begin_epoch(loader)

    def _next_requests(
        self, epoch: Epoch, count: int
    ) -> Iterator[tuple[Callable[[int], list[memoryview]], object, Hashable]]:
        for order in range(epoch.asked, epoch.asked + count):
            turn = self._rotation.next()
            if turn is None:
                self._is_sampled = True
                return
            self._turns[order] = turn
            place = StreamPlace(
                self._seed, self._epoch_number, turn.stream, self._num_streams, turn.position
            )
            request = BatchRequest(loader=self._loader_name, place=place)
            named = f"{turn.position} of stream {turn.stream}"
            yield request.pack, named, turn.stream

    def _is_batch(self, order: int, outcome: Outcome) -> bool:
        turn = self._turns.pop(order)
        if outcome.is_end:
            self._rotation.ended(turn.stream, turn.position)
        else:
            self._rotation.delivered(turn)
        return not outcome.is_end
