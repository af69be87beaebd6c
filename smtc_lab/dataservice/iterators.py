"""The iterators of our dataloader: over a client, and in the trainer itself."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sized
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import _utils as torch_utils
from torch.utils.data.dataloader import _BaseDataLoaderIter

from smtc_lab.dataservice.local import host_name
from smtc_lab.dataservice.messages import BatchRequest, Outcome, failure_text, to_error
from smtc_lab.dataservice.seeding import preserved_random_state, stream_seed
from smtc_lab.dataservice.source import BatchFailure, Place, make_batch, shown, source_of
from smtc_lab.dataservice.statistics import LOCAL, LoaderStatistics

if TYPE_CHECKING:
    from smtc_lab.dataservice.client import Client
    from smtc_lab.dataservice.dataloader import DataLoader
    from smtc_lab.dataservice.epoch import Epoch


class _SeededIterator(_BaseDataLoaderIter):
    """Draws indices exactly as torch does, and knows where in the run each sample stands."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        self._begin_epoch(loader)

    def _begin_epoch(self, loader: DataLoader[Any]) -> None:
        seed = torch.initial_seed() if loader.seed is None else loader.seed
        self._seed = stream_seed(seed, self._rank)
        self._epoch_number = loader.take_epoch()
        self._position = 0

    def _next_place(self) -> tuple[object, Place]:
        """Return the next indices of the sampler, and where their first sample stands."""
        indices: Any = self._next_index()  # type: ignore[no-untyped-call]
        place = Place(self._seed, self._epoch_number, self._position)
        if self._auto_collation and not isinstance(indices, Sized):
            indices = list(indices)
        self._position += len(indices) if self._auto_collation else 1
        return indices, place

    def _pin(self) -> Callable[[object], object] | None:
        if not self._pin_memory:
            return None
        return functools.partial(
            _pin_memory,
            device=self._pin_memory_device,
            index=torch.accelerator.current_device_index(),
        )


class InProcessIterator(_SeededIterator):
    """Prepares batches in the trainer, as torch does it with ``num_workers=0``.

    Unlike torch's, it leaves the trainer's own random generators as they are.
    """

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        self._source = source_of(loader)
        self._statistics = LoaderStatistics(loader.record)

    def _next_data(self) -> object:
        try:
            indices, place = self._next_place()
        except StopIteration:
            self._statistics.hand_over()
            raise
        started_s = time.perf_counter()
        with preserved_random_state():
            try:
                batch = make_batch(self._source, indices, place)
            except BatchFailure as failure:
                said = failure_text(failure, f"{host_name()} (in the trainer)")
                raise to_error(said) from failure.__cause__
        pin = self._pin()
        if pin is not None:
            batch = pin(batch)
        took_s = time.perf_counter() - started_s
        self._statistics.add_batch(Outcome(batch, None, LOCAL, 0, took_s), took_s)
        if self._statistics.is_due():
            self._statistics.hand_over()
        return batch


class ServiceIterator(_SeededIterator):
    """Asks a client for batches, ahead of the trainer within the client's window."""

    def __init__(self, loader: DataLoader[Any], client: Client) -> None:
        self._client = client
        self._loader_name = loader.loader_name
        self._in_order = loader.in_order
        self._epoch: Epoch | None = None
        super().__init__(loader)

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:  # noqa: FBT001, FBT002  torch's signature
        super()._reset(loader, first_iter)  # type: ignore[no-untyped-call]
        self._begin_epoch(loader)

    def _begin_epoch(self, loader: DataLoader[Any]) -> None:
        super()._begin_epoch(loader)
        if self._epoch is not None:
            self._client.end_epoch(self._epoch)
        self._sampler_error: Exception | None = None
        self._is_sampled = False
        self._seen_version = -1
        self._epoch = self._client.begin_epoch(self, in_order=self._in_order, pin=self._pin())
        self._ask_ahead(self._epoch)

    def _next_data(self) -> object:
        epoch = self._epoch
        assert epoch is not None  # noqa: S101  set by _begin_epoch
        started_s = time.monotonic()
        if self._seen_version != self._client.ledger.version:
            self._seen_version = self._client.ledger.version
            self._client.tend()
        self._ask_ahead(epoch)
        while not epoch.is_ready():
            if self._is_sampled and not epoch.undelivered:
                self._client.end_epoch(epoch)
                raise self._sampler_error or StopIteration
            self._client.wait(epoch, started_s, self._timeout)
            self._ask_ahead(epoch)
        outcome = epoch.pop()
        get_wait_s = time.monotonic() - started_s
        self._ask_ahead(epoch)
        self._client.count(outcome, get_wait_s)
        if outcome.error is not None:
            raise outcome.error
        return outcome.value

    def _ask_ahead(self, epoch: Epoch) -> None:
        while not self._is_sampled and epoch.undelivered < self._client.ledger.window:
            try:
                indices, place = self._next_place()
            except StopIteration:
                self._is_sampled = True
                return
            except Exception as error:  # noqa: BLE001  the sampler's own; raised in its place
                self._is_sampled = True
                self._sampler_error = error
                return
            request = BatchRequest(loader=self._loader_name, place=place, indices=indices)
            self._client.ask(epoch, request.pack, shown(indices))


def _pin_memory(batch: object, *, device: str | None, index: int) -> object:
    # A new thread would otherwise set up a context on the first device.
    torch.accelerator.set_device_index(index)
    pinned: object = torch_utils.pin_memory.pin_memory(batch, device)  # type: ignore[no-untyped-call]
    return pinned
