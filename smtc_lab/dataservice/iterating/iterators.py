"""The iterators of our dataloader: over a client, and in the trainer itself."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sized
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import torch
import torch.utils.data.dataloader as torch_dataloader

from smtc_lab.dataservice.protocol.messages import Answer, BatchRequest
from smtc_lab.dataservice.seeding import stream_seed
from smtc_lab.dataservice.source import BatchPlace
from smtc_lab.dataservice.torch_names import check_fields, needed, optional
from smtc_lab.errors import DataServiceError, DatasetChangedError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from smtc_lab.dataservice.client.client import Client
    from smtc_lab.dataservice.client.epoch import Epoch
    from smtc_lab.metrics.records.records import LoaderRecord

    class _TorchBase:
        _IterableDataset_len_called: int | None
        _auto_collation: bool
        _num_yielded: int
        _pin_memory: bool
        _pin_memory_device: str | None
        _rank: int
        _timeout: float

        def __init__(self, loader: torch_dataloader.DataLoader[Any]) -> None: ...
        def __next__(self) -> object: ...
        def _next_data(self) -> object: ...
        def _next_index(self) -> Any: ...  # noqa: ANN401  whatever the sampler yields
        def _reset(self, loader: Any, first_iter: bool = False) -> None: ...  # noqa: ANN401, FBT001, FBT002  torch's signature

else:
    _TorchBase = needed("torch.utils.data.dataloader:_BaseDataLoaderIter")
    for _method in ("_next_data", "_next_index", "_reset"):
        needed(f"torch.utils.data.dataloader:_BaseDataLoaderIter.{_method}")

_PIN = "torch.utils.data._utils.pin_memory:pin_memory"
_PROFILES = "torch.autograd.profiler:_is_profiler_enabled"


_T_co = TypeVar("_T_co", covariant=True)


class IteratedLoader(torch_dataloader.DataLoader[_T_co]):
    """What the iterators ask of their loader, beside what torch's has."""

    seed: int | None
    """Seed of the random transforms; None: ``torch.initial_seed()`` of each pass."""

    record: Callable[[LoaderRecord], None] | None
    """Gets a record for each server about twice a second; None: nobody does."""

    allow_pickle: bool
    """Whether data servers may send objects of unknown types as pickles."""

    epoch = 0
    """Number of the next pass over the loader, which decides the random transforms. Set it
    when training is resumed from a checkpoint."""

    first_batch = 0
    """Number of the batch that the next pass begins with; the sampler's before it are left."""

    is_reset = False
    """Whether the next pass has to draw as one of data workers that persist does: not their
    seed, which the first pass has drawn."""

    def take_epoch(self) -> int:
        """Return the number of the pass that begins now."""
        epoch = self.epoch
        self.epoch = epoch + 1
        return epoch


class SeededIterator(_TorchBase):
    """Draws indices exactly as torch does, and knows where in the run each sample stands."""

    def __init__(self, loader: IteratedLoader[Any]) -> None:
        """Begin an epoch.

        Raises:
            DataServiceError: This torch's iterators are other ones.
        """
        generator = loader.generator or torch.default_generator
        drawn = generator.get_state() if loader.is_reset else None
        super().__init__(loader)
        if drawn is not None:
            generator.set_state(drawn)
            loader.is_reset = False
        check_fields(self)
        self._asks_profiler = optional(_PROFILES) is None
        self._begin_epoch(loader)

    def __next__(self) -> object:
        """Return the next batch."""
        # Torch asks it in the same way.
        profiles = self._asks_profiler or torch.autograd.profiler._is_profiler_enabled  # noqa: SLF001
        if profiles or self._IterableDataset_len_called is not None:
            return super().__next__()
        # To tell no profiler of a small batch costs torch more than the batch.
        batch = self._next_data()
        self._num_yielded += 1
        return batch

    def _begin_epoch(self, loader: IteratedLoader[Any]) -> None:
        seed = torch.initial_seed() if loader.seed is None else loader.seed
        self._seed = stream_seed(seed, self._rank)
        self._epoch_number = loader.take_epoch()
        self._position = 0
        first, loader.first_batch = loader.first_batch, 0
        for _ in range(first):
            self._next_place()

    def _next_place(self) -> tuple[object, BatchPlace]:
        """Return the next indices of the sampler, and where their first sample stands."""
        indices = self._next_index()
        place = BatchPlace(self._seed, self._epoch_number, self._position)
        if self._auto_collation and not isinstance(indices, Sized):
            indices = list(indices)
        self._position += len(indices) if self._auto_collation else 1
        return indices, place

    def _pin(self) -> Callable[[Answer], Answer] | None:
        if not self._pin_memory:
            return None
        return functools.partial(
            _pinned,
            device=self._pin_memory_device,
            index=torch.accelerator.current_device_index(),
        )


class ServiceIterator(SeededIterator):
    """Asks a client for batches, ahead of the trainer within the client's window."""

    def __init__(self, loader: IteratedLoader[Any], client: Client) -> None:
        self._client = client
        self._takes_pickle = loader.allow_pickle
        self._in_order = loader.in_order
        self._epoch: Epoch | None = None
        super().__init__(loader)

    def _reset(self, loader: IteratedLoader[Any], first_iter: bool = False) -> None:  # noqa: FBT001, FBT002  torch's signature
        super()._reset(loader, first_iter)
        self._begin_epoch(loader)

    def _begin_epoch(self, loader: IteratedLoader[Any]) -> None:
        super()._begin_epoch(loader)
        if self._epoch is not None:
            self._client.end_epoch(self._epoch)
        self._sampler_error: Exception | None = None
        self._is_sampled = False
        self._seen_version = -1
        self._epoch = self._client.begin_epoch(
            self, in_order=self._in_order, pin=self._pin(), number=self._epoch_number
        )
        if loader.num_workers:
            self._ask_ahead(self._epoch)
        # else the sampler draws its order with the first batch, as torch's does then

    def _next_data(self) -> object:
        epoch = self._epoch
        assert epoch is not None  # noqa: S101  set by _begin_epoch
        started_s = time.monotonic()
        self._client.note_visit(started_s)
        if self._seen_version != self._client.ledger.version:
            self._seen_version = self._client.ledger.version
            self._client.tend()
        self._ask_ahead(epoch)
        was_ready = epoch.is_ready()
        outcome = self._next_outcome(epoch, started_s)
        get_wait_s = time.monotonic() - started_s
        if isinstance(outcome.error, DatasetChangedError):  # it is made again, and counted then
            raise outcome.error
        self._client.count(outcome, get_wait_s, was_ready=was_ready)
        if outcome.error is not None:
            raise outcome.error
        return outcome.value

    def _next_outcome(self, epoch: Epoch, started_s: float) -> Answer:
        while True:
            while not epoch.is_ready():
                if self._is_sampled and not epoch.undelivered:
                    self._client.end_epoch(epoch, is_complete=True)
                    raise self._sampler_error or StopIteration
                self._client.wait(epoch, started_s, self._timeout)
                self._ask_ahead(epoch)
            request, outcome = self._client.pop(epoch)
            if self._is_batch(request.order, outcome):
                return outcome
            self._ask_ahead(epoch)

    def _is_batch(self, order: int, outcome: Answer) -> bool:
        """Take note of an outcome; return whether the trainer gets it."""
        del order
        return not outcome.is_end

    def _ask_ahead(self, epoch: Epoch) -> None:
        """Ask for batches within the window; several at once where they come fast."""
        if self._is_sampled:
            return
        ledger = self._client.ledger
        room = ledger.crew.window - epoch.undelivered
        if room > min(ledger.crew.share, ledger.crew.window // 4) // 2 or not epoch.undelivered:
            # A list, because the sampler's own code must not run under the ledger's lock.
            ledger.ask(epoch, list(self._next_requests(epoch, room)))

    def _next_requests(
        self, epoch: Epoch, count: int
    ) -> Iterator[tuple[Callable[[int], list[memoryview]], object, Hashable]]:
        """Yield what to ask for next: message, samples, and the stream that it belongs to."""
        del epoch
        for _ in range(count):
            try:
                indices, place = self._next_place()
            except StopIteration:
                self._is_sampled = True
                return
            except Exception as error:  # noqa: BLE001  the sampler's own; raised in its place
                self._is_sampled = True
                self._sampler_error = error
                return
            request = BatchRequest(
                place=place, indices=indices, takes_pickle=self._takes_pickle
            )
            yield request.pack, indices, None


def _pinned(outcome: Answer, *, device: str | None, index: int) -> Answer:
    """Return an outcome whose batch lies in pinned memory; what lies there is not copied."""
    if outcome.error is not None or outcome.is_end:
        return outcome
    try:
        # A new thread would otherwise set up a context on the first device.
        torch.accelerator.set_device_index(index)
        value: object = needed(_PIN)(outcome.value, device)
    except Exception as error:  # noqa: BLE001  anything that torch or a batch type may raise
        failure = DataServiceError(
            f"A batch from {outcome.server} could not be copied to pinned memory ({error}). "
            "Leave pin_memory out."
        )
        return replace(outcome, value=None, error=failure)
    return replace(outcome, value=value)
