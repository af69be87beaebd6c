"""What a data worker needs of a dataloader to make its batches, and how it makes one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from torch.utils.data import IterableDataset, IterDataPipe, MapDataPipe

from smtc_lab.dataservice.seeding import seed_sample
from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    from torch.utils.data.dataloader import DataLoader

_SHOWN_SAMPLES = 8


class _MapStyle(Protocol):
    def __getitem__(self, index: object, /) -> object: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class LoaderSource:
    """A map-style dataset, and how its samples become a batch."""

    dataset: object
    """The dataset; data workers hold the copy that was forked with them."""

    collate_fn: Callable[[Any], object]
    """Makes a batch of a list of samples; of one sample without ``auto_collation``."""

    auto_collation: bool
    """Whether a request names the samples of a batch, or a single sample."""

    worker_init_fn: Callable[[int], object] | None = None
    """Called in each data worker before its first batch of this loader, with its number."""

    num_workers: int | None = None
    """Data workers that the script asks for; None: as many as there are. Datasets may count by
    it, wherever batches are made."""

    @property
    def num_samples(self) -> int | None:
        """Length of the dataset; None: it has none."""
        try:
            return len(self.dataset) if isinstance(self.dataset, Sized) else None
        except Exception:  # noqa: BLE001  a dataset may raise anything to say that it has none
            return None


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamSource(LoaderSource):
    """An iterable-style dataset, and how its samples become a batch.

    ``worker_init_fn`` is called whenever a stream begins, with the number of the stream.
    """

    batch_size: int | None
    """Samples in a batch; None: without ``auto_collation``, each sample is a batch."""

    drop_last: bool
    """Whether a stream leaves out its last batch when that is not full."""


@dataclass(slots=True)
class BatchPlace:
    """Where the first sample of a batch stands, which decides its random numbers."""

    seed: int
    """Seed of the run and rank."""

    epoch: int
    """Number of the pass over the loader, from 0."""

    position: int
    """Place of the batch's first sample in the epoch, from 0."""


@dataclass(frozen=True, slots=True)
class StreamPlace:
    """Which batch of which stream is wanted."""

    seed: int
    """Seed of the run and rank."""

    epoch: int
    """Number of the pass over the loader, from 0."""

    stream: int
    """Number of the stream, from 0."""

    num_streams: int
    """How many streams the epoch has; 0: one, that sees no ``get_worker_info()``."""

    position: int
    """Number of the batch in its stream, from 0."""


class BatchFailure(Exception):  # noqa: N818  not an error of its own: it carries the dataset's
    """The dataset, a transform or ``collate_fn`` raised; ``__cause__`` is what it raised."""

    def __init__(self, what: str) -> None:
        self.what = what
        """Which sample could not be prepared, as the begin of a sentence."""
        super().__init__(what)


def is_map_style(loader: DataLoader[object]) -> bool:
    """Return whether the samples of a loader can be asked for by index."""
    return not isinstance(loader.dataset, IterableDataset | IterDataPipe | MapDataPipe)


def is_stream_style(loader: DataLoader[object]) -> bool:
    """Return whether a loader's dataset can be iterated as streams.

    An ``IterDataPipe`` cannot: its graph needs a seed and a sharding that all ranks agree on.
    """
    return isinstance(loader.dataset, IterableDataset) and not isinstance(
        loader.dataset, IterDataPipe
    )


def can_be_served(loader: DataLoader[object]) -> bool:
    """Return whether data workers of ours can prepare the batches of a loader."""
    return is_map_style(loader) or is_stream_style(loader)


def source_of(loader: DataLoader[object]) -> LoaderSource:
    """Return what a data server must serve so that it can feed this loader.

    Args:
        loader: A dataloader, torch's own or ours.

    Raises:
        DataServiceError: The dataset is a DataPipe.
    """
    if is_stream_style(loader):
        return StreamSource(
            dataset=loader.dataset,
            collate_fn=loader.collate_fn,
            auto_collation=loader.batch_size is not None,
            worker_init_fn=loader.worker_init_fn,
            num_workers=loader.num_workers,
            batch_size=loader.batch_size,
            drop_last=loader.drop_last,
        )
    if not is_map_style(loader):
        raise DataServiceError(
            f"The dataset {type(loader.dataset).__name__} is a DataPipe, which data servers "
            "cannot serve: its graph needs a seed and a sharding that all ranks agree on. Give "
            "it a __getitem__ and a __len__, or derive it from IterableDataset."
        )
    return LoaderSource(
        dataset=loader.dataset,
        collate_fn=loader.collate_fn,
        auto_collation=loader.batch_sampler is not None,
        worker_init_fn=loader.worker_init_fn,
        num_workers=loader.num_workers,
    )


def make_batch(source: LoaderSource, indices: object, place: BatchPlace) -> object:
    """Return the batch of some samples, made in this process.

    The random generators are seeded before each sample, or once for the batch where the dataset
    has ``__getitems__``, so the batch is the same wherever it is made. ``collate_fn`` goes on
    with the generators as the last sample left them.

    Args:
        source: Dataset and ``collate_fn``.
        indices: The batch's sample indices; a single index without auto collation.
        place: Where the first of the samples stands.

    Raises:
        BatchFailure: The dataset, a transform or ``collate_fn`` raised anything.
    """
    seed_sample(place.seed, place.epoch, place.position)
    dataset = cast("_MapStyle", source.dataset)
    many = getattr(dataset, "__getitems__", None) if source.auto_collation else None
    data: object
    if many:
        data = _call(many, indices, lambda: f"Samples {shown(indices)}")
    elif source.auto_collation:
        samples: list[object] = []
        for offset, index in enumerate(cast("Iterable[object]", indices)):
            if offset:
                seed_sample(place.seed, place.epoch, place.position + offset)
            samples.append(_call(dataset.__getitem__, index, lambda: f"Sample {shown(index)}"))  # noqa: B023  called at once
        data = samples
    else:
        data = _call(dataset.__getitem__, indices, lambda: f"Sample {shown(indices)}")
    return _call(source.collate_fn, data, lambda: f"The batch of samples {shown(indices)}")


def shown(indices: object) -> str:
    """Return one or many sample indices as text of a length that a message can bear."""
    if isinstance(indices, list | tuple):
        first = ", ".join(str(index)[:80] for index in indices[:_SHOWN_SAMPLES])
        more = len(indices) - _SHOWN_SAMPLES
        return f"{first} and {more} more" if more > 0 else first
    text = repr(indices)
    return text if len(text) <= 200 else f"{text[:197]}..."


def _call(
    function: Callable[[object], object], argument: object, what: Callable[[], str]
) -> object:
    try:
        return function(argument)
    except Exception as error:
        raise BatchFailure(f"{what()} could not be prepared") from error
