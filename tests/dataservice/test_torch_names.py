from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import torch

import smtc_lab
from smtc_lab.dataservice.dataloader import DataLoader
from smtc_lab.dataservice.serving.collating import collate_into
from smtc_lab.dataservice.torch_names import ITERATOR_FIELDS, WHAT_FOR, needed

if TYPE_CHECKING:
    from collections.abc import Callable

from smtc_lab.errors import DataServiceError

AT_IMPORT = {
    "torch.utils.data._utils.worker:WorkerInfo": "worker_info",
    "torch.utils.data._utils.worker:_worker_info": "worker_info",
    "torch.utils.data.dataloader:DataLoader._get_iterator": "dataloader",
    "torch.utils.data.dataloader:_BaseDataLoaderIter": "iterating.iterators",
    "torch.utils.data.dataloader:_BaseDataLoaderIter._next_index": "iterating.iterators",
    "torch.utils.data.dataloader:_BaseDataLoaderIter._next_data": "iterating.iterators",
    "torch.utils.data.dataloader:_BaseDataLoaderIter._reset": "iterating.iterators",
}
"""Names that are asked for when a module of ours is imported, and which one."""


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that takes a name out of this torch until the test ends."""
    resolve = pkgutil.resolve_name
    missing: set[str] = set()

    def resolved(name: str) -> Any:
        if name in missing:
            raise AttributeError(name)
        return resolve(name)

    monkeypatch.setattr(pkgutil, "resolve_name", resolved)
    return missing.add


def told(name: str, what_for: str) -> str:
    return (
        f"torch {torch.__version__} has no {name.replace(':', '.')}, which {what_for}. "
        f"smtc_lab {smtc_lab.__version__} was tested with torch 2.9 to 2.15; use one of these, "
        "or torch's own DataLoader."
    )


@pytest.mark.parametrize("name", WHAT_FOR)
def test_this_torch_has_every_name_and_one_that_it_lacks_is_told(
    name: str, without: Callable[[str], None]
) -> None:
    needed(name)
    without(name)

    with pytest.raises(DataServiceError) as caught:
        needed(name)

    assert str(caught.value) == told(name, WHAT_FOR[name])


@pytest.mark.parametrize("name", AT_IMPORT)
def test_our_dataloader_is_not_there_without_a_name(name: str) -> None:
    # In a process of its own: this one has imported everything.
    module, _, path = name.partition(":")
    owner, _, attribute = path.rpartition(".")
    program = (
        f"import {module} as module\n"
        f"delattr({f'module.{owner}' if owner else 'module'}, {attribute!r})\n"
        f"import smtc_lab.dataservice.{AT_IMPORT[name]}\n"
    )

    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert told(name, WHAT_FOR[name]) in ended.stderr


@pytest.mark.parametrize("field", ITERATOR_FIELDS)
def test_an_iterator_that_lacks_a_field_is_told(
    field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataloader = importlib.import_module("torch.utils.data.dataloader")
    base = dataloader._BaseDataLoaderIter
    plain = base.__init__

    def init(self: Any, loader: Any) -> None:
        plain(self, loader)
        delattr(self, field)

    monkeypatch.setattr(base, "__init__", init)
    name = f"torch.utils.data.dataloader:_BaseDataLoaderIter.{field}"

    with pytest.raises(DataServiceError) as caught:
        iter(DataLoader(list(range(4)), batch_size=2))  # type: ignore[arg-type]

    assert str(caught.value) == told(name, ITERATOR_FIELDS[field])


def test_batches_come_without_the_profilers_flag(
    without: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    without("torch.autograd.profiler:_is_profiler_enabled")
    monkeypatch.delattr(torch.autograd.profiler, "_is_profiler_enabled")

    class Fresh(torch.utils.data.Dataset[int]):
        def __getitem__(self, index: int) -> int:
            return index

        def __len__(self) -> int:
            return 4

    batches = [batch.tolist() for batch in DataLoader(Fresh(), batch_size=2)]

    assert batches == [[0, 1], [2, 3]]


@pytest.mark.parametrize("name", ["collate_tensor_fn", "default_collate_fn_map"])
def test_batches_are_stacked_by_torch_where_nobody_else_can(
    name: str, without: Callable[[str], None]
) -> None:
    def take(_: int) -> torch.Tensor:
        raise AssertionError("nobody asks for memory of ours")

    without(f"torch.utils.data._utils.collate:{name}")

    collate_into(take)

    stacked = torch.utils.data.default_collate([torch.ones(2), torch.zeros(2)])
    assert stacked.tolist() == [[1, 1], [0, 0]]
