from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from torch.utils.data import DataLoader, IterableDataset, get_worker_info
from torch.utils.data.datapipes.iter import IterableWrapper

from smtc_lab.dataservice.iterating.rotation import Rotation
from smtc_lab.dataservice.source import (
    BatchFailure,
    StreamPlace,
    StreamSource,
    is_stream_style,
    source_of,
)
from smtc_lab.dataservice.streams import OpenStreams, StreamEnd
from smtc_lab.errors import DataServiceError
from tests.dataservice.streams_kit import (
    SEED,
    Uneven,
    place,
    plain,
    random_state_is_given_back,  # noqa: F401  a fixture for all tests here
    source,
    stream_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

# Of torch's dataloaders: more workers than cores, and Python 3.12: threads and forks.
pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

AHEAD = 5


class Split(IterableDataset[Any]):
    """The idiom of torch's documentation: ``split`` gives each worker's copy its share."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin, self.end = begin, end

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.begin, self.end))


def split(worker: int) -> None:
    info = get_worker_info()
    assert info is not None
    dataset: Any = info.dataset
    share = (dataset.end - dataset.begin) // info.num_workers
    dataset.begin, dataset.end = worker * share, (worker + 1) * share


class OwnIterator(IterableDataset[Any]):
    """Is its own iterator, so two that share it disturb each other."""

    def __iter__(self) -> Iterator[Any]:
        self.next_sample = 0
        return self

    def __next__(self) -> Any:
        if self.next_sample == 9:
            raise StopIteration
        self.next_sample += 1
        return stream_number(), self.next_sample


class Poisoned(OwnIterator):
    """Raises in the middle of a batch, and can go on."""

    def __next__(self) -> Any:
        number, sample = super().__next__()
        if sample == 5:
            raise ValueError("this record is broken")
        return number, sample


class PoisonedGenerator(IterableDataset[Any]):
    """Raises in the middle of a batch, and cannot go on."""

    def __iter__(self) -> Iterator[Any]:
        for sample in range(1, 10):
            if sample == 5:
                raise ValueError("this record is broken")
            yield stream_number(), sample


def torch_batches(loader: DataLoader[Any]) -> list[Any]:
    """Return what torch delivers, with the messages of what it raises."""
    batches = []
    iterator = iter(loader)
    while True:
        try:
            batches.append(plain(next(iterator)))
        except StopIteration:
            return batches
        except ValueError as error:
            batches.append(re.findall("this record is broken", str(error))[-1])


def stream_batches(loader: DataLoader[Any], *, num_data_workers: int = 1) -> list[Any]:
    """Return what streams deliver that are asked ahead, of several data workers in turn."""
    data_workers = [OpenStreams() for _ in range(num_data_workers)]
    served = source_of(loader)
    assert isinstance(served, StreamSource)
    rotation = Rotation(loader.num_workers, in_order=True)
    batches: dict[int, Any] = {}
    while turns := [turn for _ in range(AHEAD) if (turn := rotation.next())]:
        for turn in turns:
            at = StreamPlace(SEED, 0, turn.stream, loader.num_workers, turn.position)
            streams = data_workers[turn.order % num_data_workers]
            try:
                batches[turn.order] = plain(streams.batch(served, at))
            except BatchFailure as failure:
                batches[turn.order] = str(failure.__cause__)
            except StreamEnd:
                rotation.ended(turn.stream, turn.position)
    return [batches[order] for order in sorted(batches)]


@pytest.mark.parametrize("num_workers", [0, 1, 2, 3])
@pytest.mark.parametrize(
    "arguments",
    [
        {"batch_size": 2},
        {"batch_size": 2, "drop_last": True},
        {"batch_size": None},
        {"batch_size": 100, "drop_last": True},
    ],
    ids=str,
)
def test_the_batches_are_torchs(num_workers: int, arguments: dict[str, Any]) -> None:
    loader = DataLoader(Uneven(5, 0, 9), num_workers=num_workers, **arguments)

    assert stream_batches(loader) == torch_batches(loader)


@pytest.mark.parametrize("num_workers", [0, 2])
@pytest.mark.parametrize(
    "dataset",
    [OwnIterator(), Poisoned(), PoisonedGenerator()],
    ids=lambda dataset: type(dataset).__name__,
)
def test_iterators_of_all_kinds_go_on_as_in_torch_after_they_raised(
    dataset: Any, num_workers: int
) -> None:
    loader = DataLoader(dataset, batch_size=3, num_workers=num_workers)

    assert stream_batches(loader) == torch_batches(loader)


def test_worker_init_fn_configures_each_streams_copy_as_in_torch() -> None:
    loader = DataLoader(Split(0, 10), batch_size=2, num_workers=2, worker_init_fn=split)

    assert stream_batches(loader) == torch_batches(loader)


def test_no_workers_are_one_stream_that_sees_no_worker_info() -> None:
    class Seeing(IterableDataset[Any]):
        def __iter__(self) -> Iterator[Any]:
            return iter([get_worker_info()])

    served = source(
        Seeing(), batch_size=None, collate_fn=lambda info: info, worker_init_fn=split
    )

    assert OpenStreams().batch(served, place(0, num_streams=0)) is None


def test_a_failure_names_the_sample_and_its_stream() -> None:
    served = source(PoisonedGenerator(), batch_size=3)
    streams = OpenStreams()
    at = place(1, stream=2, num_streams=3)

    with pytest.raises(BatchFailure, match=r"^Sample 4 of stream 2 could not be prepared$"):
        streams.batch(served, at)


def test_a_collate_fn_that_raises_costs_its_batch_only() -> None:
    def collate(samples: list[Any]) -> Any:
        if (0, 3) in samples:
            raise KeyError("label")
        return samples

    served = source(Uneven(6), batch_size=2, collate_fn=collate)
    streams = OpenStreams()

    with pytest.raises(BatchFailure, match=r"^Batch 1 of stream 0 could not be prepared$"):
        streams.batch(served, place(1))
    assert streams.batch(served, place(2)) == [(0, 4), (0, 5)]


def test_a_dataset_that_cannot_be_iterated_fails_once_and_ends() -> None:
    def init(worker: int) -> None:
        raise FileNotFoundError(f"shard-{worker}.tar")

    served = source(Uneven(6, 6), batch_size=2, num_workers=2, worker_init_fn=init)
    streams = OpenStreams()

    with pytest.raises(BatchFailure, match=r"^The begin of stream 1 could not") as raised:
        streams.batch(served, place(0, stream=1, num_streams=2))
    assert str(raised.value.__cause__) == "shard-1.tar"
    with pytest.raises(StreamEnd):
        streams.batch(served, place(1, stream=1, num_streams=2))


def test_what_fails_only_where_a_stream_begins_anew_is_not_taken_for_its_end() -> None:
    served = source(PoisonedGenerator(), batch_size=2)

    with pytest.raises(BatchFailure, match=r"^Sample 4 of stream 0"):
        OpenStreams().batch(served, place(3))


def test_without_copies_the_dataset_itself_is_iterated() -> None:
    dataset = OwnIterator()

    OpenStreams(copies=False).batch(source(dataset, batch_size=2), place(0, num_streams=0))

    assert dataset.next_sample == 2


def test_a_data_pipe_is_refused_by_name() -> None:
    loader = DataLoader(IterableWrapper([1, 2]))
    name = type(loader.dataset).__name__

    assert not is_stream_style(loader)
    with pytest.raises(DataServiceError, match=f"The dataset {name} is a DataPipe, which data"):
        source_of(loader)
