"""Makes the batches that clients ask a data worker for."""

from __future__ import annotations

import os
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.dataservice.late_loaders.building import built
from smtc_lab.dataservice.protocol.messages import Hello, ToldLoader, failure_text
from smtc_lab.dataservice.protocol.remedies import SAME_LOADERS
from smtc_lab.dataservice.protocol.wire import Kind, pack
from smtc_lab.dataservice.seeding import seed_worker, worker_seed
from smtc_lab.dataservice.source import BatchFailure, StreamPlace, StreamSource, make_batch
from smtc_lab.dataservice.streams import OpenStreams, StreamEnd
from smtc_lab.dataservice.worker_info import new_worker_info, set_worker_info
from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smtc_lab.dataservice.late_loaders.landmarks import Landmarks
    from smtc_lab.dataservice.protocol.ended import EndedWorker
    from smtc_lab.dataservice.protocol.leaves import Share
    from smtc_lab.dataservice.protocol.messages import BatchRequest
    from smtc_lab.dataservice.source import BatchPlace, LoaderSource
    from smtc_lab.machine.quota.vcpu import Vcpu


_MOST_TOLD = 64
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

    def __str__(self) -> str:
        return f"{self.host} (data worker {self.number})"


class BatchMaker:
    """Makes batches of any of the loaders, one at a time."""

    def __init__(
        self,
        sources: Mapping[str, LoaderSource],
        identity: Identity,
        *,
        share: Share | None,
        landmarks: Landmarks | None = None,
        vcpu: Vcpu | None = None,
    ) -> None:
        self._sources = dict(sources)
        self._landmarks = landmarks
        self._told: deque[str] = deque()
        self._identity = identity
        self._share = share
        self._vcpu = vcpu
        self._current: LoaderSource | None = None
        self._initialized: set[str] = set()
        self._streams = OpenStreams()

    def hello(self) -> list[memoryview]:
        """Return the message that says who this is and which loaders it serves."""
        identity, sources = self._identity, self._sources
        return Hello(
            host=identity.host,
            data_worker=identity.number,
            num_data_workers=identity.num_data_workers,
            loaders={name: source.num_samples for name, source in sources.items()},
            pid=os.getpid(),
            before=identity.before,
        ).pack()

    def answer(
        self, number: int, request: BatchRequest | ToldLoader, *, put_wait_s: float
    ) -> list[memoryview]:
        """Return the message with the batch, or with the reason why there is none.

        To a loader that is told of it is a hello that names it, or the reason as well.

        Args:
            number: Number of the request.
            request: What is asked for.
            put_wait_s: What the message says of the batch before it, in seconds.
        """
        started_s = time.perf_counter()
        try:
            if isinstance(request, ToldLoader):
                self._learn(request)
                return self.hello()
            batch = self._make(request)
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

    def _learn(self, told: ToldLoader) -> None:
        if told.name in self._sources:
            return
        if self._landmarks is None:
            raise DataServiceError("this data server follows no script")
        self._sources[told.name] = built(told.construction, self._landmarks)
        self._told.append(told.name)
        if len(self._told) > _MOST_TOLD:
            del self._sources[self._told.popleft()]

    def _make(self, request: BatchRequest) -> object:
        source, place = self._source(request.loader), request.place
        if isinstance(source, StreamSource) and isinstance(place, StreamPlace):
            return self._streams.batch(request.loader, source, place)
        if isinstance(source, StreamSource) or isinstance(place, StreamPlace):
            raise DataServiceError(
                f"Loader {request.loader!r} is iterable-style at one end of the connection "
                f"only. {SAME_LOADERS}"
            )
        self._enter(request.loader, source, place)
        return make_batch(source, request.indices, place)

    def _source(self, loader: str) -> LoaderSource:
        source = self._sources.get(loader)
        if source is None:
            raise DataServiceError(
                f"There is no loader {loader!r} here, only "
                f"{', '.join(map(repr, self._sources)) or 'none'}. {SAME_LOADERS}"
            )
        return source

    def _enter(self, loader: str, source: LoaderSource, place: BatchPlace) -> None:
        """Set ``get_worker_info`` up for a source; initialize the process for it once.

        Datasets keep what each of the loader's ``num_workers`` has by its id, so no id is
        beyond them, and without any there is none.
        """
        number, asked = self._identity.number, source.num_workers
        told = number % asked if asked else number
        if source is not self._current:
            self._current = source
            is_none = asked == 0 and source.worker_init_fn is None
            info = new_worker_info(
                number=told,
                num_workers=asked or self._identity.num_data_workers,
                seed=worker_seed(place.seed, _ANY_EPOCH, number),
                dataset=source.dataset,
            )
            set_worker_info(None if is_none else info)
        if loader not in self._initialized:
            if source.worker_init_fn is not None:
                own_seed = worker_seed(place.seed, _ANY_EPOCH, number)
                seed_worker(place.seed, _ANY_EPOCH, number, for_torch=own_seed)
                try:
                    source.worker_init_fn(told)
                except Exception as error:
                    raise BatchFailure("worker_init_fn failed") from error
            self._initialized.add(loader)
