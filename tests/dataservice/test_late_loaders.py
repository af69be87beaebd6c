"""What a trainer tells of a loader that is made late, and what a data worker makes of it."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils.data import Dataset, Subset, TensorDataset, default_collate

from smtc_lab.dataservice import placement
from smtc_lab.dataservice.late_loaders import building, landmarks, telling
from smtc_lab.dataservice.late_loaders.building import built
from smtc_lab.dataservice.late_loaders.landmarks import Charted, Landmarks
from smtc_lab.dataservice.late_loaders.telling import Telling, described
from smtc_lab.dataservice.source import LoaderSource
from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    from collections.abc import Callable


class Numbers(Dataset[Any]):
    def __init__(self, start: int = 0) -> None:
        self.start = start
        self.names = ["a", "b"]
        self.seen: list[Any] = []

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> int:
        return self.start + index

    def together(self, samples: list[int]) -> list[int]:
        return samples


class Closing:
    """Nothing of the network may make one: it does something when it ends."""

    def __call__(self, samples: Any) -> Any:
        return samples

    def __del__(self) -> None:
        pass


def source_of(dataset: object, collate_fn: Callable[[Any], object]) -> LoaderSource:
    return LoaderSource(dataset=dataset, collate_fn=collate_fn, auto_collation=True)


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The script's variables at its first iteration, which is when a test charts them."""
    found: dict[str, Any] = {"train": Numbers(), "held": {"valid": [Numbers(100)]}}
    for module in (landmarks, telling, building):
        monkeypatch.setattr(module, "is_of_script", lambda file: file == __file__)
    return found


def chart(variables: dict[str, Any]) -> Landmarks:
    placement.note_first_iteration(Charted({"__main__": variables}))
    return Landmarks({"__main__": dict(variables)})


def there(source: LoaderSource, here: Landmarks) -> LoaderSource:
    return built(described(source), here)


def test_what_was_there_is_found_by_its_path_and_is_the_same(variables: dict[str, Any]) -> None:
    here = chart(variables)
    valid = variables["held"]["valid"][0]

    came = there(source_of(valid, valid.together), here)

    assert came.dataset is valid
    assert came.collate_fn == valid.together


def test_what_is_new_is_made_of_its_attributes(variables: dict[str, Any]) -> None:
    here = chart(variables)
    new = Subset(variables["train"], [2, 0])

    came: Any = there(source_of(new, default_collate), here)

    assert came.dataset is not new
    assert came.dataset.dataset is variables["train"]
    assert [came.dataset[0], came.dataset[1]] == [2, 0]
    assert came.collate_fn is default_collate


def test_tensors_of_a_new_dataset_are_told(variables: dict[str, Any]) -> None:
    here = chart(variables)

    came: Any = there(source_of(TensorDataset(torch.arange(3)), default_collate), here)

    assert came.dataset[2] == (torch.tensor(2),)


@pytest.mark.parametrize(
    "change",
    [
        lambda it: setattr(it, "start", 7),
        lambda it: it.names.append("c"),
        lambda it: it.names.__setitem__(0, "z"),
        lambda it: it.seen.append((torch.ones(1), 2)),
    ],
    ids=["number", "longer list", "other list", "tensors"],
)
def test_a_dataset_that_has_changed_is_told_as_it_is_now(
    variables: dict[str, Any], change: Callable[[Any], object]
) -> None:
    here = chart({**variables, "train": Numbers()})  # the data instance's own
    charted = variables["train"]
    placement.note_first_iteration(Charted({"__main__": variables}))
    change(charted)

    came: Any = there(source_of(charted, default_collate), here)

    assert came.dataset is not charted
    assert (came.dataset.start, came.dataset.names) == (charted.start, charted.names)
    assert len(came.dataset.seen) == len(charted.seen)


def test_a_tensor_that_was_written_to_is_told_as_it_is_now(variables: dict[str, Any]) -> None:
    variables["data"] = TensorDataset(torch.zeros(3))
    here = Landmarks({"__main__": {"data": TensorDataset(torch.zeros(3))}})
    chart(variables)
    variables["data"].tensors[0][1] = 5

    came: Any = there(source_of(variables["data"], default_collate), here)

    assert came.dataset[1][0] == 5


def test_an_object_that_was_replaced_is_not_taken_for_the_old_one(
    variables: dict[str, Any],
) -> None:
    here = chart(variables)
    variables["train"] = Numbers(50)

    came: Any = there(source_of(variables["train"], default_collate), here)

    assert came.dataset[0] == 50


def test_a_function_that_is_defined_later_has_the_scripts_code_and_its_own_values(
    variables: dict[str, Any],
) -> None:
    def make(scale: int) -> Callable[[list[int]], list[int]]:
        return lambda samples, shift=1: [one * scale + shift for one in samples]

    variables["make"] = make
    here = chart(variables)

    came = there(source_of(variables["train"], make(10)), here)

    assert came.collate_fn([1, 2]) == [11, 21]


def test_a_partial_of_a_known_function_is_told(variables: dict[str, Any]) -> None:
    variables["sort"] = scaled
    here = chart(variables)

    came = there(source_of(variables["train"], functools.partial(scaled, by=3)), here)

    assert came.collate_fn([1, 2]) == [3, 6]


def scaled(samples: list[int], by: int) -> list[int]:
    return [one * by for one in samples]


def test_what_cannot_be_told_is_named(variables: dict[str, Any]) -> None:
    chart(variables)
    new = Numbers()
    new.lock = threading.Lock()  # type: ignore[attr-defined]  # as scripts do

    with pytest.raises(
        DataServiceError, match=r"the dataset \(Numbers\)'s lock holds a .*lock"
    ):
        described(source_of(new, default_collate))


def test_equal_constructions_have_one_name_and_others_another(
    variables: dict[str, Any],
) -> None:
    chart(variables)
    names = [
        Telling(source_of(Subset(variables["train"], indices), default_collate), None).name
        for indices in ([1], [1], [2])
    ]

    assert names[0] == names[1] != names[2]


@pytest.mark.parametrize(
    "told",
    [
        ["made", "subprocess", "Popen", ["dict", []]],
        ["made", __name__, "Closing", ["dict", []]],
        ["made", "not.imported", "Numbers", ["dict", []]],
        ["at", ["__main__", "module", "system"]],
        ["at", ["__main__", "held", "valid", 7]],
        ["at", ["__main__", "train", "__class__"]],
        ["method", ["at", ["__main__", "train"]], "nothing"],
        ["torch", "load"],
        [
            "function",
            "os",
            ["os.py", "system", 1, ""],
            ["value", None],
            ["value", None],
            ["value", []],
        ],
        ["unknown"],
        [],
        None,
    ],
    ids=str,
)
def test_nothing_is_made_that_is_not_a_part_of_a_loader(
    variables: dict[str, Any], told: object
) -> None:
    here = Landmarks({"__main__": {**variables, "module": threading}})
    construction = {
        "dataset": ["at", ["__main__", "train"]],
        "collate_fn": told,
        "auto_collation": True,
        "length": 4,
    }

    with pytest.raises(DataServiceError):
        built(construction, here)


def test_a_dataset_of_another_length_is_refused(variables: dict[str, Any]) -> None:
    told = described_with_length(variables, 5)

    with pytest.raises(DataServiceError, match="has 5 samples there, but 4 here"):
        built(told, Landmarks({"__main__": variables}))


def described_with_length(variables: dict[str, Any], length: int) -> dict[str, object]:
    chart(variables)
    return described(source_of(variables["train"], default_collate)) | {"length": length}
