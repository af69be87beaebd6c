"""The batches of one rank: its part of each global batch, and equally many on every rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.utils.data import Sampler

from smtc_lab.errors import DataServiceError

if TYPE_CHECKING:
    from collections.abc import Iterator


class RankBatches(Sampler[list[int]]):
    """Divides one order of all samples among ranks, batch by batch.

    The ranks of a job draw the same order from seed and epoch. Batch t of all ranks together
    is what one process would take as batch t with ``num_ranks`` times the batch size. In an
    epoch each sample comes exactly once over all ranks. The last global batch is divided as
    evenly as it goes; where it has fewer samples than there are ranks, the one before gives
    some up, or takes them where it has one for each, so that no rank is without a sample.
    """

    def __init__(  # noqa: PLR0913  options by name
        self,
        num_samples: int,
        *,
        batch_size: int,
        rank: int,
        num_ranks: int,
        seed: int,
        shuffle: bool = False,
        drop_last: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        """Divide the samples.

        Args:
            num_samples: Samples of the dataset.
            batch_size: Samples of a batch of one rank, at least 1.
            rank: This rank.
            num_ranks: Ranks that share the samples.
            seed: Decides the order together with the epoch; the same on all ranks.
            shuffle: Whether the order is drawn anew in each epoch; else it is the dataset's.
            drop_last: Whether the samples that fill no global batch are left out.
            generator: Draws the order in place of the seed; the same on all ranks.

        Raises:
            DataServiceError: There are fewer samples than ranks.
        """
        if num_samples < num_ranks:
            raise DataServiceError(
                f"The dataset has {num_samples} samples for {num_ranks} trainers, so some "
                "would have none. Take fewer trainers, or more samples."
            )
        self.epoch = 0
        """Number of the next pass; counts by itself. Set it when training is resumed."""
        self._num_samples = num_samples
        self._rank = rank
        self._num_ranks = num_ranks
        self._seed = seed
        self._shuffle = shuffle
        self._generator = generator
        self._sizes = _global_sizes(
            num_samples, batch_size * num_ranks, num_ranks, drop_last=drop_last
        )

    @property
    def global_batch_size(self) -> int:
        """Samples of the first batch of all ranks together."""
        return self._sizes[0]

    def set_epoch(self, epoch: int) -> None:
        """Set the number of the next pass, as ``DistributedSampler`` has it."""
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self._sizes)

    def __iter__(self) -> Iterator[list[int]]:
        order = self._order()
        self.epoch += 1
        begin = 0
        for size in self._sizes:
            first = begin + _begin_of(self._rank, size, self._num_ranks)
            last = begin + _begin_of(self._rank + 1, size, self._num_ranks)
            yield order[first:last]
            begin += size

    def _order(self) -> list[int]:
        if not self._shuffle:
            return list(range(self._num_samples))
        generator = self._generator
        if generator is None:
            generator = torch.Generator()
            generator.manual_seed((self._seed + self.epoch) % 2**63)
        order: list[int] = torch.randperm(self._num_samples, generator=generator).tolist()
        return order


def _begin_of(rank: int, size: int, num_ranks: int) -> int:
    return size * rank // num_ranks


def _global_sizes(
    num_samples: int, batch_size: int, num_ranks: int, *, drop_last: bool
) -> list[int]:
    """Return the samples of each global batch."""
    full, rest = divmod(num_samples, batch_size)
    sizes = [batch_size] * full
    if not rest or drop_last:
        return sizes
    if rest < num_ranks and sizes:
        if batch_size == num_ranks:  # batches of one sample have none to give up
            return [*sizes[:-1], sizes[-1] + rest]
        sizes[-1] += rest - num_ranks
        rest = num_ranks
    return [*sizes, rest]
