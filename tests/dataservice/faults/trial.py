"""A training run in small: a loader whose journal and batches are judged when it is over."""

from __future__ import annotations

import os
import random
import signal
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import Dataset

from smtc_lab.dataservice.dataloader import DataLoader
from tests.dataservice.faults.journal_checker import violations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

BATCH_SIZE = 4
LEAST_CREDITS = 2
MOST_CREDITS = 32
"""Requests that a data worker may hold, where nobody has fixed their number."""

Batch = tuple[list[int], list[float]]


class Noisy(Dataset[Any]):
    """Samples that tell which they are, with noise that tells where in the run they stand."""

    def __init__(self, num_samples: int, *, work_s: float = 0.0) -> None:
        self.num_samples = num_samples
        self.trainer = os.getpid()
        self.work_s = work_s
        """Stands for the work that a real transform needs; none in the trainer itself."""

    def __len__(self) -> int:
        return self.num_samples

    def is_in_data_worker(self) -> bool:
        return os.getpid() != self.trainer

    def __getitem__(self, index: int) -> tuple[int, torch.Tensor]:
        if self.work_s and self.is_in_data_worker():
            time.sleep(self.work_s)
        return index, torch.rand(3)


class Frozen(Noisy):
    """A data worker that comes to the given sample stops itself for good; once."""

    def __init__(self, num_samples: int, frozen: Path, *, sample: int) -> None:
        super().__init__(num_samples)
        self.frozen = frozen
        """Made by the one that stops."""
        self.sample = sample

    def __getitem__(self, index: int) -> tuple[int, torch.Tensor]:
        if index == self.sample and self.is_in_data_worker() and not self.frozen.exists():
            self.frozen.touch()
            signal.raise_signal(signal.SIGSTOP)
        return super().__getitem__(index)


def order_of(dataset: Noisy) -> list[int]:
    """Return the order in which the sampler gives the samples: any, but always the same."""
    order = list(range(len(dataset)))
    random.Random(7).shuffle(order)  # noqa: S311  an order, not a secret
    return order


def plain(batch: Any) -> Batch:
    """Return a batch as something that compares equal only if it is bit-identical."""
    return batch[0].tolist(), batch[1].flatten().tolist()


def undisturbed(dataset: Noisy, *, epochs: int = 1) -> list[Batch]:
    """Return the batches of a run that has no data workers to lose."""
    loader = DataLoader(dataset, BATCH_SIZE, sampler=order_of(dataset), seed=1)
    return [plain(batch) for _ in range(epochs) for batch in loader]


@dataclass
class Trial:
    """Iterates over a loader; ``judge`` says whether the promise was kept.

    Iterate over it for one epoch: it gives the number of each batch, after that batch came.
    """

    dataset: Noisy
    credit_bound: int
    loader: DataLoader[Any] = field(init=False)
    journal: list[Mapping[str, Any]] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    got: list[Batch] = field(default_factory=list)
    epochs: int = 0

    def __iter__(self) -> Iterator[int]:
        for number, batch in enumerate(self.loader):
            self.got.append(plain(batch))
            yield number
        self.epochs += 1

    def told(self, *words: str) -> bool:
        """Return whether one event speaks of all this."""
        return any(all(word in event for word in words) for event in self.events)

    def local_pids(self) -> list[int]:
        """Return the process ids of the trainer's own data workers."""
        client = self.loader._client
        return [] if client is None else client.local_pids

    def holders(self) -> set[tuple[str, int]]:
        """Return the data workers that were asked for anything."""
        return {
            (event["server"], event["data_worker"])
            for event in self.journal
            if event["what"] == "sent"
        }

    def count(self, what: str, server: str | None = None) -> int:
        """Return how many events of a kind the journal has."""
        return sum(
            event["what"] == what and server in {None, event.get("server")}
            for event in list(self.journal)
        )

    def num_lost(self) -> int:
        """Return how many requests were open when a connection ended."""
        return sum(len(event["numbers"]) for event in self.journal if event["what"] == "lost")

    def judge(self) -> None:
        """Check that every sample came once, in its place, with the bytes it should have."""
        self.loader.close()
        assert self.epochs > 0
        size = len(self.got) // self.epochs
        expected = undisturbed(self.dataset, epochs=self.epochs)
        for begin in range(0, len(expected), size):
            got, wanted = self.got[begin : begin + size], expected[begin : begin + size]
            assert sorted(sample for batch in got for sample in batch[0]) == list(
                range(len(self.dataset))
            )
            assert got == wanted if self.loader.in_order else sorted(got) == sorted(wanted)
        found = violations(
            self.journal, credit_bound=self.credit_bound, samples=order_of(self.dataset)
        )
        assert not found, "\n".join(found)
