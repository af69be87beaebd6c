"""Iterable-style datasets in a data worker: streams whose batches can be asked for by position.

A stream is what one worker process of ``torch.utils.data.DataLoader`` iterates: the dataset as
it is where ``get_worker_info()`` says number i of N. It may live in any data worker, and
nothing that matters is lost with it: the next data worker that is asked begins it anew and goes
on to the position that is wanted.

**What is promised.** Exactly once, bit-identical, wherever and however often a stream is begun:
for a dataset whose iteration depends only on its state when the data worker was started, on
``get_worker_info()``, on ``worker_init_fn``, and on ``random``, torch's and numpy's global
generators, which are seeded before each sample by (seed, epoch, stream, number of the sample).

**What is not.** A stream that is begun anew sees what its source gives *then*. From a source
that forgets what it gave (a queue, a socket) each sample comes at most once: what a lost data
worker took and had not delivered is gone, and so is what the new stream takes to reach its
position. From a source that gives another sequence each time (the clock, a folder that fills)
samples may come twice or never. A stream is begun anew where a data worker was lost, and where
one of a data server has time for it (``client.streams.homes``).

**What it costs.** A stream that is begun anew iterates all samples before its position, though
it does not collate them. An exception that one of these raises takes the wanted batch's place.
"""

from __future__ import annotations

import copy
import traceback
from collections import OrderedDict
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from smtc_lab.dataservice.seeding import sample_seeds, seed_sample, seed_worker, worker_seed
from smtc_lab.dataservice.source import BatchFailure, StreamPlace, StreamSource
from smtc_lab.dataservice.worker_info import new_worker_info, set_worker_info, worker_info

if TYPE_CHECKING:
    from collections.abc import Iterable

# No epoch and no sample has these numbers; 2**64 - 1 is taken by stream_seed as an epoch.
_STREAMS = 2**64 - 2
_BEGIN = 2**64 - 1


class StreamEnd(Exception):  # noqa: N818  not an error: it says that a stream is complete
    """The stream has no batch at the position that was asked for, nor at any after it."""


class OpenStreams:
    """The streams of one loader that go on where they stand. Not for several threads.

    It forgets the one that was not asked for longest, and when one begins, those of former
    epochs. To ask for these again costs time, and nothing else.
    """

    def __init__(self, *, max_open: int = 64, copies: bool = True) -> None:
        """Open none yet.

        Args:
            max_open: Streams to keep, at least 1.
            copies: Whether each stream iterates a copy of the dataset, as torch's workers do;
                without, iterate one at a time. A dataset that cannot be copied deeply (it has a
                lock, a queue, an open file) is copied without what it refers to, which streams
                then share; a large one says with ``__deepcopy__`` what they may share.
        """
        self._max_open = max_open
        self._copies = copies
        self._streams: OrderedDict[StreamPlace, _OpenStream] = OrderedDict()

    def batch(self, source: StreamSource, place: StreamPlace) -> object:
        """Return one batch of a stream.

        The stream goes forward to a later position than its own, and begins anew for an
        earlier one. An exception takes the place of a batch, as in torch: the samples before it
        are lost, and the next position goes on behind it. It ends a generator, so there the
        next position has no batch; nor has it where the stream could not begin.

        Raises:
            StreamEnd: The stream has fewer batches.
            BatchFailure: The dataset, ``worker_init_fn`` or ``collate_fn`` raised.
        """
        begin = replace(place, position=0)
        stream = self._streams.pop(begin, None)
        if stream is not None and stream.position > place.position:
            stream.close()
            stream = None
        if stream is None:
            self._close_former(begin)
            stream = _OpenStream(source, begin, copies=self._copies)
        self._streams[begin] = stream
        while len(self._streams) > self._max_open:
            self._streams.popitem(last=False)[1].close()
        return stream.batch(place.position)

    def close(self) -> None:
        """Close all streams; the ``finally`` blocks of generators run."""
        while self._streams:
            self._streams.popitem()[1].close()

    def _close_former(self, begin: StreamPlace) -> None:
        # Only when a stream begins, so that two epochs that are iterated at once, as by
        # zip(loader, loader), do not close each other's streams again and again.
        for other in list(self._streams):
            if other.seed == begin.seed and other.epoch < begin.epoch:
                self._streams.pop(other).close()


class _OpenStream:
    """One iterator of a dataset, from its begin on."""

    def __init__(self, source: StreamSource, begin: StreamPlace, *, copies: bool) -> None:
        self.position = 0
        """Number of the batch that it makes next; when it has ended, how many it has."""
        self._source = source
        self._place = begin
        self._copies = copies
        self._seed = sample_seeds(begin.seed, _STREAMS, begin.stream)[0]
        self._iterator: Iterator[object] | None = None
        self._info: Any = None
        self._num_samples = 0
        self._is_ended = False

    def batch(self, position: int) -> object:
        """Return the batch of a position that it has not passed."""
        with self._as_worker():
            while self.position < position:
                # What it raises is raised for the wanted batch. The trainer may have heard of
                # it before, but to swallow what is new would lose samples silently.
                self._take()
            data = self._take()
            try:
                return self._source.collate_fn(data)
            except Exception as error:
                raise self._failure(f"Batch {position}") from error

    def close(self) -> None:
        """End it, and let go of what it iterated."""
        iterator, self._iterator, self._is_ended = self._iterator, None, True
        if isinstance(iterator, Generator):
            try:
                with self._as_worker():
                    iterator.close()
            except Exception:  # noqa: BLE001  the user's, and nobody waits for a batch of it
                traceback.print_exc()

    def _take(self) -> object:
        """Return the samples of the next batch, not collated."""
        self.position += 1
        try:
            return self._samples()
        except StreamEnd:
            self.position -= 1
            self._info = None  # it holds the dataset
            raise

    def _begin(self) -> Iterator[object]:
        place, dataset = self._place, self._source.dataset
        try:
            if self._copies:
                dataset = _own(dataset)
            if place.num_streams:
                # As in torch: the seeds of an epoch's streams are consecutive.
                self._info = new_worker_info(
                    number=place.stream,
                    num_workers=place.num_streams,
                    seed=worker_seed(place.seed, place.epoch, place.stream),
                    dataset=dataset,
                )
                set_worker_info(self._info)
            if self._info is None:
                seed_sample(self._seed, place.epoch, _BEGIN)
            else:
                seed_worker(self._seed, place.epoch, _BEGIN, for_torch=self._info.seed)
            if place.num_streams and self._source.worker_init_fn is not None:
                self._source.worker_init_fn(place.stream)
            return iter(cast("Iterable[object]", dataset))
        except Exception as error:
            self.close()
            raise self._failure("The begin") from error

    def _samples(self) -> object:
        if self._is_ended:
            raise StreamEnd
        if self._iterator is None:
            self._iterator = self._begin()
        iterator, size = self._iterator, self._source.batch_size
        if size is None:
            return self._next(iterator)
        samples: list[object] = []
        with suppress(StreamEnd):
            while len(samples) < size:
                samples.append(self._next(iterator))
        if not samples or (self._source.drop_last and len(samples) < size):
            raise StreamEnd
        return samples

    def _next(self, iterator: Iterator[object]) -> object:
        number = self._num_samples
        self._num_samples += 1
        # Before each sample, so that it does not matter what else this process made meanwhile.
        seed_sample(self._seed, self._place.epoch, number)
        try:
            return next(iterator)
        except StopIteration:
            self.close()
            raise StreamEnd from None
        except Exception as error:
            raise self._failure(f"Sample {number}") from error

    def _failure(self, what: str) -> BatchFailure:
        return BatchFailure(f"{what} of stream {self._place.stream} could not be prepared")

    @contextmanager
    def _as_worker(self) -> Iterator[None]:
        """Let the dataset see who it is; in a data worker that has other streams as well."""
        before = worker_info()
        set_worker_info(self._info)
        try:
            yield
        finally:
            set_worker_info(before)


def _own(dataset: object) -> object:
    try:
        return copy.deepcopy(dataset)
    except Exception:  # noqa: BLE001  whatever it holds may raise anything to say that it cannot
        return copy.copy(dataset)
