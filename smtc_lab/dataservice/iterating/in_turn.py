"""Loaders without data workers, whose batches data servers make all the same.

That is right while the dataset is a function of the index. As soon as it is seen not to be, the
trainer goes on by itself, and makes again what it has not handed out.
"""

from __future__ import annotations

import functools
from collections import deque
from typing import TYPE_CHECKING, Any, cast

from smtc_lab.dataservice.iterating.in_process import made_here
from smtc_lab.dataservice.iterating.iterators import ServiceIterator
from smtc_lab.dataservice.iterating.stream_iterators import StreamServiceIterator
from smtc_lab.dataservice.recipe.watching import DatasetWatch
from smtc_lab.dataservice.source import (
    StreamPlace,
    StreamSource,
    is_map_style,
    make_batch,
    source_of,
)
from smtc_lab.dataservice.streams import OpenStreams, StreamEnd
from smtc_lab.errors import DatasetChangedError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from smtc_lab.dataservice.client.client import Client
    from smtc_lab.dataservice.client.epoch import Epoch
    from smtc_lab.dataservice.iterating.iterators import IteratedLoader
    from smtc_lab.dataservice.protocol.messages import Answer
    from smtc_lab.dataservice.source import BatchPlace

_TORCHS = "torch.utils.data."


class _InTurn(ServiceIterator):
    """Watches the dataset, and goes on alone."""

    def __init__(
        self, loader: IteratedLoader[Any], client: Client, keep: Callable[[str], None]
    ) -> None:
        """Begin an epoch.

        Args:
            loader: A loader without data workers.
            client: Asks data servers.
            keep: Called when the trainer goes on by itself, with the reason.
        """
        self._source = source_of(loader)
        self._watch = DatasetWatch(self._source)
        self._keep = keep
        self._is_alone = False
        super().__init__(loader, client)

    def _next_data(self) -> object:
        epoch = self._epoch
        assert epoch is not None  # noqa: S101  set when the epoch began
        if not self._is_alone and self._watch.is_due(epoch.delivered):
            changed = self._watch.changed()
            if changed is not None:
                self._go_on_alone(changed, epoch.delivered)
        if not self._is_alone:
            try:
                return super()._next_data()
            except DatasetChangedError as error:
                self._take_back()
                self._go_on_alone(str(error), epoch.delivered)
        return made_here(self._next_maker, self._pin(), self._client.statistics)

    def _go_on_alone(self, changed: str, batches: int) -> None:
        self._is_alone = True
        if self._epoch is not None:
            self._client.end_epoch(self._epoch)
        count, before = f"{batches} batch", ""
        if batches > 1:
            count, before = f"{batches} batches", " (those before were made of several copies)"
        self._keep(
            f"{changed} changed after {count}, which those after it are to see, as "
            f"num_workers=0 has it{before}. With num_workers=1 data servers would make them of "
            "a copy"
        )

    def _take_back(self) -> None:
        """Let the batch that came last, which nobody got, be the next one."""
        raise NotImplementedError

    def _next_maker(self) -> Callable[[], object]:
        """Return what makes the next batch here.

        Raises:
            StopIteration: There is none.
        """
        raise NotImplementedError


class InTurnIterator(_InTurn):
    """Over a map-style dataset."""

    def __init__(
        self, loader: IteratedLoader[Any], client: Client, keep: Callable[[str], None]
    ) -> None:
        samplers = (loader.sampler, loader.batch_sampler)
        kinds = [type(each).__module__ for each in samplers if each is not None]
        self._asks_ahead = all(kind.startswith(_TORCHS) for kind in kinds)
        self._asked: deque[tuple[object, BatchPlace]] = deque()
        super().__init__(loader, client, keep)

    def _is_batch(self, order: int, outcome: Answer) -> bool:
        self._taken = self._asked.popleft()
        return super()._is_batch(order, outcome)

    def _take_back(self) -> None:
        self._asked.appendleft(self._taken)

    def _next_maker(self) -> Callable[[], object]:
        if not self._asked and self._sampler_error is not None:
            raise self._sampler_error
        indices, place = self._asked.popleft() if self._asked else self._next_place()
        return functools.partial(make_batch, self._source, indices, place)

    def _ask_ahead(self, epoch: Epoch) -> None:
        # A sampler of the script's own is asked when torch would ask it.
        if self._asks_ahead or not epoch.undelivered:
            super()._ask_ahead(epoch)

    def _next_requests(
        self, epoch: Epoch, count: int
    ) -> Iterator[tuple[Callable[[int], list[memoryview]], object, Hashable]]:
        return super()._next_requests(epoch, count if self._asks_ahead else 1)

    def _next_place(self) -> tuple[object, BatchPlace]:
        indices, place = super()._next_place()
        if not self._is_alone:
            self._asked.append((indices, place))
        return indices, place


class InTurnStreamIterator(_InTurn, StreamServiceIterator):
    """Over an iterable-style dataset."""

    def __init__(
        self, loader: IteratedLoader[Any], client: Client, keep: Callable[[str], None]
    ) -> None:
        self._alone = OpenStreams(copies=False)
        self._handed_out = 0
        super().__init__(loader, client, keep)

    def _begin_epoch(self, loader: IteratedLoader[Any]) -> None:
        self._handed_out = 0
        super()._begin_epoch(loader)

    def _is_batch(self, order: int, outcome: Answer) -> bool:
        is_batch = super()._is_batch(order, outcome)
        self._handed_out += is_batch
        return is_batch

    def _take_back(self) -> None:
        self._handed_out -= 1

    def _next_maker(self) -> Callable[[], object]:
        position, self._handed_out = self._handed_out, self._handed_out + 1
        place = StreamPlace(self._seed, self._epoch_number, 0, 0, position)
        return functools.partial(self._make_batch, place)

    def _make_batch(self, place: StreamPlace) -> object:
        try:
            return self._alone.batch(cast("StreamSource", self._source), place)
        except StreamEnd:
            raise StopIteration from None


def in_turn(
    loader: IteratedLoader[Any], client: Client, keep: Callable[[str], None]
) -> InTurnIterator | InTurnStreamIterator:
    """Return the iterator of a loader without data workers that data servers feed."""
    kind = InTurnIterator if is_map_style(loader) else InTurnStreamIterator
    return kind(loader, client, keep)
