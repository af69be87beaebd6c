"""Datasets find what is of each data worker by ``get_worker_info``, as in torch's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from torch.utils.data import Dataset, get_worker_info

if TYPE_CHECKING:
    from collections.abc import Callable


class Readers(Dataset[Any]):
    """Has one reader for each data worker, and one for the trainer."""

    def __init__(self, num_workers: int) -> None:
        self.readers = [f"reader {number} of {num_workers}" for number in range(num_workers)]

    def __len__(self) -> int:
        return 40

    def __getitem__(self, index: int) -> str:
        worker = get_worker_info()
        if worker is None:
            return "trainer"
        assert worker.num_workers == len(self.readers)
        return self.readers[worker.id]


@pytest.mark.parametrize(
    ("num_workers", "expected"),
    [
        (0, {"trainer"}),
        (1, {"reader 0 of 1"}),
        (2, {"reader 0 of 2", "reader 1 of 2"}),
    ],
)
def test_no_data_worker_has_an_id_beyond_those_that_the_script_asks_for(
    place_at: Callable[..., Any], num_workers: int, expected: set[str]
) -> None:
    loader = place_at("server and local", Readers(num_workers), num_workers=num_workers)

    assert {name for batch in loader for name in batch} <= expected
