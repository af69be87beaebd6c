"""The iterators of our dataloader over iterable-style datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from smtc_lab.dataservice.iterating.in_process import InProcessIterator
from smtc_lab.dataservice.iterating.iterators import ServiceIterator
from smtc_lab.dataservice.iterating.rotation import Rotation, Turn
from smtc_lab.dataservice.protocol.messages import BatchRequest
from smtc_lab.dataservice.source import StreamPlace, StreamSource
from smtc_lab.dataservice.streams import OpenStreams, StreamEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from smtc_lab.dataservice.client.client import Client
    from smtc_lab.dataservice.client.epoch import Epoch
    from smtc_lab.dataservice.iterating.iterators import IteratedLoader
    from smtc_lab.dataservice.protocol.messages import Answer

_MAX_STREAMS = 2**16


class InProcessStreamIterator(InProcessIterator):
    """Iterates all streams in the trainer."""

    def __init__(self, loader: IteratedLoader[Any]) -> None:
        super().__init__(loader)
        self._num_streams = loader.num_workers
        self._rotation = Rotation(self._num_streams, in_order=True)
        # Without data workers torch iterates the dataset itself.
        self._streams = OpenStreams(copies=self._num_streams > 0, max_open=_MAX_STREAMS)

    def _next_maker(self) -> Callable[[], object]:
        return self._make_batch

    def _make_batch(self) -> object:
        source = cast("StreamSource", self._source)
        while (turn := self._rotation.next()) is not None:
            place = StreamPlace(
                self._seed, self._epoch_number, turn.stream, self._num_streams, turn.position
            )
            try:
                return self._streams.batch(source, place)
            except StreamEnd:
                self._rotation.ended(turn.stream, turn.position)
        raise StopIteration


class StreamServiceIterator(ServiceIterator):
    """Asks for the batches of all streams in torch's order."""

    def __init__(self, loader: IteratedLoader[Any], client: Client) -> None:
        self._num_streams = loader.num_workers
        super().__init__(loader, client)

    def _begin_epoch(self, loader: IteratedLoader[Any]) -> None:
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
            request = BatchRequest(place=place, takes_pickle=self._takes_pickle)
            named = f"{turn.position} of stream {turn.stream}"
            yield request.pack, named, turn.stream

    def _is_batch(self, order: int, outcome: Answer) -> bool:
        turn = self._turns.pop(order)
        if outcome.is_end and self._epoch is not None:
            gone = self._rotation.ended(turn.stream, turn.position)
            self._client.ledger.vanish(self._epoch, [one.order for one in gone])
            return False
        return not outcome.is_end and self._rotation.delivered(turn)
