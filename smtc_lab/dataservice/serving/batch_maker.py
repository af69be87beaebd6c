"""Makes the batches that a client asks a data worker for."""

from __future__ import annotations

import functools
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from smtc_lab.dataservice.protocol.messages import Hello, failure_text
from smtc_lab.dataservice.protocol.remedies import SAME_VERSION
from smtc_lab.dataservice.protocol.wire import Kind, pack
from smtc_lab.dataservice.seeding import seed_worker, worker_seed
from smtc_lab.dataservice.source import BatchFailure, StreamPlace, StreamSource, make_batch
from smtc_lab.dataservice.streams import OpenStreams, StreamEnd
from smtc_lab.dataservice.worker_info import new_worker_info, set_worker_info
from smtc_lab.errors import DataServiceError, DatasetChangedError

if TYPE_CHECKING:
    from smtc_lab.dataservice.protocol.ended import EndedWorker
    from smtc_lab.dataservice.protocol.leaves import Share
    from smtc_lab.dataservice.protocol.messages import BatchRequest
    from smtc_lab.dataservice.recipe.watching import DatasetWatch
    from smtc_lab.dataservice.source import BatchPlace, LoaderSource
    from smtc_lab.machine.quota.vcpu import Vcpu


_ANY_EPOCH = 2**64 - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """Who a data worker is."""

    host: str
    """Name of its instance."""

    number: int
    """Its number among the data workers of its server or trainer, from 0."""

    num_data_workers: int
    """How many those are."""

    before: EndedWorker | None = None
    """Who had the number before, and has ended."""

    is_in_turn: bool = False
    """Whether it stands for the trainer itself, which would make batches in turn with steps."""

    def __str__(self) -> str:
        return f"{self.host} (data worker {self.number})"


def _watch(source: LoaderSource) -> DatasetWatch:
    # A job without data instances does without what packs.
    from smtc_lab.dataservice.recipe.watching import DatasetWatch  # noqa: PLC0415

    return DatasetWatch(source)


class BatchMaker:
    """Makes batches of one loader, one at a time."""

    def __init__(
        self,
        source: LoaderSource,
        identity: Identity,
        *,
        share: Share | None,
        vcpu: Vcpu | None = None,
    ) -> None:
        self._source = source
        self._identity = identity
        self._share = share
        self._vcpu = vcpu
        self._is_initialized = False
        # In the trainer torch iterates the dataset itself, and a change of it counts.
        self._streams = OpenStreams(copies=not identity.is_in_turn)
        self._watch = _watch(source) if identity.is_in_turn else None
        self._num_made = 0

    def hello(self) -> list[memoryview]:
        """Return the message that says who this is."""
        identity = self._identity
        return Hello(
            host=identity.host,
            data_worker=identity.number,
            num_data_workers=identity.num_data_workers,
            pid=os.getpid(),
            before=identity.before,
        ).pack()

    def answer(
        self, number: int, request: BatchRequest, *, put_wait_s: float
    ) -> list[memoryview]:
        """Return the message with the batch, or with the reason why there is none.

        Args:
            number: Number of the request.
            request: What is asked for.
            put_wait_s: What the message says of the batch before it, in seconds.
        """
        started_s = time.perf_counter()
        try:
            batch = self._looked_at(request, self._make(request))
            if self._vcpu is not None:  # before it says how long it took
                self._vcpu.wait()
            return pack(
                Kind.BATCH,
                number,
                batch,
                busy_s=time.perf_counter() - started_s,
                put_wait_s=put_wait_s,
                share=self._share,
                # The trainer reads those of the data workers that it has forked itself.
                pickles=self._share is not None or request.takes_pickle,
            )
        except StreamEnd:
            return pack(Kind.END, number, None)
        except BaseException as error:  # noqa: BLE001  whatever it is, the trainer must hear it
            return pack(Kind.ERROR, number, failure_text(error, str(self._identity)))

    def _looked_at(self, request: BatchRequest, batch: object) -> object:
        """Return a batch, if what the next ones are made of is as before.

        Raises:
            DatasetChangedError: It is not, and the trainer has to make them itself.
        """
        self._num_made += 1
        if self._watch is None or not self._watch.is_due(self._num_made):
            return batch
        changed = self._watch.changed()
        if changed is not None and self._num_made == 1 and request.indices is not None:
            place = cast("BatchPlace", request.place)
            make = functools.partial(make_batch, self._source, place=place)
            batch, changed = self._watch.settled(changed, make, request.indices, batch)
        if changed is not None:
            raise DatasetChangedError(changed)
        return batch

    def _make(self, request: BatchRequest) -> object:
        source, place = self._source, request.place
        if isinstance(source, StreamSource) and isinstance(place, StreamPlace):
            return self._streams.batch(source, place)
        if isinstance(source, StreamSource) or isinstance(place, StreamPlace):
            raise DataServiceError(
                "The loader is iterable-style at one end of the connection only. "
                f"{SAME_VERSION}"
            )
        if not self._is_initialized:
            self._enter(source, place)
        return make_batch(source, request.indices, place)

    def _enter(self, source: LoaderSource, place: BatchPlace) -> None:
        """Set ``get_worker_info`` up, and initialize the process.

        Datasets keep what each of the loader's ``num_workers`` has by its id, so no id is
        beyond them, and without any there is none.
        """
        number, asked = self._identity.number, source.num_workers
        told = number % asked if asked else number
        own_seed = worker_seed(place.seed, _ANY_EPOCH, number)
        if asked != 0 or source.worker_init_fn is not None:
            info = new_worker_info(
                number=told,
                num_workers=asked or self._identity.num_data_workers,
                seed=own_seed,
                dataset=source.dataset,
            )
            set_worker_info(info)
        if source.worker_init_fn is not None:
            seed_worker(place.seed, _ANY_EPOCH, number, for_torch=own_seed)
            try:
                source.worker_init_fn(told)
            except Exception as error:
                raise BatchFailure("worker_init_fn failed") from error
        self._is_initialized = True
