"""One contract for every placement: the batches of ``torch.utils.data.DataLoader``."""

from __future__ import annotations

import inspect
import random
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
import torch
from torch.utils.data import BatchSampler, Dataset
from torch.utils.data import DataLoader as TorchDataLoader
from torch.utils.data.datapipes.iter import IterableWrapper

from smtc_lab.dataservice.dataloader import DataLoader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NUM_SAMPLES = 37


class Squares(Dataset[Any]):
    """No randomness, so torch's own batches are the reference."""

    def __len__(self) -> int:
        return NUM_SAMPLES

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return torch.full((2, 3), float(index)), index * index


class Point(NamedTuple):
    x: torch.Tensor
    label: str


class Nested(Dataset[Any]):
    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {
            "image": torch.arange(index, index + 6).reshape(2, 3).t(),
            "point": Point(torch.tensor(index), f"näme {index}"),
            "pair": (index, [float(index), np.float32(index)]),
            "ordered": OrderedDict(half=torch.tensor(index, dtype=torch.bfloat16)),
            "flag": index % 2 == 0,
        }


class Images(Dataset[Any]):
    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.full((3, 64, 64), index / 8)


def channels_last(samples: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    images = torch.stack(samples)
    return {
        "images": images.contiguous(memory_format=torch.channels_last),
        "small": images[:, :, :2, :2].contiguous(memory_format=torch.channels_last),
        "inputs": images.clone().requires_grad_(),
    }


class Noisy(Dataset[Any]):
    """A random transform of every kind."""

    def __len__(self) -> int:
        return NUM_SAMPLES

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {
            "index": index,
            "torch": torch.rand(3),
            "numpy": np.random.rand(2),  # noqa: NPY002  what transforms use
            "python": random.random(),  # noqa: S311  what transforms use
        }


class Backwards:
    """A sampler of one's own."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(NUM_SAMPLES - 1, -1, -1))

    def __len__(self) -> int:
        return NUM_SAMPLES


class Named(Dataset[Any]):
    def __getitem__(self, name: tuple[str, int]) -> str:
        return f"{name[0]}-{name[1]}"


def same(ours: Any, theirs: Any) -> bool:
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, torch.Tensor):
        return ours.dtype == theirs.dtype and torch.equal(ours, theirs)
    if isinstance(ours, np.ndarray):
        return ours.dtype == theirs.dtype and bool(np.array_equal(ours, theirs))
    if isinstance(ours, dict):
        return list(ours) == list(theirs) and all(same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list | tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return bool(ours == theirs)


def epochs(loader: Any, count: int = 2) -> list[list[Any]]:
    torch.manual_seed(11)
    return [list(loader) for _ in range(count)]


ARGUMENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "shuffled": lambda: {"batch_size": 5, "shuffle": True},
    "last batch dropped": lambda: {"batch_size": 5, "shuffle": True, "drop_last": True},
    "generator": lambda: {
        "batch_size": 4,
        "shuffle": True,
        "generator": torch.Generator().manual_seed(5),
    },
    "own sampler": lambda: {"batch_size": 6, "sampler": Backwards()},
    "own batch sampler": lambda: {"batch_sampler": BatchSampler(Backwards(), 7, False)},
    "batch sampler of tuples": lambda: {"batch_sampler": [(1, 2), (3,), (4, 5, 6)]},
    "no batches": lambda: {"batch_size": None, "shuffle": True},
    "own collate_fn": lambda: {"batch_size": 4, "collate_fn": lambda samples: samples},
}


@pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS.keys())
def test_batches_are_those_of_torch(
    place: Callable[..., Any], arguments: Callable[[], dict[str, Any]]
) -> None:
    loader = place(Squares(), **arguments())

    assert same(epochs(loader), epochs(TorchDataLoader(Squares(), **arguments())))


def test_nested_batches_are_those_of_torch(place: Callable[..., Any]) -> None:
    loader = place(Nested(), batch_size=5)

    assert same(epochs(loader, 1), epochs(TorchDataLoader(Nested(), batch_size=5), 1))


def test_images_keep_their_memory_format_and_inputs_want_their_gradient(
    place: Callable[..., Any],
) -> None:
    loader = place(Images(), batch_size=4, collate_fn=channels_last)

    for batch, whole in zip(loader, torch.arange(8.0).reshape(2, 4) / 8, strict=True):
        for name in ("images", "small"):
            assert batch[name].is_contiguous(memory_format=torch.channels_last)
            assert torch.equal(batch[name][:, 2, 1, 0], whole)
        batch["inputs"].square().sum().backward()
        assert torch.equal(batch["inputs"].grad[:, 0, 0, 0], 2 * whole)


def test_samples_can_be_asked_for_by_anything(place: Callable[..., Any]) -> None:
    names = [("a", 1), ("b", 2), ("c", 3)]

    loader = place(Named(), sampler=names, batch_size=2)

    assert list(loader) == [["a-1", "b-2"], ["c-3"]]


def test_an_empty_dataset_gives_no_batches(place: Callable[..., Any]) -> None:
    assert list(place(Squares(), batch_sampler=[])) == []


def test_persistent_workers_draw_as_those_of_torch(place_at: Callable[..., Any]) -> None:
    arguments = {"batch_size": 5, "shuffle": True, "num_workers": 1, "persistent_workers": True}
    loader = place_at("two local", Squares(), **arguments)

    assert same(epochs(loader, 3), epochs(TorchDataLoader(Squares(), **arguments), 3))


def test_random_transforms_do_not_depend_on_who_prepares_a_sample(
    place: Callable[..., Any],
) -> None:
    arguments = {"batch_size": 5, "shuffle": True}
    here = DataLoader(Noisy(), **arguments)

    first, second = epochs(place(Noisy(), **arguments))

    assert same([first, second], epochs(here))
    assert not same(first[0]["torch"], second[0]["torch"])


def test_random_transforms_follow_the_seed_that_was_given(place: Callable[..., Any]) -> None:
    loader = place(Noisy(), batch_size=4)
    loader.seed = 5
    torch.manual_seed(99)

    first = next(iter(loader))

    here = DataLoader(Noisy(), batch_size=4, seed=5)
    assert same(first, next(iter(here)))


def test_a_resumed_epoch_has_the_transforms_of_its_number(place: Callable[..., Any]) -> None:
    loader = place(Noisy(), batch_size=4)
    loader.seed = 5
    third = [list(loader) for _ in range(3)][2]

    loader.epoch = 2

    assert same(list(loader), third)


def test_preparing_batches_leaves_the_random_state_of_the_trainer_alone() -> None:
    torch.manual_seed(1)
    random.seed(1)
    loader = DataLoader(Noisy(), batch_size=4)
    iterator = iter(loader)
    before = (torch.get_rng_state(), random.getstate(), torch.initial_seed())

    next(iterator)

    assert torch.equal(torch.get_rng_state(), before[0])
    assert random.getstate() == before[1]
    assert torch.initial_seed() == before[2]


def test_batches_without_order_are_the_same_batches(place: Callable[..., Any]) -> None:
    loader = place(Squares(), batch_size=4, in_order=False)

    labels = [label for _, labels in loader for label in labels.tolist()]

    assert sorted(labels) == [index * index for index in range(NUM_SAMPLES)]


def test_an_epoch_can_be_broken_off_and_begun_again(place: Callable[..., Any]) -> None:
    loader = place(Squares(), batch_size=4)

    for _ in range(3):
        for _, labels in loader:
            assert labels.tolist() == [0, 1, 4, 9]
            break

    assert len(list(loader)) == len(loader)


def test_two_passes_over_one_loader_do_not_disturb_each_other(
    place: Callable[..., Any],
) -> None:
    loader = place(Squares(), batch_size=10)

    pairs = [(one[1][0].item(), two[1][0].item()) for one in loader for two in loader]

    assert pairs == [(a * a, b * b) for a in range(0, 37, 10) for b in range(0, 37, 10)]


def test_a_sampler_that_raises_does_so_after_the_batches_before(
    place: Callable[..., Any],
) -> None:
    def sampler() -> Iterator[list[int]]:
        yield [0, 1]
        yield [2]
        raise RuntimeError("no more")

    class Failing:
        def __iter__(self) -> Iterator[list[int]]:
            return sampler()

    iterator = iter(place(Squares(), batch_sampler=Failing()))

    assert [next(iterator)[1].tolist() for _ in range(2)] == [[0, 1], [4]]
    with pytest.raises(RuntimeError, match="no more"):
        next(iterator)


def test_every_argument_of_torch_is_taken_with_its_default() -> None:
    theirs = inspect.signature(TorchDataLoader.__init__).parameters
    ours = inspect.signature(DataLoader.__init__).parameters

    assert list(ours)[: len(theirs)] == list(theirs)
    assert all(ours[name].default == theirs[name].default for name in theirs)
    assert all(ours[name].kind == theirs[name].kind for name in theirs)


@pytest.mark.parametrize(
    "wrong", [{"num_workers": -1}, {"timeout": -1}, {"batch_size": 0}, {"prefetch_factor": 2}]
)
def test_what_torch_refuses_is_refused_alike(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError) as theirs:  # noqa: PT011  whatever torch says
        TorchDataLoader(Squares(), **wrong)

    with pytest.raises(ValueError) as ours:  # noqa: PT011
        DataLoader(Squares(), **wrong)

    assert str(ours.value) == str(theirs.value)


def test_a_datapipe_is_iterated_over_by_torch() -> None:
    assert [
        batch.tolist() for batch in DataLoader(IterableWrapper(range(5)), batch_size=2)
    ] == [
        [0, 1],
        [2, 3],
        [4],
    ]
