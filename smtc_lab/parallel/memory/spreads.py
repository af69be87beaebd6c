"""Every way to spread a step over so many devices, with what the fullest of them holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from smtc_lab.metrics.memory.strategies import (
    StageParts,
    accumulating,
    in_replicas,
    in_shards,
    in_stages,
    in_tensor_parts,
    on_one_device,
)
from smtc_lab.parallel.memory.parts import stage_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from smtc_lab.metrics.memory.needs import Strategy, StrategyMemory
    from smtc_lab.metrics.memory.strategies import StepParts
    from smtc_lab.parallel.memory.sizes import StepSizes
    from smtc_lab.parallel.pipeline.cutting.pieces import Pieces


@dataclass(frozen=True, kw_only=True)
class Spread:
    """One way."""

    strategy: Strategy
    data: int = 1
    shard: int = 1
    pipeline: int = 1
    tensor: int = 1
    batch_size: int
    """Samples of a device at once; in a pipeline of a replica."""

    accumulations: int = 1
    microbatches: int | None = None
    peak_bytes: float
    stages: tuple[StageParts, ...] = ()
    """Of a pipeline."""


class Spreads:
    """All ways of one model, one optimizer and one batch of all devices together."""

    def __init__(
        self,
        sizes: StepSizes,
        pieces: Pieces,
        *,
        recorded: int,
        global_batch_size: int,
        kept_share: Callable[[int], float | None],
    ) -> None:
        """Look at nothing yet.

        Args:
            sizes: The step of one device.
            pieces: The model in a sequence.
            recorded: Samples with which it was recorded.
            global_batch_size: Samples of a step on all devices.
            kept_share: Returns the share of parameters that tensor parts leave a device, by
                their number; None: they cannot be.
        """
        self._sizes, self._pieces, self._recorded = sizes, pieces, recorded
        self._samples = global_batch_size
        self._kept = cache(kept_share)
        self._staged = cache(self._stages)
        self._largest = max(
            (one.numel() * one.element_size() for one in pieces.recording.parameters),
            default=0,
        )

    def over(self, instances: int, each: int, usable_bytes: float) -> Iterator[Spread]:
        """Yield each way over some instances; of those that differ in batches the largest.

        Where no batch fits, that with the smallest is yielded.

        Args:
            instances: Instances.
            each: Devices of each of them.
            usable_bytes: What a device can hold.
        """
        devices = instances * each
        if devices == 1:
            yield from self._whole("one device", 1, usable_bytes)
            return
        yield from self._whole("data", devices, usable_bytes)
        for group in {devices, each} - {1}:
            yield from self._whole("shard", devices, usable_bytes, shard=group)
            yield from self._pipeline(devices // group, group, usable_bytes)
        if each > 1 and self._kept(each) is not None:
            yield from self._whole("tensor", devices, usable_bytes, tensor=each)

    def _whole(
        self,
        strategy: Strategy,
        devices: int,
        usable_bytes: float,
        *,
        shard: int = 1,
        tensor: int = 1,
    ) -> Iterator[Spread]:
        """Yield a way in which each replica, or shard of one, has samples of its own."""
        share, rest = divmod(self._samples, devices // tensor)
        if rest or not share:
            return
        for batch_size in _divisors(share):
            parts = self._sizes.at(batch_size)
            if batch_size < share:
                parts = accumulating(parts, self._largest)
            ranks = {"shard": shard, "tensor": tensor}.get(strategy, devices)
            peak_bytes = self._memory(strategy, parts, ranks).peak_bytes
            if peak_bytes <= usable_bytes or batch_size == 1:
                yield Spread(
                    strategy=strategy,
                    data=devices // shard // tensor,
                    shard=shard,
                    tensor=tensor,
                    batch_size=batch_size,
                    accumulations=share // batch_size,
                    peak_bytes=peak_bytes,
                )
                return

    def _memory(self, strategy: Strategy, parts: StepParts, ranks: int) -> StrategyMemory:
        if strategy == "one device":
            return on_one_device(parts)
        if strategy == "data":
            return in_replicas(parts, ranks)
        if strategy == "shard":
            return in_shards(parts, ranks)
        share = self._kept(ranks)
        assert share is not None  # noqa: S101  else it is not looked at
        return in_tensor_parts(parts, ranks, share=share)

    def _pipeline(self, data: int, stages: int, usable_bytes: float) -> Iterator[Spread]:
        """Yield a pipeline with as few microbatches as fit, at least two for each stage."""
        share, rest = divmod(self._samples, data)
        if rest:
            return
        found = None
        for microbatches in _microbatches(share, stages):
            found = self._staged(data, stages, microbatches)
            if found is None or found.peak_bytes <= usable_bytes:
                break
        if found is not None:
            yield found

    def _stages(self, data: int, stages: int, microbatches: int) -> Spread | None:
        samples = self._samples // data
        parts = self._sizes.at(samples)
        cut = stage_parts(
            self._pieces,
            parts,
            stages,
            microbatches,
            microbatch=samples / microbatches / self._recorded,
        )
        if cut is None:
            return None
        return Spread(
            strategy="pipeline",
            data=data,
            pipeline=stages,
            batch_size=samples,
            microbatches=microbatches,
            peak_bytes=in_stages(parts, cut, microbatches).peak_bytes,
            stages=tuple(cut),
        )


def _divisors(number: int) -> list[int]:
    """Return the numbers that divide a number, the largest first."""
    small = [one for one in range(1, int(number**0.5) + 1) if number % one == 0]
    return sorted({*small, *(number // one for one in small)}, reverse=True)


def _microbatches(samples: int, stages: int) -> Sequence[int]:
    """Return in how many microbatches a replica's batch can go through so many stages."""
    possible = [one for one in reversed(_divisors(samples)) if one >= stages]
    return [one for one in possible if one >= 2 * stages] or possible[-1:]
